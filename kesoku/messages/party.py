"""Who a message is from and for, as one tagged value (decision R-2).

A name is not an address: of the five recipients only `Direct` and `Broadcast` route, and `Named` through the address
book. Every party still compares equal to the plain value that it was made from, so code written against the documents
reads the same: `message.recipient == None`, `message.sender == "alice"`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kesoku.errors import InvalidParty
from kesoku.messages.enums import MessageRole


@dataclass(frozen=True, slots=True, eq=False)
class Party(ABC):
    """One side of a message. Use the subclasses."""

    @abstractmethod
    def plain(self) -> Any:
        """The value that this party was made from."""

    def to_json(self) -> str | None:
        """The text form: null, 'unset', a role, a UUID, or a name."""
        value = self.plain()
        return None if value is None else str(value)

    def __eq__(self, other: object) -> bool:
        mine = self.plain()
        theirs = other.plain() if isinstance(other, Party) else other
        return bool(mine == theirs)

    def __hash__(self) -> int:
        return hash(self.plain())


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast(Party):
    """Everyone but the sender; as a sender, nobody."""

    def plain(self) -> None:
        """None."""
        return


@dataclass(frozen=True, slots=True, eq=False)
class Direct(Party):
    """The owner of a mailbox."""

    id: UUID

    def plain(self) -> UUID:
        """The UUID."""
        return self.id


@dataclass(frozen=True, slots=True, eq=False)
class ToRole(Party):
    """A conversational label; nothing is routed by it."""

    role: MessageRole

    def plain(self) -> MessageRole:
        """The role."""
        return self.role


@dataclass(frozen=True, slots=True, eq=False)
class Named(Party):
    """A name that the address book may know."""

    name: str

    def plain(self) -> str:
        """The name."""
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Unaddressed(Party):
    """Nothing was said about this side."""

    def plain(self) -> MessageRole:
        """The unset role."""
        return MessageRole.UNSET


UNADDRESSED = Unaddressed()
BROADCAST = Broadcast()
_ROLES: dict[str, Party] = {
    **{role.value: ToRole(role) for role in MessageRole},
    "action": ToRole(MessageRole.TOOL),
    MessageRole.UNSET.value: UNADDRESSED,
}


def party(value: Any) -> Party:
    """Normalise a sender or recipient (L-011..L-018): role, UUID, object with a UUID id, text, or None.

    Raises:
        InvalidParty: an empty string, an object whose id is no UUID, or any other type.
    """
    if value is UNADDRESSED or (type(value) is Direct and type(value.id) is UUID):
        return value
    if value is None:
        return BROADCAST
    if isinstance(value, str):
        return _ROLES.get(value) or _from_text(value)
    if isinstance(value, Party):  # one that somebody made by hand may be called like a role, or be written like a UUID
        return party(value.plain())
    if isinstance(value, UUID):
        return Direct(value)
    identity = _uuid(getattr(value, "id", None))
    if identity is None:
        raise InvalidParty(value=value)
    return Direct(identity)


def _from_text(value: str) -> Party:
    if not value:
        raise InvalidParty(value=value)
    identity = _uuid(value)
    return Named(value) if identity is None else Direct(identity)


def _uuid(value: Any) -> UUID | None:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value) if isinstance(value, str) and len(value) in {32, 36} else None
    except ValueError:
        return None
