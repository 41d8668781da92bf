"""The settled beginning of a session, as it was compiled: the next request of the session only adds to it.

A beginning is settled up to a turn that was answered: whatever follows changes nothing in how it is written down, as
long as it names nothing in it. Whether a beginning still holds is asked of the very records that it was made of: equal
is not enough, since two messages are equal when id and version are, whatever they say.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, dropwhile, groupby
from operator import attrgetter, is_
from threading import Lock

from kesoku.history import author, block
from kesoku.history.chapter import Chapter, joined
from kesoku.history.order import Placed
from kesoku.messages.record import Record
from kesoku.messages.turn import ResultBlock, TextBlock, Turn

OMISSION = Turn(role="user", blocks=(TextBlock(text=f"{block.NOTE}{block.OMITTED}"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """Settled turns; the empty one is the beginning of every session."""

    span: tuple[Record, ...] = ()
    """The records of the session by seq, up to the last one that belongs to a settled turn."""
    gaps: tuple[int, ...] = ()
    """Where in the span the records of later turns stand; they may change."""
    names: frozenset[str] = frozenset()
    """What must not be named by anything behind: ids of records, of turns, and of calls that were answered."""
    authors: author.Authors = author.NOBODY
    system: str | None = None
    """The first stored master prompt."""
    chapters: tuple[Chapter, ...] = ()
    before: tuple[int, ...] = (0,)
    """The tokens before each chapter, and before what follows, that a budget may leave out."""
    weight: int = 0
    """The tokens of all chapters."""
    turns: tuple[Turn, ...] = ()
    """The chapters as alternating turns, without what a budget left out when they were last asked for."""
    first: int = 0
    """The chapter with which they begin, but for older ones that must not be left out."""
    omits: bool = False
    """Whether anything was left out, which the model is told."""

    def rest(self, arrived: tuple[Record, ...]) -> tuple[Record, ...] | None:
        """The records that do not belong to it; None if `arrived` does not begin with it."""
        here = list(self.span)
        if len(arrived) < len(here):
            return None
        for gap in self.gaps:
            here[gap] = arrived[gap]
        if not all(map(is_, here, arrived)):
            return None
        return (*(arrived[gap] for gap in self.gaps), *arrived[len(here) :])

    def grown(
        self,
        arrived: tuple[Record, ...],
        settled: Sequence[Placed],
        chapters: Sequence[Chapter],
        authors: author.Authors,
    ) -> "Prefix":
        """With `settled`, the turns that follow it; as it is if a later turn has a record before the last of them."""
        ids = {each.record.id for each in settled}
        places = (*self.gaps, *range(len(self.span), len(arrived)))
        mine = [n for n in places if arrived[n].id in ids]
        span = max(len(self.span), mine[-1] + 1)
        gaps = tuple(n for n in places if n < span and arrived[n].id not in ids)
        start = next(n for n in mine if arrived[n].id == settled[-1].turn_id)
        if len(mine) != len(settled) or any(gap < start for gap in gaps):
            return self
        dropped = (0 if each.kept else each.weight for each in chapters)
        return replace(
            self,
            span=arrived[:span],
            gaps=gaps,
            names=self.names.union(named(settled)),
            authors=authors,
            system=self.system or master_prompt(settled),
            chapters=(*self.chapters, *chapters),
            before=(*self.before[:-1], *accumulate(dropped, initial=self.before[-1])),
            weight=self.weight + sum(each.weight for each in chapters),
            turns=alternating(self.turns, (piece for each in chapters for piece in each.pieces)),
        )

    def cut(self, tokens: int, *, omits: bool = False) -> "Prefix":
        """Without the oldest turns, as long as what is left out has fewer than so many tokens.

        `omits` says that something behind it is left out, too.
        """
        first = bisect_left(self.before, tokens, hi=len(self.chapters))
        omits = omits or any(not each.kept for each in self.chapters[:first])
        if (first, omits) == (self.first, self.omits):
            return self
        kept = (each for n, each in enumerate(self.chapters) if n >= first or each.kept)
        turns = alternating((OMISSION,) if omits else (), (piece for each in kept for piece in each.pieces))
        return replace(self, turns=turns, first=first, omits=omits)


def alternating(turns: Sequence[Turn], pieces: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns with more pieces: neighbours of one role merged, and nothing before the first words of the user, for
    what was cut away asked for it."""
    begun = pieces if turns else dropwhile(_is_reply, pieces)
    merged = [list(run) for _, run in groupby(begun, key=attrgetter("role"))]
    if not merged:
        return tuple(turns)
    if turns and turns[-1].role == merged[0][0].role:
        merged[0].insert(0, turns[-1])
        turns = turns[:-1]
    return (*turns, *map(joined, merged))


def _is_reply(piece: Turn) -> bool:
    return piece.role == "model" or isinstance(piece.blocks[0], ResultBlock)


def master_prompt(order: Iterable[Placed]) -> str | None:
    """The first stored master prompt, for a request that brings none (K-218)."""
    return next((each.record.message.rendered for each in order if each.record.kind == "system_prompt"), None)


def named(order: Iterable[Placed]) -> Iterator[str]:
    """Ids of the records, of their turns, and of the calls that they answer."""
    for each in order:
        yield each.record.id
        yield each.turn_id
        if each.record.kind == "tool_result":
            yield each.record.parent_id or each.record.message.content.request_id


class PrefixCache:
    """The latest prefix of each session and style of writing; safe in any thread.

    It changes how long compiling takes, never what comes of it.
    """

    def __init__(self, *, room: int) -> None:
        """`room` in tokens, where each record counts for `_RECORD` besides its text."""
        self._known: OrderedDict[object, Prefix] = OrderedDict()
        self._room, self._lock = room, Lock()

    def get(self, arrived: tuple[Record, ...], style: block.Style) -> Prefix:
        """The prefix of the session of these records; `NOTHING` if none is known."""
        return self._known.get(_key(arrived, style), NOTHING)

    def put(self, arrived: tuple[Record, ...], style: block.Style, prefix: Prefix) -> None:
        """Remember it in the place of an earlier one; those longest unused go when there is no room."""
        key = _key(arrived, style)
        with self._lock:
            self._room += _size(self._known.pop(key, NOTHING)) - _size(prefix)
            self._known[key] = prefix
            while self._room < 0:
                self._room += _size(self._known.popitem(last=False)[1])


NOTHING = Prefix()
_RECORD = 500
"""What a record takes beside its text, in tokens of four bytes."""


def _key(arrived: tuple[Record, ...], style: block.Style) -> object:
    return (arrived[0].session_id if arrived else "", style)


def _size(prefix: Prefix) -> int:
    return prefix.weight + _RECORD * len(prefix.span)
