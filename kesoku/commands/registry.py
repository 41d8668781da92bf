"""The commands of the core: what people can ask for with a slash, the same on every platform."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from kesoku.adapter.command import CommandSpec, Invocation

Run = Callable[[Invocation], Awaitable[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """One command: how platforms list it, and what it does. `run` returns the reply in Markdown."""

    spec: CommandSpec
    run: Run
    admin: bool = False
    """Whether only admins may give it."""


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
        return await command.run(invocation)
