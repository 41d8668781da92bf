"""Pure text functions that turn an assistant's Markdown into what each platform can send, and keep it harmless."""

from kesoku.errors.duration import duration
from kesoku.render.chunk import MINIMUM_LIMIT, Part, Unit, chunk, parts
from kesoku.render.confine import confine
from kesoku.render.dialect import Markup, to_markdown, to_markup, to_plain
from kesoku.render.header import header
from kesoku.render.money import money
from kesoku.render.parse import parse, unparse
from kesoku.render.sanitise import printable_name, visible
from kesoku.render.segment import Alignment, Code, File, Question, Segment, Table, Text, Voice

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
    "chunk",
    "confine",
    "duration",
    "header",
    "money",
    "parse",
    "parts",
    "printable_name",
    "to_markdown",
    "to_markup",
    "to_plain",
    "unparse",
    "visible",
]
