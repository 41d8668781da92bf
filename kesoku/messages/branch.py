"""What the model reads of a session: stretches of its records, less what was forgotten, and turns that are kept.

The records themselves stay where they are; whoever clears a conversation, edits a prompt or goes back to an earlier
try selects other stretches of them (C-16, R-6). A stretch names places in the session (`session_n`), never ids, so a
branch does not grow with what is said on it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kesoku.messages.freeze import EMPTY, FrozenDict

Span = tuple[int, int | None]
"""The first and the last place of a stretch; without a last one it takes in whatever comes."""

MAIN = "main"
"""The branch on which every session begins."""
_REMEMBERED = 50
"""Clearings and compactions of a branch that can be taken back, the latest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What was read before a clearing or a compaction."""

    spans: tuple[Span, ...]
    summary: str | None = None
    cuts: FrozenDict = EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One selection of a session's records by name. Spans are in order and do not meet; only the last may be open."""

    session_id: str
    name: str = MAIN
    spans: tuple[Span, ...] = ((1, None),)
    forgotten: frozenset[str] = frozenset()
    """Ids of messages that stand in the spans and are left out."""
    pinned: tuple[str, ...] = ()
    """Turns that are read whether they stand in the spans or not, and that no budget leaves out."""
    cleared: tuple[Cleared, ...] = ()
    """What clearings and compactions took, which can be taken back one by one; the last one stands last."""
    summary: str | None = None
    """The message that stands for what was compacted (R-6). It is read wherever it stands, like a turn that is kept."""
    cuts: FrozenDict = EMPTY
    """Id of a tool result -> the bytes of it that are read."""
    at: int = 0
    """When it was selected last, in microseconds."""

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole session."""
        return self.spans == ((1, None),) and not (self.forgotten or self.pinned or self.summary or self.cuts)

    def covers(self, n: int) -> bool:
        """Whether a place stands in its spans."""
        return any(first <= n and (last is None or n <= last) for first, last in self.spans)

    def holding(self, n: int) -> "Branch | None":
        """As it was when a place stood in its spans: as it is, or before what took the place. None if it never did."""
        if self.covers(n):
            return self
        return self._before().holding(n) if self.cleared else None

    def ending(self, n: int) -> "Branch":
        """What it holds up to a place; what comes later is not part of it."""
        return replace(self, spans=_until(self.spans, n))

    def going_on(self, n: int) -> "Branch":
        """With everything that comes behind a place."""
        return replace(self, spans=_joined((*_until(self.spans, n), (n + 1, None))))

    def adding(self, places: Iterable[int]) -> "Branch":
        """With single places that stand behind its last span."""
        return replace(self, spans=_joined((*self.spans, *((n, n) for n in places))))

    def clearing(self, n: int) -> "Branch":
        """With nothing of what stands up to a place, but what is pinned."""
        return replace(self, spans=((n + 1, None),), cleared=self._taken(n), summary=None, cuts=EMPTY)

    def compacting(self, n: int, *, tail: int, summary: str, asked: Iterable[str], cuts: Mapping[str, int]) -> "Branch":
        """With a summary in the place of everything up to `n`, but for what it holds from the place `tail` on.

        `asked` are the messages that asked for it. An earlier summary is summed up, too.
        """
        compacted = replace(self, spans=_since(self.spans, tail), cleared=self._taken(n), summary=summary)
        return replace(compacted.without([*asked, *_known(self.summary)]), cuts=FrozenDict(cuts))

    def restoring(self, n: int) -> "Branch":
        """With what the last clearing or compaction took, if there was one, and without the summary of it."""
        if not self.cleared:
            return self
        before = self._before()
        return replace(before, spans=_joined(_ordered(before.spans, self.spans))).going_on(n)

    def without(self, ids: Iterable[str], turns: Iterable[str] = ()) -> "Branch":
        """Without these messages; their turns need not be kept any more if they are named."""
        gone = frozenset(turns)
        pinned = tuple(each for each in self.pinned if each not in gone)
        return replace(self, forgotten=self.forgotten | frozenset(ids), pinned=pinned)

    def keeping(self, turn_id: str, ids: Iterable[str] = ()) -> "Branch":
        """With a turn pinned; of its messages none is forgotten."""
        pinned = self.pinned if turn_id in self.pinned else (*self.pinned, turn_id)
        return replace(self, pinned=pinned, forgotten=self.forgotten - frozenset(ids))

    def _taken(self, n: int) -> tuple[Cleared, ...]:
        now = Cleared(spans=_until(self.spans, n), summary=self.summary, cuts=self.cuts)
        return (*self.cleared, now)[-_REMEMBERED:]

    def _before(self) -> "Branch":
        """What it was before the last clearing or compaction."""
        last = self.cleared[-1]
        forgotten = self.forgotten.union(_known(self.summary)).difference(_known(last.summary))
        return replace(
            self,
            spans=last.spans,
            forgotten=forgotten,
            cleared=self.cleared[:-1],
            summary=last.summary,
            cuts=last.cuts,
        )


def _known(summary: str | None) -> tuple[str, ...]:
    return () if summary is None else (summary,)


def _until(spans: Iterable[Span], n: int) -> tuple[Span, ...]:
    """The parts of some spans that stand up to a place."""
    return tuple((first, n if last is None else min(last, n)) for first, last in spans if first <= n)


def _since(spans: Iterable[Span], n: int) -> tuple[Span, ...]:
    """The parts of some spans that stand at a place or behind it."""
    return tuple((max(first, n), last) for first, last in spans if last is None or last >= n)


def _ordered(one: Iterable[Span], other: Iterable[Span]) -> list[Span]:
    return sorted((*one, *other), key=lambda span: (span[0], span[1] is None, span[1] or 0))


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order as few as possible: those that touch are one."""
    joined: list[Span] = []
    for first, last in spans:
        before, until = joined[-1] if joined else (first, None)
        if joined and (until is None or first <= until + 1):
            joined[-1] = (before, None if last is None or until is None else max(last, until))
        else:
            joined.append((first, last))
    return tuple(joined)
