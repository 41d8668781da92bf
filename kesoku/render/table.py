"""Draw tables for places that have none: as aligned columns for a code block, or as one line a row."""

from collections.abc import Callable
from itertools import zip_longest

from wcwidth import center, ljust, rjust, width

from kesoku.render.sanitise import visible
from kesoku.render.segment import Alignment, Table

WIDEST = 100
"""Columns on screen beyond which an aligned table would only wrap."""

_SET: dict[Alignment, Callable[[str, int], str]] = {
    Alignment.NONE: ljust,
    Alignment.LEFT: ljust,
    Alignment.CENTER: center,
    Alignment.RIGHT: rjust,
}


def aligned(table: Table) -> list[str] | None:
    """Draw the table with columns padded to display width (a CJK character or an emoji takes two columns).

    Cells are shown as they are. None if it would be wider than WIDEST; padding so stays within bounds, too.
    """
    rows = [[visible(cell).replace("\t", " ") for cell in _padded(row, table)] for row in (table.header, *table.rows)]
    widths = [max(1, *map(width, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + 3 * (len(widths) - 1) > WIDEST:
        return None
    alignments = (*table.alignments, *[Alignment.NONE] * len(widths))[: len(widths)]
    setters = [_SET[alignment] for alignment in alignments]
    header, *body = (
        " | ".join(set_in(cell, columns) for set_in, cell, columns in zip(setters, row, widths, strict=True)).rstrip()
        for row in rows
    )
    return [header, "-+-".join("-" * columns for columns in widths), *body]


def listed(table: Table) -> list[str]:
    """Write each row as one line that needs no header above it: `Name: Ada; Age: 36`."""
    if not table.rows:
        return ["; ".join(filter(None, table.header))]
    return ["; ".join(_labelled(table.header, row)) for row in table.rows]


def _labelled(header: tuple[str, ...], row: tuple[str, ...]) -> list[str]:
    pairs = zip_longest(header, row[: len(header)], fillvalue="")
    return [f"{title}: {cell}" if title else cell for title, cell in pairs if cell]


def _padded(row: tuple[str, ...], table: Table) -> list[str]:
    columns = len(table.header)
    return [*row[:columns], *[""] * (columns - len(row))]
