"""A cache of the records of sessions, so that a turn reads only what is new; safe in any thread.

Of each session it holds what was read last, up to the first row that has changed since. Whoever commits says which
rows change, once before and once after the commit; a reader says how many commits it knew of when it began. So nothing
gets in that a commit has overtaken, and nobody gets what is newer than their snapshot.
"""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock

from kesoku.messages.record import Record

Touched = Mapping[str, int]
"""Session id -> the session_n of its first row that changes."""

_SESSIONS = 1024
"""How many sessions have their latest commit remembered."""
_ROOM = 16 * 1024 * 1024
"""Bytes of all records together."""
_RECORD = 1500
"""Bytes that a record takes beside its content."""
_place = attrgetter("session_n")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Span:
    """Records of a session by place (`session_n`) without a gap, all behind `behind`; `sizes` is the bytes of each."""

    behind: int
    records: tuple[Record, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The place of the last one."""
        return self.records[-1].session_n if self.records else self.behind

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(self.sizes)

    def later(self, behind: int) -> "Span":
        """Those behind a later place."""
        first = bisect_right(self.records, behind, key=_place)
        return Span(behind=behind, records=self.records[first:], sizes=self.sizes[first:])

    def before(self, n: int) -> "Span":
        """Those before a place."""
        end = bisect_left(self.records, n, key=_place)
        return Span(behind=self.behind, records=self.records[:end], sizes=self.sizes[:end])


class RecordCache:
    """The span of each session, the one longest unused first; that one goes first when there is no room."""

    def __init__(self, *, room: int = _ROOM) -> None:
        self._lock, self._room = Lock(), room
        self._kept: OrderedDict[str, Span] = OrderedDict()
        self._touched: OrderedDict[str, int] = OrderedDict()
        self._doubtful: Touched = {}
        self._floor = 0
        self.commits = 0
        """How many commits it was told of; `since` below is this number when the reader's snapshot began."""

    @contextmanager
    def changing(self, touched: Touched) -> Iterator[None]:
        """Around a commit that changes these rows."""
        self._change(touched, doubtful=touched)
        try:
            yield
        finally:
            self._change(touched, doubtful={})

    def _change(self, touched: Touched, *, doubtful: Touched) -> None:
        with self._lock:
            self.commits += 1
            self._doubtful = doubtful
            for session_id, n in touched.items():
                self._touched[session_id] = self.commits
                self._touched.move_to_end(session_id)
                if (kept := self._kept.get(session_id)) is not None and n <= kept.end:
                    self._replace(session_id, kept.before(n))
            while len(self._touched) > _SESSIONS:
                self._floor = self._touched.popitem(last=False)[1]

    def clear(self) -> None:
        """Drop everything, because somebody else has written to the file."""
        with self._lock:
            self.commits += 1
            self._floor = self.commits
            self._room += sum(each.size for each in self._kept.values())
            self._kept.clear()

    def get(self, session_id: str, behind: int, since: int) -> Span:
        """What is known of a session behind a place; empty if it may be newer than the reader's snapshot."""
        with self._lock:
            kept = self._kept.get(session_id)
            if kept is None or kept.behind > behind or self._last(session_id) > since:
                return Span(behind=behind)
            return kept.later(behind)

    def put(self, session_id: str, span: Span, since: int) -> bool:
        """Keep what was read of a session; False if a commit has changed it since, or is about to."""
        with self._lock:
            if self._last(session_id) > since or session_id in self._doubtful:
                return False
            self._replace(session_id, span)
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1].size
            return True

    def _last(self, session_id: str) -> int:
        """The number of the latest commit that may have changed a session."""
        return max(self._touched.get(session_id, 0), self._floor)

    def _replace(self, session_id: str, span: Span) -> None:
        if (old := self._kept.pop(session_id, None)) is not None:
            self._room += old.size
        self._kept[session_id] = span
        self._room -= span.size


def size_of(content: str | bytes) -> int:
    """Bytes that a record takes, from the content of its row."""
    return _RECORD + len(content)
