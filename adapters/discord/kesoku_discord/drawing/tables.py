"""How each table of an answer is shown: drawn in a code block, as pictures, or as a list. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kesoku.render import Code, Table, aligned, listed, plain_cells, unparse
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import picture

READABLE = 56
"""Columns of a code block. A phone held upright wraps at some fifty, so that only the longest rows wrap there; what is
much wider reads better as a picture, which can be zoomed, though a desktop would show a hundred."""
ROWS = 25
"""Rows of one picture; a longer table becomes several, each with the header."""


def shown(table: Table, config: DiscordConfig) -> str | tuple[dict[str, Any], ...]:
    """Markdown to stand in the text, or payloads of parts of their own. A table of one column is a list anyway."""
    plain = plain_cells(table)
    lines = aligned(plain) if len(table.header) > 1 else None
    if lines is not None and len(lines[1]) <= READABLE:
        return unparse((Code(text="\n".join(lines)),))
    if config.wide_tables == "picture" and len(table.header) > 1:
        drawings = tuple(_drawings(plain))
        if all(map(picture.can_draw, drawings)):
            return tuple({"table": {**each, "alternative": picture.alternative(each)}} for each in drawings)
    return "\n".join(f"- {line}".rstrip() for line in listed(table))


def _drawings(table: Table) -> Iterator[dict[str, Any]]:
    for at in range(0, max(1, len(table.rows)), ROWS):
        piece = replace(table, rows=table.rows[at : at + ROWS])
        yield {
            "header": list(piece.header),
            "rows": [list(row) for row in piece.rows],
            "alignments": [str(each) for each in piece.alignments],
        }
