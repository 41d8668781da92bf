"""Find the stretches of Markdown that cannot simply be cut in two: fenced blocks and tables.

One pass of compiled patterns over the text, linear for any input. A fence may stand at any indent, in lists and quotes,
since chat platforms read it anywhere; a closing line may be indented by at most three columns more than its opener.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"\n((?:[ \t>]|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))*+)(`{3,}+|~{3,}+)([^\n]*+)")
_QUOTED = re.compile(r"(?:\n[ \t]*+>[^\n]*+)*+")
_RULE = re.compile(r"\n[ \t>]*+(\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+)\r?(?=\n|\Z)")
_ROWS = re.compile(r"(?:(?![ \t>]*+(?:```|~~~))[^\n|]*+\|[^\n]*+(?:\n|\Z))*+")
_DRAWN = re.compile(r"[^\n]*+\n[ \t>]*+-++(?:\+-++)++[ \t]*+\r?\n")
_PIPE = re.compile(r"(?<!\\)\|")


class Fence(NamedTuple):
    """A fenced block. Positions are indices into the text."""

    start: int
    """Of the line with the opening marker."""
    mark: int
    """Just after the opening marker."""
    body: int
    """Of the first line of code."""
    last: int
    """Of the line with the closing marker; the end of the block if it has none."""
    end: int
    """Just after the closing marker. One more than the text's length if the text ends inside the block."""
    lead: str
    """What a line of it needs before its marker: the quote marks and the indent of the first."""
    marker: str
    """The opening run of back-ticks or tildes."""
    language: str
    """The first word of the info string."""
    drawn: str
    """The two head lines of a table drawn in the block (`aligned`), or nothing."""


class Grid(NamedTuple):
    """A pipe table. Positions are indices into the text."""

    start: int
    """Of the header line."""
    body: int
    """Of the first row."""
    end: int
    """Just after the last row, its newline excluded."""

    @property
    def mark(self) -> int:
        """Nothing at its start must stay whole at any price."""
        return self.start

    @property
    def last(self) -> int:
        """Nothing closes a table."""
        return self.end


Zone = Fence | Grid


def zones(text: str) -> list[Zone]:
    """All fenced blocks and tables of the text, in order; they never overlap."""
    fences = list(_fences(text)) if "```" in text or "~~~" in text else []
    grids = _grids(text, fences) if "|" in text else ()
    return sorted([*fences, *grids], key=lambda zone: zone.start)


def _fences(text: str) -> Iterator[Fence]:
    opener: re.Match[str] | None = None
    bound = quoted = depth = columns = 0
    for line in _FENCE.finditer("\n" + text):  # so every line, the first as well, begins after a newline
        if opener and line.start() < bound:
            if _closes(line, opener[2], depth, columns):
                yield _fence(text, opener, line.start(), line.end(2) - 1)
                opener = None
            continue
        if opener:
            yield _fence(text, opener, bound, bound)
            opener = None
        if line[2][0] == "`" and "`" in line[3]:
            continue
        opener, bound = line, len(text) + 1
        depth, columns = line[1].count(">"), len(line[1].expandtabs(4))
        if depth:
            if line.start() >= quoted:
                quoted = _end_of_quote(text, line.end() - 1)
            bound = quoted
    if opener and opener.end() < min(bound, len(text)):
        yield _fence(text, opener, bound, bound)


def _end_of_quote(text: str, newline: int) -> int:
    match = _QUOTED.match(text, newline)
    end = match.end() if match else newline
    return end + 1


def _closes(line: re.Match[str], opener: str, depth: int, columns: int) -> bool:
    lead, marker, rest = line.groups()
    return (
        marker.startswith(opener)
        and not rest.strip()
        and not lead.strip(" \t>")
        and lead.count(">") == depth
        and len(lead.expandtabs(4)) <= columns + 3
    )


def _fence(text: str, opener: re.Match[str], last: int, end: int) -> Fence:
    lead, marker, info = opener.groups()
    body = opener.end()
    drawn = _DRAWN.match(text, body, min(last, len(text)))
    return Fence(
        start=opener.start(),
        mark=opener.end(2) - 1,
        body=body,
        last=last,
        end=end,
        lead=re.sub(r"[^>\s]", " ", lead),
        marker=marker,
        language=info.split(maxsplit=1)[0] if info.strip() else "",
        drawn=drawn.group() if drawn else "",
    )


def _grids(text: str, fences: list[Fence]) -> Iterator[Grid]:
    free = fence = 0
    for rule in _RULE.finditer(text):
        line = rule.start() + 1
        header = text.rfind("\n", max(0, free - 1), rule.start()) + 1
        while fence < len(fences) and fences[fence].end <= header:
            fence += 1
        inside = fence < len(fences) and fences[fence].start < line
        if header < free or inside or not _heads(text[header : rule.start()], rule[1]):
            continue
        body = min(rule.end() + 1, len(text))
        rows = _ROWS.match(text, body)
        free = rows.end() if rows else body
        ending = text[free - 2 : free]
        yield Grid(start=header, body=body, end=free - len(ending) + len(ending.rstrip("\r\n")))


def _heads(header: str, rule: str) -> bool:
    return "|" in rule and "|" in header and _columns(header.lstrip(" \t>")) == _columns(rule)


def _columns(line: str) -> int:
    stripped = line.strip().removeprefix("|")
    return len(_PIPE.findall(stripped)) + (not stripped.endswith("|"))
