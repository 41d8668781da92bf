"""Pure text functions that turn an assistant's Markdown into what each platform can send, and keep it harmless."""

from kesoku.errors.counted import counted
from kesoku.errors.duration import duration
from kesoku.render.chunk import MINIMUM_LIMIT, Part, Unit, chunk, parts
from kesoku.render.confine import confine
from kesoku.render.dialect import Markup, plain_cells, to_markdown, to_markup, to_plain
from kesoku.render.header import header
from kesoku.render.money import money
from kesoku.render.parse import parse, unparse
from kesoku.render.sanitise import printable_name, visible
from kesoku.render.segment import Alignment, Code, File, Question, Segment, Table, Text, Voice
from kesoku.render.table import aligned, listed

__all__ = [
    "MINIMUM_LIMIT",
    "Alignment",
    "Code",
    "File",
    "Markup",
    "Part",
    "Question",
    "Segment",
    "Table",
    "Text",
    "Unit",
    "Voice",
    "aligned",
    "chunk",
    "confine",
    "counted",
    "duration",
    "header",
    "listed",
    "money",
    "parse",
    "parts",
    "plain_cells",
    "printable_name",
    "to_markdown",
    "to_markup",
    "to_plain",
    "unparse",
    "visible",
]
