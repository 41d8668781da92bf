"""Markdown for a terminal: rich's renderer, so that nothing of the text is hidden or cut off.

Raw HTML and link definitions are shown as they are written, links and images with their address, long table cells are
wrapped, code has no padding and no background, headings stand at the left.
"""

from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import markdown as rich_markdown
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

CODE_THEME = "ansi_dark"
"""The terminal's own sixteen colours, readable on dark and light."""


def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough, without the two rules that make text invisible."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")


class _Code(rich_markdown.CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default")


class _Heading(rich_markdown.Heading):
    LEVEL_ALIGN: ClassVar[dict[str, Any]] = {}


class _Table(rich_markdown.TableElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                for column in table.columns:
                    column.overflow = "fold"
            yield table


class _Image(rich_markdown.ImageItem):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text.assemble("🖼 ", self.text, f" ({self.destination})", end="")


class Markdown(rich_markdown.Markdown):
    """A piece of Markdown, ready to be drawn by rich. The text must already be safe to print."""

    elements: ClassVar[dict[str, type[rich_markdown.MarkdownElement]]] = {
        **rich_markdown.Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
        "table_open": _Table,
        "image": _Image,
    }

    def __init__(self, markup: str) -> None:
        super().__init__("", code_theme=CODE_THEME, hyperlinks=False)
        self.markup = markup
        self.parsed = parser().parse(markup)
        for token in self.parsed:
            token.children = _without_echoes(token.children or []) or None

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As wide as its longest line, so that a panel around it is not wider."""
        lines = console.render_lines(self, options, pad=False)
        width = max((cell_len("".join(segment.text for segment in line).rstrip()) for line in lines), default=0)
        return Measurement(width, width)

    @property
    def only_code(self) -> str | None:
        """The code, if the whole piece is one code block."""
        code = [token for token in self.parsed if token.type in {"fence", "code_block"}]
        return code[0].content if len(code) == len(self.parsed) == 1 else None

    @property
    def language(self) -> str:
        """The language that the first code block names; empty when it names none."""
        return (self.parsed[0].info.split() or [""])[0] if self.parsed else ""


def _without_echoes(tokens: list[Token]) -> list[Token]:
    """Take away the link around a text that is its own address, so that the address is not shown twice."""
    kept: list[Token] = []
    skip_close = False
    for index, token in enumerate(tokens):
        following = tokens[index + 1].content if index + 1 < len(tokens) else ""
        if token.type == "link_open" and token.markup == "autolink" and following:
            skip_close = True
        elif token.type == "link_close" and skip_close:
            skip_close = False
        else:
            kept.append(token)
    return kept
