"""Commands as the inbox sees them: what is asked for, and a registry that does it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from kesoku.adapter.event import Command, Principal
from kesoku.messages.content import Attachment
from kesoku.messages.record import Address

EXCESS = ""
"""The name under which an invocation has what a person typed behind a command that takes no arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Something that a command can be told."""

    name: str
    description: str
    choices: tuple[str, ...] = ()
    """What platforms offer to choose from; empty: any text."""
    required: bool = False
    completes: bool = False
    """Whether `Inbox.complete` has something to offer while it is typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Something that fits as an argument: what people read, and what the command is given."""

    label: str
    """One line of at most 100 characters."""
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A command as platforms list it."""

    name: str
    description: str
    arguments: tuple[Argument, ...] = ()
    """In order; on platforms where people type a line, the last one takes the rest of it."""

    def read(self, line: str) -> dict[str, str]:
        """The arguments in what a person typed behind the name of the command; `EXCESS` if it takes none."""
        if not self.arguments:
            return {EXCESS: excess} if (excess := line.strip()) else {}
        words = line.split(maxsplit=max(0, len(self.arguments) - 1))
        return {each.name: word.strip() for each, word in zip(self.arguments, words, strict=False)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """Someone gave a command; `arguments` by the names in its spec, those left out are missing.

    `admin` says whether the person is an admin here; `catch_up` that it was given while the bot was down. `keys` are
    the platform's ids of it: what is stored with them is stored once.
    """

    name: str
    address: Address
    principal: Principal
    arguments: Mapping[str, Any] = field(default_factory=dict)
    admin: bool = False
    catch_up: bool = False
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, event: Command) -> Self:
        """What a command of a platform asks for; who may what is not decided yet."""
        return cls(name=event.name, address=event.address, principal=event.principal, arguments=event.arguments)


class FiledReply(str):
    """What a command says, in Markdown, with files that go along."""

    __slots__ = ("files",)
    files: tuple[Attachment, ...]

    def __new__(cls, text: str, files: Iterable[Attachment]) -> Self:
        """A text with files."""
        made = super().__new__(cls, text)
        made.files = tuple(files)
        return made


class CommandRegistry(Protocol):
    """What people can ask for with a slash, on every platform."""

    def specs(self) -> Sequence[CommandSpec]:
        """Every command."""
        ...

    async def run(self, invocation: Invocation) -> str | None:
        """Do it and return the reply in Markdown, a `FiledReply` if files go along, or None if there is nothing to say.

        The name is one of `specs`. Raises KesokuError: its text is the reply.
        """
        ...

    async def complete(self, invocation: Invocation, argument: str) -> Sequence[Choice]:
        """What fits behind what was typed so far in an argument, the likeliest first; nothing for a name not known."""
        ...


class NoCommands:
    """A registry without commands."""

    def specs(self) -> Sequence[CommandSpec]:
        """None."""
        return ()

    async def run(self, invocation: Invocation) -> str | None:
        """Never called."""
        raise LookupError(invocation.name)

    async def complete(self, invocation: Invocation, argument: str) -> Sequence[Choice]:
        """Nothing."""
        return ()
