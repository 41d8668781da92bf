"""The commands of the core: what people can ask for with a slash, the same on every platform."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from kesoku.adapter.command import EXCESS, Argument, Choice, CommandSpec, Invocation
from kesoku.commands.here import quoted
from kesoku.errors import CommandMisused, KesokuError

Run = Callable[[Invocation], Awaitable[str | None]]
Complete = Callable[[Invocation, str], Awaitable[Sequence[Choice]]]
"""(what is given so far, the name of the argument that is typed) -> what fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """One command: how platforms list it, and what it does. `run` returns the reply in Markdown."""

    spec: CommandSpec
    run: Run
    admin: bool = False
    """Whether only admins may give it."""
    complete: Complete | None = None
    """What fits as the arguments that say that they complete."""


def command(
    name: str,
    description: str,
    run: Run,
    *arguments: Argument,
    admin: bool = False,
    complete: Complete | None = None,
) -> SlashCommand:
    """One command."""
    spec = CommandSpec(name=name, description=description, arguments=arguments)
    return SlashCommand(spec=spec, run=run, admin=admin, complete=complete)


class Registry:
    """All commands by name; implements `CommandRegistry` of the adapter room."""

    def __init__(self, commands: Sequence[SlashCommand]) -> None:
        self._commands: Mapping[str, SlashCommand] = {each.spec.name: each for each in commands}

    def specs(self) -> Sequence[CommandSpec]:
        """Every command, in the order given."""
        return tuple(each.spec for each in self._commands.values())

    async def run(self, invocation: Invocation) -> str | None:
        """Do it, if this person may."""
        command = self._commands[invocation.name]
        if command.admin and not invocation.admin:
            return f"Only an admin of this bot may use /{invocation.name}."
        _check(command.spec, invocation)
        return await command.run(invocation)

    async def complete(self, invocation: Invocation, argument: str) -> Sequence[Choice]:
        """What fits behind what was typed so far, if this person may give the command at all."""
        command = self._commands.get(invocation.name)
        if command is None or command.complete is None or (command.admin and not invocation.admin):
            return ()
        if not any(each.completes and each.name == argument for each in command.spec.arguments):
            return ()
        try:
            return await command.complete(invocation, argument)
        except KesokuError:  # no conversation yet, say: then there is nothing to offer
            return ()


def usage(spec: CommandSpec) -> str:
    """How a command is given: `/pin MESSAGE`, `/clear [undo]`."""
    return " ".join([f"/{spec.name}", *map(_shown, spec.arguments)])


def _shown(argument: Argument) -> str:
    word = "|".join(argument.choices) or argument.name.upper()
    return word if argument.required else f"[{word}]"


def _check(spec: CommandSpec, invocation: Invocation) -> None:
    """Raises CommandMisused where a needed argument is missing, or is none of its choices, or nothing was asked for."""
    if excess := invocation.arguments.get(EXCESS):
        raise CommandMisused(usage=usage(spec), why=f"I know nothing to do with {quoted(str(excess))} here.")
    for each in spec.arguments:
        given = str(invocation.arguments.get(each.name) or "").strip()
        if not given and each.required:
            raise CommandMisused(usage=usage(spec), why=f"{each.name.upper()} is missing: {each.description}.")
        if given and each.choices and given not in each.choices:
            raise CommandMisused(
                usage=usage(spec), why=f"I know no {quoted(given)} here, only {', '.join(each.choices)}."
            )
