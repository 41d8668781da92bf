"""Values of mail: mailboxes, what waits in an outbox, dead letters, and what routing did (C-24, C-25, R-3).

Times are integer microseconds since 1970. Owners of mailboxes are UUIDs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from kesoku.messages.message import Message

OUTBOX = "outbox"
"""The progression of what an owner has sent and nobody has routed yet."""


def inbox_of(sender: UUID) -> str:
    """The name of the progression that holds what one sender sent."""
    return f"inbox_{sender}"


class DeadReason(StrEnum):
    """Why a letter reached nobody."""

    NO_SUCH_OWNER = "no_such_owner"
    """Nobody has ever had a mailbox under this UUID."""
    UNADDRESSED = "unaddressed"
    """It names no recipient."""
    NOT_AN_ADDRESS = "not_an_address"
    """A role, or a name that the address book does not know."""
    LEFT_BEFORE_DELIVERY = "left_before_delivery"
    """The recipient gave its mailbox up."""
    SENDER_LEFT = "sender_left"
    """The sender gave its mailbox up while this lay in the outbox."""
    NO_RECEIVERS = "no_receivers"
    """A broadcast, and the sender was alone."""
    DELIVERY_ERROR = "delivery_error"
    """The mailbox refused it too many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """Who can be written to. That of a session names it."""

    owner: UUID
    session_id: str | None = None
    capacity: int | None = None
    """The letters that it holds at most; a full one refuses. None: any number."""
    at: int = 0
    left_at: int | None = None
    """When the owner gave it up; nothing can be delivered there any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The mail of one owner as it was when somebody looked: ids in order, and the messages that they name."""

    owner: UUID
    progressions: Mapping[str, tuple[str, ...]]
    """`outbox`, and `inbox_<uuid>` for each sender whose mail lies here."""
    messages: Mapping[str, Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One line of an outbox. `target` is the one recipient that is left of several, or that somebody chose instead of
    the message's own; None means the message's own."""

    number: int
    """Grows from letter to letter."""
    message: Message
    sender: UUID
    target: UUID | None = None
    attempts: int = 0
    """How many deliveries have failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A letter that reached nobody, and why."""

    letter: Letter
    reason: DeadReason
    error: str = ""
    """What the mailbox said, where it refused."""
    at: int = 0

    @property
    def id(self) -> str:
        """The message's id."""
        return self.letter.message.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What routing did. An id may stand in it several times: once for each recipient."""

    delivered: tuple[tuple[str, UUID], ...] = ()
    dead: tuple[tuple[str, DeadReason], ...] = ()
    failed: tuple[tuple[str, UUID, str], ...] = ()
    """What stays queued, for whom, and why it was refused this time."""

    @property
    def count(self) -> int:
        """How many messages at least one recipient got."""
        return len({id_ for id_, _ in self.delivered})

    def __add__(self, other: "Report") -> "Report":
        return Report(
            delivered=self.delivered + other.delivered,
            dead=self.dead + other.dead,
            failed=self.failed + other.failed,
        )
