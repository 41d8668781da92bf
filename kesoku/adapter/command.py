"""Commands as the inbox sees them: what is asked for, and a registry that does it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kesoku.adapter.event import Principal
from kesoku.messages.record import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A command as platforms list it."""

    name: str
    description: str
    arguments: tuple[tuple[str, str], ...] = ()
    """(name, description) of each argument, in order; the last one takes the rest of the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """Someone gave a command. `arguments` are typed where the platform parsed them, `text` is the rest of a line.

    `admin` says whether the person is an admin here; `catch_up` that it was given while the bot was down.
    """

    name: str
    address: Address
    principal: Principal
    arguments: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    admin: bool = False
    catch_up: bool = False


class CommandRegistry(Protocol):
    """What people can ask for with a slash, on every platform."""

    def specs(self) -> Sequence[CommandSpec]:
        """Every command."""
        ...

    async def run(self, invocation: Invocation) -> str | None:
        """Do it and return the reply in Markdown, or None if there is nothing to say.

        The name is one of `specs`. Raises KesokuError: its text is the reply.
        """
        ...


class NoCommands:
    """A registry without commands."""

    def specs(self) -> Sequence[CommandSpec]:
        """None."""
        return ()

    async def run(self, invocation: Invocation) -> str | None:
        """Never called."""
        raise LookupError(invocation.name)
