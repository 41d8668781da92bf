"""A table as a picture, for what is too wide for a code block. Pillow is loaded when the first one is needed.

A table is the JSON object that goes along in the payload of a part: `header`, `rows` and `alignments`, plain text in
its cells.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from typing import Any

from kesoku.render import Alignment, Table, listed
from kesoku_discord.drawing import font
from kesoku_discord.drawing.text import cut

WIDE = 1600
"""Pixels of the widest picture; a table whose columns need less is narrower."""
LINES = 6
"""Lines of a cell; what does not fit is cut, with `…`."""
COLUMNS = 20
"""Columns of the widest table that can be read as a picture."""
ALTERNATIVE = 1024
"""UTF-16 units of the text that stands in for a picture or a file."""
_LINE, _ACROSS, _DOWN = 22, 10, 6
_PAGE, _HEAD, _STRIPE, _RULE = "#2b2d31", "#1e1f22", "#313338", "#4e5058"
_LETTERS, _TITLES = "#dbdee1", "#ffffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """The lines of every cell, row by row, the header first; widths in pixels, paddings included."""

    rows: tuple[tuple[tuple[str, ...], ...], ...]
    widths: tuple[int, ...]
    is_whole: bool

    @property
    def heights(self) -> list[int]:
        """Pixels of each row."""
        return [max(1, *map(len, row)) * _LINE + 2 * _DOWN for row in self.rows]


def can_draw(table: Mapping[str, Any]) -> bool:
    """Whether a picture shows all of it: every character has a glyph here, and nothing is cut."""
    cells = _cells(table)
    if not 0 < len(table["header"]) <= COLUMNS or not all(font.can_draw(cell) for row in cells for cell in row):
        return False
    return _layout(cells).is_whole


def draw(table: Mapping[str, Any]) -> bytes:
    """The picture as a PNG, the same bytes for the same table on the same machine."""
    from PIL import Image, ImageDraw

    layout = _layout(_cells(table))
    alignments = [*table["alignments"], *[Alignment.NONE] * len(layout.widths)]
    image = Image.new("RGB", (sum(layout.widths), sum(layout.heights)), _PAGE)
    pen = ImageDraw.Draw(image)
    tops = accumulate(layout.heights, initial=0)
    for number, (row, top, height) in enumerate(zip(layout.rows, tops, layout.heights, strict=False)):
        ground = _HEAD if number == 0 else _STRIPE if number % 2 == 0 else _PAGE
        pen.rectangle((0, top, image.width, top + height - 1), fill=ground)
        pen.line((0, top + height - 1, image.width, top + height - 1), fill=_RULE)
        lefts = accumulate(layout.widths, initial=0)
        for lines, left, wide, alignment in zip(row, lefts, layout.widths, alignments, strict=False):
            for at, line in enumerate(lines):
                x = left + _indent(line, wide, alignment)
                _write(pen, x, top + _DOWN + at * _LINE, line, _LETTERS if number else _TITLES)
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def alternative(table: Mapping[str, Any]) -> str:
    """The table as text, a line a row, as far as it fits into the description of a file."""
    text = "\n".join(listed(Table(header=tuple(table["header"]), rows=tuple(map(tuple, table["rows"])))))
    return cut(text, ALTERNATIVE)


def _cells(table: Mapping[str, Any]) -> list[list[str]]:
    """Every row with as many cells as the header; composed characters, no selectors between text and emoji forms."""
    columns = len(table["header"])
    rows = ([*row[:columns], *[""] * (columns - len(row))] for row in (table["header"], *table["rows"]))
    return [
        [unicodedata.normalize("NFC", cell).translate({0xFE0E: None, 0xFE0F: None}) for cell in row] for row in rows
    ]


def _layout(cells: Sequence[Sequence[str]]) -> _Layout:
    natural = [max(map(_length, column)) for column in zip(*cells, strict=True)]
    room = _shared(natural, WIDE - 2 * _ACROSS * len(natural))
    wrapped = [[list(_wrapped(cell, width)) for cell, width in zip(row, room, strict=True)] for row in cells]
    return _Layout(
        rows=tuple(tuple(tuple(_cut(lines)) for lines in row) for row in wrapped),
        widths=tuple(int(width) + 1 + 2 * _ACROSS for width in room),
        is_whole=all(len(lines) <= LINES for row in wrapped for lines in row),
    )


def _shared(natural: Sequence[float], budget: float) -> list[float]:
    """A width for each column: its own, or where all together are too wide, an equal share of what the narrow leave."""
    left, widths = budget, [0.0] * len(natural)
    order = sorted(range(len(natural)), key=lambda column: natural[column])
    for done, column in enumerate(order):
        widths[column] = max(1.0, min(natural[column], left / (len(order) - done)))
        left -= widths[column]
    return widths


def _length(text: str) -> float:
    return sum(map(font.advance, text))


def _wrapped(text: str, width: float) -> Iterator[str]:
    """The lines of a cell, cut between words, or within one that is longer than a line."""
    line, used = "", 0.0
    for word in text.split():
        taken = _length(f" {word}" if line else word)
        if line and used + taken > width + 0.5:
            yield line
            line, used, taken = "", 0.0, _length(word)
        line, used = (f"{line} {word}" if line else word), used + taken
        while used > width + 0.5 and len(line) > 1:
            fit = _fit(line, width)
            yield line[:fit]
            line = line[fit:]
            used = _length(line)
    if line:
        yield line


def _fit(text: str, width: float) -> int:
    """How many characters fit, at least one."""
    return max(1, sum(used <= width + 0.5 for used in accumulate(map(font.advance, text))))


def _cut(lines: list[str]) -> list[str]:
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], lines[LINES - 1][:-1] + "…"]


def _indent(line: str, wide: int, alignment: str) -> float:
    free = max(0.0, wide - 2 * _ACROSS - _length(line))
    return _ACROSS + {Alignment.RIGHT: free, Alignment.CENTER: free / 2}.get(Alignment(alignment), 0.0)


def _write(pen: Any, x: float, y: float, text: str, colour: str) -> None:
    for shape, run in font.runs(text):
        pen.text((x, y + _LINE * 0.75), run, fill=colour, font=shape, anchor="ls")
        x += _length(run)
