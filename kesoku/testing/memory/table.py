"""Dict tables that can be rolled back."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kesoku.errors import StoreConflict, StoreReadOnly
from kesoku.messages.branch import Branch
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.lifecycle import Asked, Change, Delivery, Lease, Purpose, Session, Step, TurnFacts
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record

K = TypeVar("K")
V = TypeVar("V")


PATH = "memory"
"""What errors name as the database."""


def conflict(rule: str, what: str) -> StoreConflict:
    """The error of a write that breaks a rule of the tables."""
    return StoreConflict(path=PATH, reason=f"{rule} ({what})")


class Journal:
    """How to undo what the running transaction wrote."""

    def __init__(self) -> None:
        self.writing = False
        self._undo: list[Callable[[], None]] = []

    def note(self, undo: Callable[[], None]) -> None:
        """Remember one undo. Raises StoreReadOnly outside of a writing transaction."""
        if not self.writing:
            raise StoreReadOnly(path=PATH, reason="this transaction only reads")
        self._undo.append(undo)

    def commit(self) -> bool:
        """Keep everything; whether anything was written."""
        written = bool(self._undo)
        self._undo.clear()
        return written

    def rollback(self) -> None:
        """Undo everything, the latest first."""
        while self._undo:
            self._undo.pop()()


class Table(Generic[K, V]):
    """Rows by key, in order of insertion. Rows are frozen values: to undo a write is to put the old one back."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._rows: dict[K, V] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def __iter__(self) -> Iterator[K]:
        return iter(tuple(self._rows))

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: K) -> V | None:
        """The row, or None."""
        return self._rows.get(key)

    def values(self) -> tuple[V, ...]:
        """All rows."""
        return tuple(self._rows.values())

    def put(self, key: K, value: V) -> V:
        """Insert or replace a row."""
        if key in self._rows:
            old = self._rows[key]
            self._journal.note(lambda: self._rows.__setitem__(key, old))
        else:
            self._journal.note(lambda: self._rows.__delitem__(key))
        self._rows[key] = value
        return value

    def drop(self, key: K) -> None:
        """Delete a row; one that is not there is fine."""
        if key in self._rows:
            old = self._rows
            self._journal.note(lambda: self._restore(old))
            self._rows = {kept: value for kept, value in old.items() if kept != key}

    def _restore(self, rows: dict[K, V]) -> None:
        self._rows = rows


@dataclass
class Tables:
    """Everything that is stored."""

    journal: Journal = field(default_factory=Journal)

    def __post_init__(self) -> None:
        self.messages: Table[str, Record] = Table(self.journal)
        self.stored_at: Table[str, int] = Table(self.journal)
        self.queue: Table[str, int] = Table(self.journal)
        self.places: Table[tuple[str, int], str] = Table(self.journal)
        self.versions: Table[tuple[str, int], Message] = Table(self.journal)
        self.keys: Table[tuple[str, str], str] = Table(self.journal)
        self.events: Table[int, Change] = Table(self.journal)
        self.sessions: Table[str, Session] = Table(self.journal)
        self.bindings: Table[Address, str] = Table(self.journal)
        self.leases: Table[str, Lease] = Table(self.journal)
        self.deliveries: Table[tuple[str, Purpose, int], Delivery] = Table(self.journal)
        self.turns: Table[str, TurnFacts] = Table(self.journal)
        self.steps: Table[tuple[str, int], Step] = Table(self.journal)
        self.state: Table[tuple[str, str], Any] = Table(self.journal)
        self.questions: Table[str, Asked] = Table(self.journal)
        self.branches: Table[tuple[str, str], Branch] = Table(self.journal)
        self.branch: Table[str, str] = Table(self.journal)
        self.requests: Table[str, str] = Table(self.journal)
        self.hook_failures: Table[tuple[str, int], HookFailure] = Table(self.journal)
