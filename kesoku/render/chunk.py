"""Cut text into parts that a platform takes, without losing a character or breaking what must stay whole.

Row K-150: every part is within the limit; fences are closed and opened again with their language; a table's
head stands over each of its pieces; links, addresses, code spans and grapheme clusters stay whole unless one alone is
longer than the room there is. Time is linear in the text for a given limit.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from wcwidth import grapheme_boundary_before

from kesoku.errors import LimitTooSmall
from kesoku.render.span import code_spans
from kesoku.render.zone import Fence, Zone, zones

MINIMUM_LIMIT = 16
"""The smallest limit in any unit: two fences and a wide character between them."""

_PARAGRAPH = ("\n\n", "\n\r\n")
_LINE = ("\n",)
_SENTENCE = (". ", "! ", "? ", "。", "！", "？", "；", "…")
_WORD = (" ", "\t", "\u3000", "，", "、", "：")
_TRIES = 50  # at most so many looks for a boundary of one kind that cuts nothing: hostile text must not cost time

_LINK = (
    r"!?+\[(?:[^\[\]]++|\[[^\[\]]*+\])*+\]"
    r"\(\s*+(?:<[^<>\n]*+>|[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+)(?:\s++(?:\"[^\"]*+\"|'[^']*+'))?+\s*+\)"
)
_ANGLED = r"<[^<>\s][^<>\n]*+>"
_URL = r"(?:https?|ftp)://[^\s<>\[\]\u3000-\u303f\uff00-\uffef\u2018-\u201f]++"
_WHOLE = re.compile(f"{_LINK}|{_ANGLED}|{_URL}")
_HEADING = re.compile(r"#{1,6} |\*{1,2}[^*\n]+\*{1,2}\s*\Z")
_MARKER = re.compile(r"[ \t>]*+(?:```|~~~)")
_SIMPLE = re.compile(r"[\n -~\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9d]{2}")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Unit(StrEnum):
    """What a limit counts."""

    CHARACTERS = "characters"
    """Unicode code points."""
    UTF16 = "UTF-16 units"
    """Two for what lies outside of the basic plane, such as emoji."""
    BYTES = "bytes"
    """Of UTF-8."""

    def size(self, text: str) -> int:
        """How much of a limit the text takes. A lone surrogate counts as if it could be sent."""
        if self is Unit.CHARACTERS:
            return len(text)
        if self is Unit.BYTES:
            return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One piece. The bodies of all parts, joined, are the input, exactly; prefix and suffix are what was added."""

    body: str
    prefix: str = ""
    suffix: str = ""

    @property
    def text(self) -> str:
        """What is sent."""
        return self.prefix + self.body + self.suffix

    @property
    def blank(self) -> bool:
        """Whether nothing is left to send; platforms refuse an empty message."""
        return not self.body.strip()


def chunk(text: str, limit: int, unit: Unit = Unit.CHARACTERS) -> list[str]:
    """The texts to send, in order, blank ones left out. Raises LimitTooSmall below MINIMUM_LIMIT."""
    return [part.text for part in parts(text, limit, unit) if not part.blank]


def parts(text: str, limit: int, unit: Unit = Unit.CHARACTERS) -> Iterator[Part]:
    """Cut the text, as `chunk` does, and say of each part what was added. Raises LimitTooSmall at once."""
    if limit < MINIMUM_LIMIT:
        raise LimitTooSmall(limit=limit, minimum=MINIMUM_LIMIT, unit=unit.value)
    return _Cutter(text, limit, unit).parts()


class _Shape(NamedTuple):
    """What cutting a zone takes under the limit at hand."""

    opening: str
    """Put before a continuation."""
    resume: str
    """Put after it when the continuation begins in the middle of a line."""
    closing: str
    """Put on a line of its own at the end of a part."""
    reserve: int
    """The room that the end needs."""
    floor: int
    """No cut before this position makes sense once the zone has begun."""


class _Cutter:
    """Walks through one text from cut to cut."""

    def __init__(self, text: str, limit: int, unit: Unit) -> None:
        self._text = text
        self._limit = limit
        self._size = unit.size
        self._exact = unit is Unit.CHARACTERS
        self._zones = zones(text)
        self._starts = [zone.start for zone in self._zones]

    def parts(self) -> Iterator[Part]:
        pos = 0
        while pos < len(self._text):
            prefix = self._prefix(pos)
            end = self._cut(pos, self._limit - self._size(prefix))
            yield Part(prefix=prefix, body=self._text[pos:end], suffix=self._suffix(end))
            pos = end

    # What surrounds a cut

    def _zone(self, at: int) -> tuple[Zone, _Shape] | None:
        """The zone that a cut at this position would cut in two, if the limit lets it be opened again."""
        index = bisect_left(self._starts, at) - 1
        if index < 0 or at >= self._zones[index].end:
            return None
        shape = self._shape(self._zones[index])
        return (self._zones[index], shape) if shape else None

    def _shape(self, zone: Zone) -> _Shape | None:
        if not isinstance(zone, Fence):
            head = self._text[zone.start : zone.body] if self._fits(zone.start, zone.body, self._limit // 2) else ""
            return _Shape(head, "", "", 0, zone.body)
        half = self._limit // 2
        if not (self._fits(zone.start, zone.mark, half) and self._fits(zone.last, zone.end, half)):
            return None
        closing = zone.lead + zone.marker
        reserve = 1 + max(len(closing), self._size(self._text[zone.last : zone.end]))
        resume = zone.lead[: zone.lead.rfind(">") + 1] + " " if ">" in zone.lead else ""
        if self._size(self._text[zone.start : zone.mark]) + reserve > half:
            return None
        room = half - reserve - len(resume)
        for language, drawn in ((zone.language, zone.drawn), (zone.language, ""), ("", "")):
            if len(language) + len(drawn) > room:  # a megabyte of either is not to be copied for every part
                continue
            opening = f"{closing}{language}\n{drawn}"
            if self._size(opening) <= room:
                return _Shape(opening, resume, closing, reserve, zone.body + len(drawn))
        return None

    def _prefix(self, pos: int) -> str:
        if not (found := self._zone(pos)):
            return ""
        zone, shape = found
        opening = shape.opening
        if pos < zone.body:  # the opening line itself was too long for one part
            opening = shape.closing and shape.closing + "\n"
        return opening + (shape.resume if self._text[pos - 1] != "\n" else "")

    def _suffix(self, end: int) -> str:
        found = self._zone(end)
        if not found or not found[1].closing:
            return ""
        return found[1].closing if self._text[end - 1] == "\n" else "\n" + found[1].closing

    # Where to cut

    def _fits(self, start: int, end: int, room: int) -> bool:
        return end - start <= room and self._size(self._text[start:end]) <= room

    def _fit(self, pos: int, room: int) -> int:
        """The furthest end so that the text from pos takes at most `room`."""
        top = min(pos + room, len(self._text))
        if self._exact or self._size(self._text[pos:top]) <= room:
            return top
        ends = range(pos, top + 1)
        return ends[bisect_right(ends, room, key=lambda end: self._size(self._text[pos:end])) - 1]

    def _cut(self, pos: int, room: int) -> int:
        top = self._fit(pos, room)
        found = self._zone(top)
        if found:
            return self._cut_zone(pos, room, *found)
        if top == len(self._text):
            return top
        return self._cut_text(pos, self._end_of_zones(pos, top), top)

    def _cut_zone(self, pos: int, room: int, zone: Zone, shape: _Shape) -> int:
        inner = self._fit(pos, room - shape.reserve)
        if inner == len(self._text):
            return inner
        floor = max(pos, shape.floor)
        line = self._line_of(zone, floor, inner)
        if zone.start > pos and (not line or self._fits(zone.start, zone.end, self._limit)):
            return self._above_heading(self._end_of_zones(pos, zone.start), zone.start)
        if line:
            return line
        low = floor if inner > floor else max(pos, zone.mark)
        whole = self._whole(low, inner)
        return self._last(_WORD, max(low, (pos + inner) // 2), inner, whole) or self._forced(pos, low, inner, whole)

    def _line_of(self, zone: Zone, floor: int, top: int) -> int:
        """The last line in (floor, top] at which the zone can be cut, with more than blank lines left for later."""
        line = self._last(_LINE, floor, top)
        if not line or zone.last - line > self._limit or self._text[line : zone.last].strip():
            return line
        return self._last(_LINE, floor, floor + len(self._text[floor:line].rstrip())) or line

    def _end_of_zones(self, pos: int, top: int) -> int:
        """Where the last zone before `top` ends, its line included; `pos` if none ends after it."""
        index = bisect_left(self._starts, top) - 1
        if index >= 0 and self._zones[index].end > top:
            index -= 1
        end = self._zones[index].end if index >= 0 else pos
        if end <= pos:
            return pos
        newline = self._text.find("\n", end, top) + 1
        return newline if newline and not self._text[end:newline].strip() else end

    def _cut_text(self, pos: int, low: int, top: int) -> int:
        """A coarse boundary in the upper half of (pos, top], else a finer one there, else any; none below `low`."""
        half = (pos + top) // 2
        paragraph = self._last(_PARAGRAPH, low, top) or low
        if paragraph > half:
            return self._above_heading(low, paragraph)
        whole = self._whole(paragraph, top)
        for least in (max(paragraph, half), paragraph):
            for marks in (_LINE, _SENTENCE, _WORD):
                if cut := self._last(marks, least, top, whole):
                    return cut
            if paragraph > pos:
                return paragraph
        return self._forced(pos, pos, top, whole)

    def _above_heading(self, low: int, cut: int) -> int:
        """The same cut, or one above the heading that would be left alone at the end of the part."""
        above = self._text[low:cut].rstrip()
        start = low + above.rfind("\n") + 1
        return start if start > low and _HEADING.match(self._text, start, cut) else cut

    def _last(self, marks: tuple[str, ...], low: int, top: int, whole: Sequence[tuple[int, int]] = ()) -> int:
        """The last place in (low, top] just after one of the marks where nothing whole is cut; 0 if there is none."""
        for _ in range(_TRIES):
            found = ((self._text.rfind(mark, low, top), len(mark)) for mark in marks)
            cut = max(index + length if index >= 0 else 0 for index, length in found)
            if cut <= low:
                return 0
            start = _outside(cut, whole)
            if start == cut and self._between_graphemes(low, cut) == cut and not self._makes_fence(cut):
                return cut
            top = min(start, cut - 1)
        return 0

    def _forced(self, pos: int, low: int, top: int, whole: Sequence[tuple[int, int]]) -> int:
        """Cut before something whole, else between graphemes, else between code points."""
        start = _outside(top, whole)
        cut = self._between_graphemes(low, start if start > low else top)
        if self._makes_fence(cut):
            before = pos + len(self._text[pos:cut].rstrip(" \t>`~")) - 1
            cut = self._between_graphemes(low, _outside(before, whole)) if before > low else cut
        if max(cut, low) > pos:
            return max(cut, low)
        return top - 1 if top - 1 > low and _PAIR.match(self._text, top - 1) else top

    def _makes_fence(self, cut: int) -> bool:
        """Whether back-ticks from the middle of a line would begin the next part, and so read as a fence."""
        return self._text[cut - 1] != "\n" and bool(_MARKER.match(self._text, cut, cut + self._limit))

    def _between_graphemes(self, low: int, cut: int) -> int:
        """The last boundary between grapheme clusters up to `cut`; `low` counts as one."""
        if cut >= len(self._text) or _SIMPLE.match(self._text, cut - 1):
            return cut
        low = max(low, self._text.rfind(" ", low, cut), self._text.rfind("\n", low, cut))
        cut = low + grapheme_boundary_before(self._text[low : cut + 1], cut + 1 - low)
        return cut - 1 if cut > low and _PAIR.match(self._text, cut - 1) else cut

    def _whole(self, low: int, top: int) -> list[tuple[int, int]]:
        """Where links, addresses and code spans begin and end, from `low` on, as far as cuts up to `top` need it."""
        index = bisect_left(self._starts, top)
        stop = min(top + self._limit, self._starts[index] if index < len(self._starts) else len(self._text))
        blank = self._text.find("\n\n", top, stop)
        stop = blank if blank >= 0 else stop
        links = (match.span() for match in _WHOLE.finditer(self._text, low, stop))
        merged: list[tuple[int, int]] = []
        for start, end in sorted(chain(links, code_spans(self._text, low, stop))):
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            elif self._fits(start, end, self._limit):
                merged.append((start, end))
        return merged


def _outside(cut: int, whole: Sequence[tuple[int, int]]) -> int:
    """The cut, or the start of what it would cut in two."""
    index = bisect_left(whole, (cut,)) - 1
    return whole[index][0] if index >= 0 and cut < whole[index][1] else cut
