"""The store as one transaction sees it: one repository a noun, and the unit of work over them.

Operations are plain functions of a `Transaction`. They may be run twice (a group that fails is redone one by one), so
they change nothing outside of it. Times are integer microseconds since 1970.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, TypeVar

from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import (
    Change,
    Expense,
    Fence,
    Lease,
    Load,
    Serving,
    Session,
    Step,
    TurnFacts,
)
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.ports.archive import Archive
from kesoku.ports.branch import BranchStore, RequestStore
from kesoku.ports.hook import HookStore
from kesoku.ports.ledger import DeliveryStore, QuestionStore, StateStore
from kesoku.ports.mail import MailStore

T = TypeVar("T")


class MessageStore(Protocol):
    """Messages: identity, placement, status, current body, earlier bodies. Every change writes its event."""

    def insert(
        self, post: Post, *, session_id: str, at: int, superseded_turn: str | None = None, actor: str = ""
    ) -> Record:
        """Store a message with its first status and its keys. `actor` is who brought it in, if not itself.

        A known id with the same value returns the stored record (C-45). Raises DuplicateMessage: known id, other value.
        """
        ...

    def get(self, message_id: str) -> Record | None:
        """The record, or None."""
        ...

    def find(self, chatbot_id: str, keys: Collection[str]) -> Record | None:
        """The record that any of these platform ids belongs to (N-07)."""
        ...

    def add_keys(self, chatbot_id: str, keys: Collection[str], message_id: str) -> None:
        """Bind platform ids to a message; a key that is bound already stays where it is."""
        ...

    def rewrite(self, message: Message, *, actor: str, at: int) -> Record:
        """Store the next version under the same id; the earlier body is kept (D-026).

        Raises VersionConflict: `message.version` is not the stored one plus 1. UnknownMessage: no such id.
        """
        ...

    def nth(self, session_id: str, n: int) -> Record | None:
        """The record at a place of a session (`session_n`)."""
        ...

    def supersede(self, message_id: str, *, by: str) -> None:
        """Mark a result that a later one replaces (C-03)."""
        ...

    def move(
        self,
        message_id: str,
        to: MessageStatus,
        expected: Collection[MessageStatus],
        *,
        actor: str,
        reason: str,
        at: int,
    ) -> Record | None:
        """Compare-and-set of the status; None if the row is not in one of `expected`. The only writer of a status."""
        ...

    def place(self, message_id: str, *, turn_id: str, round: int) -> Record:  # noqa: A002
        """Put a prompt into a running turn (C-42). Writes no event; the move that goes with it does."""
        ...

    def session(self, session_id: str, *, after_n: int = 0, limit: int | None = None) -> list[Record]:
        """Records of a session in order of session_n, everything in full (K-171)."""
        ...

    def past(self, session_id: str, *, after_n: int, limit: int) -> tuple[Record, ...]:
        """What `session` gives, for whom asks again and again: mostly out of memory, and the same values as long as
        nothing in them changed. What others wrote to the database is in it from this process's next write on."""
        ...

    def tail(self, session_id: str, limit: int) -> list[Record]:
        """The last records of a session, oldest first."""
        ...

    def turn(self, turn_id: str) -> list[Record]:
        """All records of one turn in order of seq, the prompt included."""
        ...

    def open_calls(self, session_id: str) -> list[Record]:
        """Tool calls of a session that have no result (K-169)."""
        ...

    def queued(self, session_id: str) -> list[Record]:
        """Prompts of a session in pending_agent, oldest first."""
        ...

    def replacing(self, session_id: str) -> list[Record]:
        """Queued prompts that took the place of a turn: those with `superseded_turn`, oldest first."""
        ...

    def riders(self, session_id: str) -> list[Record]:
        """Queued prompts that ask for no turn of their own: those in mode steer or inject, oldest first (C-42)."""
        ...

    def waiting(self, serving: Serving) -> list[Record]:
        """Outgoing records that an outbox still has to handle, by seq: pending ones, and thoughts, calls and results
        that nobody has marked delivered yet (K-130), of ended turns too."""
        ...

    def last_said(self, address: Address, *, before: int | None = None) -> Record | None:
        """The last prompt of a person in a channel, whatever the session, that was stored ahead of a seq; None where
        nobody spoke."""
        ...

    def load(self, address: Address, author_id: str | None, *, since: int, until: int, most: int) -> Load:
        """What is queued, and what a channel and a person stored from `since` to `until`; each counted up to `most`.

        A prompt is what starts in pending_agent. The time is that of its insertion, not of its creation. The cost
        grows with `most`, and neither with the queue nor with the past.
        """
        ...


class SessionStore(Protocol):
    """Conversations and the channels bound to them."""

    def get(self, session_id: str) -> Session | None:
        """The session, or None."""
        ...

    def bound(self, address: Address) -> Session | None:
        """The session that a channel is bound to, ended ones included."""
        ...

    def create(self, *, session_id: str | None = None, title: str = "", at: int) -> Session:
        """A new session; the id is minted unless one is given."""
        ...

    def bind(self, address: Address, session_id: str) -> None:
        """Bind a channel to a session, in place of an earlier one."""
        ...

    def end(self, session_id: str, *, at: int) -> None:
        """End a session. Its queued prompts go to error when a worker meets them."""
        ...

    def channels(self) -> list[tuple[Address, Session]]:
        """Every channel that is bound to a session which was not ended, by name."""
        ...

    def recent(self, limit: int) -> list[tuple[Session, Address | None]]:
        """Sessions with the channel bound to each, the latest used first."""
        ...


class LeaseStore(Protocol):
    """The running turn of each session. The row is never deleted; generation only grows (store rule 3 and 4)."""

    def get(self, session_id: str) -> Lease | None:
        """The session's lease row, or None if nothing ever ran in it."""
        ...

    def next(self, serving: Serving) -> Record | None:
        """The oldest queued prompt among the served addresses whose session is free.

        Prompts in mode inject wake nobody: they are passed over (D-X02).
        """
        ...

    def take(self, prompt: Record, *, owner: str, at: int, until: int) -> Fence:
        """Lease the session for this prompt with the next generation."""
        ...

    def check(self, fence: Fence) -> Lease:
        """The lease of a fence. Raises Deposed unless it still has this owner and generation."""
        ...

    def renew(self, owner: str, *, until: int) -> list[Fence]:
        """Extend every lease of this owner; returns those that it still holds."""
        ...

    def release(self, fence: Fence) -> None:
        """Give the session back. Nothing happens if the fence is no longer valid."""
        ...

    def depose(self, session_id: str, *, failed: bool) -> Lease:
        """End whatever runs: generation + 1, no owner; `failed` charges its turn, once opened, with one more crash."""
        ...

    def held(self) -> list[Lease]:
        """Leases with an owner."""
        ...

    def worst(self, owner: str) -> int | None:
        """The most crashes that a turn which this owner runs has behind it; None if it runs none."""
        ...

    def stranded(self, *, before: int) -> list[Record]:
        """Rows in processing without an owner in leases, whose last move to processing is strictly older (K-163)."""
        ...


class EventLog(Protocol):
    """The log that listeners, hooks and audits read."""

    def head(self) -> int:
        """The newest seq, 0 for an empty log."""
        ...

    def after(self, cursor: int, limit: int) -> list[Change]:
        """Changes behind the cursor, in order, each with its record as it stands now."""
        ...

    def of(self, message_id: str) -> list[Change]:
        """Everything that happened to one message."""
        ...


class StepStore(Protocol):
    """Turns and their model steps."""

    def open(self, turn_id: str, prompt_ids: Sequence[str]) -> TurnFacts:
        """Note a turn; opening it again adds prompt ids that are new."""
        ...

    def turn(self, turn_id: str) -> TurnFacts | None:
        """The facts of a turn."""
        ...

    def add(self, step: Step) -> None:
        """Store a step; the same one again changes nothing. StoreConflict: another one has its (turn_id, n)."""
        ...

    def of(self, turn_id: str) -> list[Step]:
        """The steps of a turn, in order."""
        ...

    def set_metrics(self, turn_id: str, metrics: dict[str, Any]) -> None:
        """Store the metrics of a finished turn."""
        ...

    def count(self, session_id: str) -> int:
        """How many turns of a session have metrics (`session_turns`)."""
        ...

    def spent(self, since: int) -> int:
        """The cost in nanodollars of all steps of the database that were stored at `since` or later."""
        ...

    def expense(self, session_id: str) -> Expense:
        """What all turns of a session used so far, running and interrupted ones included."""
        ...


class Transaction(Protocol):
    """One unit of work over all repositories."""

    @property
    def messages(self) -> MessageStore:
        """Messages."""
        ...

    @property
    def sessions(self) -> SessionStore:
        """Sessions and bindings."""
        ...

    @property
    def leases(self) -> LeaseStore:
        """Running turns."""
        ...

    @property
    def deliveries(self) -> DeliveryStore:
        """The ledger."""
        ...

    @property
    def events(self) -> EventLog:
        """The log."""
        ...

    @property
    def steps(self) -> StepStore:
        """Turns and steps."""
        ...

    @property
    def state(self) -> StateStore:
        """Small values."""
        ...

    @property
    def questions(self) -> QuestionStore:
        """Open questions."""
        ...

    @property
    def archive(self) -> Archive:
        """What messages said before."""
        ...

    @property
    def branches(self) -> BranchStore:
        """What the model reads."""
        ...

    @property
    def requests(self) -> RequestStore:
        """What requests have in common."""
        ...

    @property
    def mail(self) -> MailStore:
        """Mailboxes."""
        ...

    @property
    def hooks(self) -> HookStore:
        """What event hooks could not deliver."""
        ...


class Store(Protocol):
    """A database. Operations are functions of one transaction; see the module's text."""

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """Run and commit; on return it is durable. An exception of the operation rolls back and is raised here.

        Raises StoreError leaves: locked, full, read-only, corrupt. Waits while too many writes are in flight.
        A caller that is cancelled does not take its operation back: it may still commit.
        """
        ...

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        """Run on a snapshot; writing raises."""
        ...

    async def scrub(self) -> None:
        """Leave nothing in the files of the database but what is stored: nothing that was overwritten or deleted.

        It takes as long as to copy the whole, and as much room. Raises StoreLocked: somebody still reads what was
        there before; and other StoreError leaves.
        """
        ...

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back on the loop after commits of this or another process, often once for several. Returns the undo."""
        ...

    async def aclose(self) -> None:
        """Finish what is waiting, checkpoint, close."""
        ...
