"""The past of sessions as this process has read it, so that a turn reads only what is new (any thread may ask).

Kept is the beginning of what was read of a session, up to the first row that has changed since. Whoever commits says
which rows change, once before and once after the commit; a reader says how many commits it knew of when it began. So
nothing is kept that a commit has overtaken, and nothing is taken that is newer than the reader's snapshot.
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
"""Sessions of which the latest commit is known."""
_ROOM = 16 * 1024 * 1024
_RECORD = 1500
"""Bytes of a record beside its content."""
_place = attrgetter("session_n")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretch:
    """Records of a session without a gap, those behind the place `behind`, and the bytes that each of them takes."""

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

    def later(self, behind: int) -> "Stretch":
        """Those behind a later place."""
        first = bisect_right(self.records, behind, key=_place)
        return Stretch(behind=behind, records=self.records[first:], sizes=self.sizes[first:])

    def before(self, n: int) -> "Stretch":
        """Those before a place."""
        end = bisect_left(self.records, n, key=_place)
        return Stretch(behind=self.behind, records=self.records[:end], sizes=self.sizes[:end])


class Pasts:
    """What is kept, the longest unused first."""

    def __init__(self, *, room: int = _ROOM) -> None:
        self._lock, self._room = Lock(), room
        self._kept: OrderedDict[str, Stretch] = OrderedDict()
        self._touched: OrderedDict[str, int] = OrderedDict()
        self._doubtful: Touched = {}
        self._floor = 0
        self.now = 0
        """How many commits are known."""

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
            self.now += 1
            self._doubtful = doubtful
            for session_id, n in touched.items():
                self._touched[session_id] = self.now
                self._touched.move_to_end(session_id)
                if (kept := self._kept.get(session_id)) is not None and n <= kept.end:
                    self._replace(session_id, kept.before(n))
            while len(self._touched) > _SESSIONS:
                self._floor = self._touched.popitem(last=False)[1]

    def forget(self) -> None:
        """Somebody else has written to the file: nothing is known."""
        with self._lock:
            self.now += 1
            self._floor = self.now
            self._room += sum(each.size for each in self._kept.values())
            self._kept.clear()

    def take(self, session_id: str, behind: int, since: int) -> Stretch:
        """What is kept of a session behind a place, for a reader that began at `since`; nothing for one that cannot
        use it."""
        with self._lock:
            kept = self._kept.get(session_id)
            if kept is None or kept.behind > behind or self._last(session_id) > since:
                return Stretch(behind=behind)
            return kept.later(behind)

    def keep(self, session_id: str, stretch: Stretch, since: int) -> bool:
        """Keep what a reader has read that began at `since`; False if a commit came between, which it may have seen."""
        with self._lock:
            if self._last(session_id) > since or session_id in self._doubtful:
                return False
            self._replace(session_id, stretch)
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1].size
            return True

    def _last(self, session_id: str) -> int:
        """The latest commit that may have changed a session."""
        return max(self._touched.get(session_id, 0), self._floor)

    def _replace(self, session_id: str, stretch: Stretch) -> None:
        if (old := self._kept.pop(session_id, None)) is not None:
            self._room += old.size
        self._kept[session_id] = stretch
        self._room -= stretch.size


def size_of(content: str | bytes) -> int:
    """Bytes that a record takes, by the content of its row."""
    return _RECORD + len(content)
