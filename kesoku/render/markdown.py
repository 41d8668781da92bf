"""The Markdown parser of this room: CommonMark with tables and strike-through, set so that no text disappears.

Link reference definitions are not read (`[Note]: text` stays text), addresses keep their own spelling, and bare URLs
are shielded from emphasis (`/_a_/` in an address is no italic).
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from kesoku.render.segment import Alignment, Table
from kesoku.render.span import code_spans

NESTING = 24
"""Blocks nested deeper than this are not taken apart. The parser drops what lies below: callers must check `deep`."""

FILE = re.compile(r"\[file:\s*(?P<path>\S.*)\]", re.IGNORECASE)
VOICE = re.compile(r"\[voice:\s*(?P<path>\S.*)\]", re.IGNORECASE)
QUESTION = re.compile(r"\[question:\s*(?P<body>\S.*)\]", re.IGNORECASE)
IMAGE = re.compile(
    r"!\[(?P<alt>(?:\\.|[^\]\\])*)\]\(\s*(?!<?\s*(?:[a-z][a-z0-9+.-]+:|//))(?P<path>\S.*)\)", re.IGNORECASE
)
_DIRECTIVES = (FILE, VOICE, QUESTION, IMAGE)

LEAD = re.compile(r"[ \t>]*+(?:(?:[-+*]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+")
"""What may stand before a block on its first line: quote marks, list marks and indents."""

_PIPE = re.compile(r"(?<!\\)\|")
_URL = re.compile(r"://[!#-)+-;=?@A-Z_a-z~]+")


def directive(line: str) -> re.Match[str] | None:
    """Match a whole line, blanks around it aside, that is one of our directives or an image with a local path."""
    stripped = line.strip()
    return next((match for pattern in _DIRECTIVES if (match := pattern.fullmatch(stripped))), None)


def _directive_rule(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    mark = state.bMarks[start] + state.tShift[start]
    if state.is_code_block(start) or state.src[mark : mark + 1] not in {"[", "!"}:
        return False
    line = state.src[state.src.rfind("\n", 0, mark) + 1 : state.eMarks[start]]  # with any quote or list mark before it
    if not directive(line):
        return False
    if not silent:
        state.push("directive", "", 0).map = [start, start + 1]
        state.line = start + 1
    return True


def _url_rule(state: StateInline, silent: bool) -> bool:
    pos = state.pos
    if not state.src.startswith("://", pos) or not state.src.endswith(("http", "https"), max(0, pos - 5), pos):
        return False
    match = _URL.match(state.src, pos, state.posMax)
    address = match.group().rstrip("_~.,;:!?')") if match else ""
    if len(address) <= len("://"):
        return False
    if not silent:
        state.pending += address
    state.pos += len(address)
    return True


def _cells_rule(state: StateCore) -> None:
    """Put back what the parser drops from a row with more cells than its header has: mostly pipes in code spans."""
    lines: list[str] = []
    cells: list[Token] = []
    for token in state.tokens:
        if token.type == "tr_open":
            cells = []
        elif token.type == "inline":
            cells.append(token)
        elif token.type == "tr_close" and cells[0].map:
            lines = lines or state.src.split("\n")
            row = _row(LEAD.sub("", lines[cells[0].map[0]], count=1), len(cells))
            for cell, content in zip(cells, row, strict=False):
                cell.content = content


def _row(line: str, count: int) -> list[str]:
    """The cells of a line that has too many: code spans stay whole if that leaves enough, the last takes the rest."""
    pipes = [match.start() for match in _PIPE.finditer(line)]
    cells = _split(line, pipes)
    if len(cells) <= count:
        return []
    spans = list(code_spans(line, 0, len(line)))
    whole = _split(line, [pipe for pipe in pipes if not _inside(pipe, spans)])
    cells = whole if len(whole) >= count else cells
    return [*cells[: count - 1], " | ".join(cells[count - 1 :])]


def _split(line: str, pipes: list[int]) -> list[str]:
    bounds = zip([-1, *pipes], [*pipes, len(line)], strict=True)
    cells = [line[start + 1 : end].strip().replace("\\|", "|") for start, end in bounds]
    return cells[not cells[0] : len(cells) - (not cells[-1])]


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    index = bisect_left(spans, (position,)) - 1
    return index >= 0 and position < spans[index][1]


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable(["table", "strikethrough"]).disable("reference")
    parser.inline.ruler.after("text", "bare_url", _url_rule)
    parser.core.ruler.after("block", "cells", _cells_rule)
    parser.normalizeLink = _as_is  # type: ignore[method-assign]
    parser.normalizeLinkText = _as_is  # type: ignore[method-assign,assignment]
    return parser


def _as_is(url: str) -> str:
    return url


MARKDOWN = _parser()
"""Plain Markdown; directives are paragraphs like any other text."""

BLOCKS = _parser().disable("inline")
"""The same, for those who need only the blocks: most of the time would go into what stands inside of them."""

DIRECTED = _parser().disable("inline")
"""The blocks, with a `directive` token for each line that is one."""
DIRECTED.block.ruler.before(
    "table", "directive", _directive_rule, {"alt": ["paragraph", "blockquote", "list", "table"]}
)


def normalised(source: str) -> str:
    """The source with every line end as a newline, the way the parser counts lines."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def deep(tokens: Sequence[Token]) -> bool:
    """Whether blocks nest so deep that the parser may have dropped text."""
    return any(token.level >= NESTING - 1 for token in tokens)


def table_at(tokens: Sequence[Token], index: int) -> tuple[Table, int]:
    """Read the table whose `table_open` stands at `index`; also the index of its `table_close`."""
    rows: list[list[str]] = []
    alignments: list[Alignment] = []
    while tokens[index].type != "table_close":
        token = tokens[index]
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token.content)
        elif token.type == "th_open":
            style = str(token.attrGet("style") or "")
            alignments.append(Alignment(style.removeprefix("text-align:") or "none"))
        index += 1
    header, *body = (tuple(row) for row in rows)
    return Table(header=header, rows=tuple(body), alignments=tuple(alignments)), index
