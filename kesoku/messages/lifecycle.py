"""Values that stand beside messages: changes, leases, deliveries, steps, questions.

Times are integer microseconds since 1970.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from kesoku.messages.branch import Branch
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import Usage


class ChangeKind(StrEnum):
    """What happened to a message."""

    INSERTED = "inserted"
    """It was stored."""
    MOVED = "moved"
    """Its status changed."""
    REPLACED = "replaced"
    """It has a next version."""


IMPORTER = "import"
"""The actor of what was read from a file: it happened long ago and elsewhere, and nobody is told of it now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of the event log, with the record as it stands when it is read. `seq` is the listeners' cursor."""

    seq: int
    at: int
    kind: ChangeKind
    record: Record
    before: MessageStatus | None = None
    after: MessageStatus | None = None
    actor: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation. `ended_at` set means that nothing runs in it any more (K-146)."""

    id: str
    owner: str
    title: str = ""
    created_at: int = 0
    ended_at: int | None = None
    last_n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What admission weighs. `total` is exact, the other numbers are counted up to a bound and no further."""

    here: int
    """Queued prompts of the channel."""
    total: int
    """Queued prompts of the whole bot."""
    spoken: int
    """Prompts of the channel that were stored lately."""
    said: int
    """Prompts of the person that were stored lately; 0 for nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The right to write for a turn: valid while the lease still has this owner and generation (N-06)."""

    session_id: str
    owner: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The running turn of a session. Free when `owner` is None; `generation` only grows."""

    session_id: str
    message_id: str | None
    owner: str | None
    generation: int
    failures: int = 0
    """The crashes that its turn is charged with."""
    claimed_at: int = 0
    until: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A prompt that this process may now run."""

    prompt: Record
    fence: Fence
    is_new: bool = False
    """Whether the prompt was all that there was of its turn: nothing needs to be read to begin with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """What an interruption ended, the prompts that it withdrew from the queue, and the one that took its place."""

    session_id: str
    interrupted: tuple[Record, ...]
    withdrawn: tuple[Record, ...] = ()
    posted: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The branch that a session goes on with, what was stopped for it, and the prompts that go on."""

    branch: Branch
    interrupted: tuple[Record, ...]
    posted: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What a process serves: channels, and bots as a whole (`Address.whole`)."""

    addresses: frozenset[Address]

    def covers(self, address: Address) -> bool:
        """Whether this process works for `address`."""
        return not self.addresses.isdisjoint({address, address.whole})


class DeliveryState(StrEnum):
    """Where one part of an outgoing message stands (decision R-4)."""

    PLANNED = "planned"
    """Rendered and stored, not sent."""
    SENDING = "sending"
    """Handed to the platform; the outcome is not known yet."""
    SENT = "sent"
    """The platform returned an id for it."""
    AMBIGUOUS = "ambiguous"
    """It may or may not be there (N-02)."""
    REFUSED = "refused"
    """The platform does not take it, for good (N-01)."""
    HELD = "held"
    """Waits: for the person's next message, for a time, or because it is too old."""


DELIVERY_TRANSITIONS: dict[DeliveryState, frozenset[DeliveryState]] = {
    DeliveryState.PLANNED: frozenset({DeliveryState.SENDING, DeliveryState.HELD, DeliveryState.REFUSED}),
    DeliveryState.SENDING: frozenset(
        {
            DeliveryState.SENT,
            DeliveryState.AMBIGUOUS,
            DeliveryState.REFUSED,
            DeliveryState.HELD,
            DeliveryState.PLANNED,
        }
    ),
    DeliveryState.AMBIGUOUS: frozenset({DeliveryState.SENDING, DeliveryState.SENT, DeliveryState.REFUSED}),
    DeliveryState.HELD: frozenset({DeliveryState.SENDING, DeliveryState.PLANNED, DeliveryState.REFUSED}),
    DeliveryState.SENT: frozenset(),
    DeliveryState.REFUSED: frozenset(),
}
"""What may follow what; back to planned is for a retry after a failure that surely sent nothing."""


class Purpose(StrEnum):
    """Why a delivery row exists."""

    FINAL = "final"
    """A part of a message."""
    LIVE = "live"
    """The live status of a turn, edited in place (N-18); `message_id` is the turn's prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One part of an outgoing message in the ledger. `body` is the exact JSON form of what is sent."""

    message_id: str
    part: int
    address: Address
    purpose: Purpose = Purpose.FINAL
    body: str
    hash: str
    send_key: str
    state: DeliveryState = DeliveryState.PLANNED
    attempts: int = 0
    first_sent_at: int | None = None
    next_attempt_at: int | None = None
    platform_ids: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a model was sent and said in one step of a turn: message ids with versions, never the history again.

    `request` = {"sources": [[id, version], ...], "digest": hex, ...}, where the sources may go on from those of an
    earlier step (history/sources.py restores them). `reply` is the codec form of the Reply's blocks, signatures
    included, which the active turn uses verbatim (N-09). `model` is the configured name of the one that answered,
    `cost` what it cost in nanodollars, None where no price was known.
    """

    turn_id: str
    n: int
    request: FrozenDict
    reply: FrozenDict
    usage: Usage = field(default_factory=Usage)
    at: int = 0
    model: str = ""
    cost: int | None = None
    common: FrozenDict = field(default=EMPTY, compare=False)
    """What its request has in common with others, on the way into the store; empty if it is there already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expense:
    """What several steps used. `cost` is in nanodollars and leaves out steps without one; None if none has one."""

    usage: Usage = field(default_factory=Usage)
    cost: int | None = None

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Self:
        """The sum of some steps."""
        found = tuple(steps)
        costs = [step.cost for step in found if step.cost is not None]
        return cls(usage=sum((step.usage for step in found), Usage()), cost=sum(costs) if costs else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """Facts about one turn: the prompts that it answers, its metrics, the crashes that it is charged with. No state."""

    turn_id: str
    prompt_ids: tuple[str, ...]
    metrics: FrozenDict = EMPTY
    failures: int = 0


YES, NO, ALWAYS = "yes", "no", "always"
"""What a person may say to a call of a tool. `always` is remembered, for this tool in this session."""
GRANTS = frozenset({YES, ALWAYS})
"""The answers that let a call run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A durable question: who may answer, and how it was answered. `purpose` says what the answer is for."""

    question: Question
    turn_id: str
    address: Address
    purpose: FrozenDict
    who: tuple[str, ...] = ()
    answer: str | None = None
    answered_by: str | None = None
    answered_at: int | None = None

    @property
    def is_granted(self) -> bool:
        """Whether the call that it is about may run; until then it surely did not begin."""
        return self.answer in GRANTS
