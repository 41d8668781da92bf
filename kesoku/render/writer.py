"""Write parsed Markdown anew in a dialect that has marks of its own, or none."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, repeat

from markdown_it.token import Token

from kesoku.render.markdown import MARKDOWN, deep, normalised, table_at
from kesoku.render.segment import Table

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one dialect writes things; an empty mark leaves the style out."""

    link: Callable[[str, str], str]
    """Label and address to a link."""
    span: Callable[[str], str]
    """The text of a code span to a code span."""
    fence: Callable[[str, str], list[str]]
    """Code and info string to the lines of a block."""
    table: Callable[[Table], list[str]]
    """A table with Markdown in its cells to lines."""
    inert: Callable[[str], str] = str
    """Defuse what the platform would act upon, outside of code."""
    strong: str = ""
    em: str = ""
    strike: str = ""
    heading: str = ""
    bullet: str = "- "


def write(markdown: str, dialect: Dialect) -> str:
    """Write a whole document. One nested deeper than the parser follows comes back as it is, but inert."""
    source = normalised(markdown)
    tokens = MARKDOWN.parse(source)
    return dialect.inert(source) if deep(tokens) else _Document(dialect).written(tokens)


def write_line(markdown: str, dialect: Dialect) -> str:
    """Write inline Markdown, such as a table cell."""
    return "".join(_Line(dialect).written(token.children or ()) for token in MARKDOWN.parseInline(markdown))


def led(lines: Iterable[str], first: str, rest: str) -> list[str]:
    """Put `first` before the first line and `rest` before the others, without blanks at the end of empty ones."""
    leads = chain((first,), repeat(rest))
    return [lead + line if line else lead.rstrip() for lead, line in zip(leads, lines, strict=False)]


@dataclass(slots=True, kw_only=True)
class _Frame:
    """An open container and the blocks in it so far; its lines will be led by `first` and `rest`."""

    first: str = ""
    rest: str = ""
    gap: str = "\n\n"
    blocks: list[str] = field(default_factory=list)


class _Document:
    """Walks block tokens; no recursion, so depth costs no stack."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._frames = [_Frame()]
        self._heading = ""

    def written(self, tokens: Sequence[Token]) -> str:
        index = 0
        while index < len(tokens):
            if tokens[index].type == "table_open":
                table, index = table_at(tokens, index)
                self._add("\n".join(self._dialect.table(table)))
            elif handle := _HANDLERS.get(tokens[index].type):
                handle(self, tokens[index])
            index += 1
        return "\n\n".join(self._frames[0].blocks)

    def _add(self, block: str) -> None:
        if block:
            self._frames[-1].blocks.append(block)

    def heading_open(self, _token: Token) -> None:
        self._heading = self._dialect.heading

    def heading_close(self, _token: Token) -> None:
        self._heading = ""

    def paragraph_open(self, token: Token) -> None:
        if not token.hidden and len(self._frames) > 1:  # a loose list: blank lines in its items and between them
            for frame in self._frames[-2:]:
                frame.gap = "\n\n"

    def inline(self, token: Token) -> None:
        self._add(_Line(self._dialect, self._heading).written(token.children or ()))

    def code(self, token: Token) -> None:
        self._add("\n".join(self._dialect.fence(token.content.removesuffix("\n"), token.info.strip())))

    def html_block(self, token: Token) -> None:
        self._add(self._dialect.inert(token.content.rstrip("\n")))

    def rule(self, _token: Token) -> None:
        self._add("---")

    def quote_open(self, _token: Token) -> None:
        self._frames.append(_Frame(first="> ", rest="> "))

    def list_open(self, _token: Token) -> None:
        self._frames.append(_Frame(gap="\n"))

    def item_open(self, token: Token) -> None:
        mark = f"{token.info}{token.markup} " if token.info else self._dialect.bullet
        self._frames.append(_Frame(first=mark, rest=" " * len(mark), gap="\n"))

    def close(self, _token: Token) -> None:
        frame = self._frames.pop()
        self._add("\n".join(led(frame.gap.join(frame.blocks).split("\n"), frame.first, frame.rest)))


_HANDLERS: dict[str, Callable[[_Document, Token], None]] = {
    "heading_open": _Document.heading_open,
    "heading_close": _Document.heading_close,
    "paragraph_open": _Document.paragraph_open,
    "inline": _Document.inline,
    "fence": _Document.code,
    "code_block": _Document.code,
    "html_block": _Document.html_block,
    "hr": _Document.rule,
    "blockquote_open": _Document.quote_open,
    "bullet_list_open": _Document.list_open,
    "ordered_list_open": _Document.list_open,
    "list_item_open": _Document.item_open,
    "blockquote_close": _Document.close,
    "bullet_list_close": _Document.close,
    "ordered_list_close": _Document.close,
    "list_item_close": _Document.close,
}


_STYLES = {"strong_open": "strong", "em_open": "em", "s_open": "strike"}


class _Line:
    """Walks inline tokens. Marks end and begin again at a line break, and are left out inside a link's label."""

    def __init__(self, dialect: Dialect, around: str = "") -> None:
        self._dialect = dialect
        self._pieces: list[tuple[bool, str]] = []  # whether it is code, and the text
        self._marks: list[str] = []
        self._links: list[tuple[str, int]] = []  # the address, and where its label begins
        self._open(around)

    def written(self, tokens: Iterable[Token]) -> str:
        for token in tokens:
            self._take(token)
        while self._marks:
            self._close()
        runs = groupby(self._pieces, key=lambda piece: piece[0])
        joined = ((code, "".join(text for _, text in run)) for code, run in runs)
        return "".join(text if code else self._dialect.inert(text) for code, text in joined)

    def _take(self, token: Token) -> None:
        match token.type:
            case "strong_open" | "em_open" | "s_open":
                self._open(getattr(self._dialect, _STYLES[token.type]))
            case "strong_close" | "em_close" | "s_close":
                self._close()
            case "softbreak" | "hardbreak":
                self._break()
            case "code_inline":
                self._code(token.content)
            case "link_open":
                self._links.append((str(token.attrGet("href") or ""), len(self._pieces)))
            case "link_close":
                self._link()
            case "image":
                self._put(self._dialect.link(token.content, str(token.attrGet("src") or "")))
            case _:
                self._other(token)

    def _put(self, text: str) -> None:
        self._pieces.append((False, text))

    def _open(self, mark: str) -> None:
        self._marks.append("" if self._links or mark in self._marks else mark)
        self._put(self._marks[-1])

    def _close(self) -> None:
        self._put(self._marks.pop())

    def _break(self) -> None:
        if self._links:
            self._put(" ")
        else:
            self._put("".join((*reversed(self._marks), "\n", *self._marks)))

    def _code(self, content: str) -> None:
        if self._links:
            self._put(content)
        else:
            self._pieces.append((True, self._dialect.span(content)))

    def _link(self) -> None:
        address, at = self._links.pop()
        label = "".join(text for _, text in self._pieces[at:])
        del self._pieces[at:]
        self._put(self._dialect.link(label, address))

    def _other(self, token: Token) -> None:
        if token.type == "html_inline" and _BREAK.fullmatch(token.content):
            self._break()
        else:
            self._put(token.content)
