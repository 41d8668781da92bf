"""Draw what is said as lines with ANSI colours, as wide as the terminal. Pure: nothing is written here.

All text of models, tools and people goes through `visible` before it is laid out, and once more after it: Markdown can
bring a control character back by an entity. So only the drawing's own escape codes reach the terminal.
"""

import re
from collections.abc import Iterable
from io import StringIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from kesoku.render import printable_name, visible
from kesoku_cli.blocks import Block
from kesoku_cli.fold import folded
from kesoku_cli.markdown import Markdown

LIVE_LINES = 12
"""Lines of unfinished code or an unfinished table that are drawn; a few more than there are rows for it."""


class _Safe:
    """Draws another renderable without any control character of its own."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            if not segment.control:
                yield Segment(visible(segment.text), segment.style)


class View:
    """Draws for a terminal of `columns`; one column stays free. `color` off leaves plain text."""

    def __init__(self, *, columns: int, color: bool) -> None:
        self.columns = columns
        self._out = StringIO()
        self._console = Console(
            file=self._out,
            force_terminal=True,
            force_interactive=False,
            color_system="standard" if color else None,
            width=max(columns - 1, 8),
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            _environ={},
        )

    def _ansi(self, renderable: RenderableType, *, unwrapped: bool = False) -> str:
        self._console.print(_Safe(renderable), soft_wrap=unwrapped)
        drawn = self._out.getvalue()
        self._out.seek(0)
        self._out.truncate()
        return "".join(line.rstrip(" ") + "\n" for line in drawn.split("\n")[:-1])

    def block(self, block: Block) -> str:
        """One block of an answer; an empty line stands before it unless it is joined to the block before."""
        document = Markdown(visible(block.markdown))
        if (code := document.only_code) is not None:
            drawn = self._ansi(_highlighted(code, document.language), unwrapped=True)
        else:
            drawn = self._ansi(document)
        drawn = _without_blank_ends(drawn)
        return drawn if block.joined or not drawn else "\n" + drawn

    def live(self, block: Block) -> str:
        """The unfinished block as it stands, without the empty line; of code and tables only the end is drawn."""
        lines = visible(block.markdown).lstrip("\n").split("\n")
        if lines[0].lstrip().startswith(("```", "~~~", "|")) and len(lines) > LIVE_LINES:
            lines = lines[:2] + lines[2 - LIVE_LINES :]
        return _without_blank_ends(self._ansi(Markdown("\n".join(lines))))

    def thought(self, text: str) -> str:
        """A thought in a cyan panel (K-162, K-198)."""
        return self._panel(Text("thought"), Markdown(visible(text)), "cyan")

    def live_thought(self, text: str) -> str:
        """The thought that is being formed."""
        return self._ansi(Text(visible(text), style="cyan"))

    def call(self, name: str, summary: str) -> str:
        """A tool call in a yellow panel (K-162, K-202)."""
        shown, more = folded(visible(summary))
        return self._panel(Text(f"call {printable_name(name)}"), _with_rest(shown, more), "yellow")

    def result(self, name: str, text: str, *, failed: bool) -> str:
        """A tool result in a magenta panel (K-162, K-206); a failed one has a cross in red."""
        shown, more = folded(visible(text))
        title = Text.assemble(("✗ ", "bold red") if failed else ("✓ ", "green"), printable_name(name))
        if failed:
            title.append(" failed", style="bold red")
        return self._panel(title, _with_rest(shown, more), "magenta")

    def notice(self, text: str) -> str:
        """A notice: dim, on its own lines (K-210)."""
        return "\n" + self._ansi(_marked("· ", visible(text), "dim"))

    def error(self, text: str) -> str:
        """An error: a red panel."""
        return self._panel(Text("error", style="bold red"), Text(visible(text)), "red")

    def prompt(self, text: str, author: str | None) -> str:
        """A message to the bot, as it was sent."""
        sign = f"{printable_name(author)} › " if author else "› "
        return "\n" + self._ansi(_marked(sign, visible(text), "bold"))

    def metrics(self, line: str) -> str:
        """The figures of the turn, under its answer."""
        return self._ansi(Text(line, style="dim"))

    def file(self, name: str, place: str) -> str:
        """A file that came with an answer (K-194)."""
        line = Text.assemble(("file ", "bold"), visible(name).replace("\n", " "), " ", (visible(place), "dim"))
        return self._ansi(line, unwrapped=True)

    def question(self, text: str) -> str:
        """A question, as it stays in the scrollback."""
        return "\n" + self._ansi(_marked("? ", visible(text), "bold yellow"))

    def choices(self, keys: Iterable[tuple[str, str]]) -> str:
        """The keys that answer a question, each with what it means."""
        return self._ansi(Text("  ").join(Text.assemble((f"[{key}]", "bold"), f" {label}") for key, label in keys))

    def _panel(self, title: Text, body: RenderableType, style: str) -> str:
        panel = Panel(body, title=title, title_align="left", border_style=style, expand=False, padding=(0, 1))
        return "\n" + self._ansi(panel)


_BLANK = r"(?:(?:\x1b\[[0-9;]*m|[ ])*\n)"


def _without_blank_ends(drawn: str) -> str:
    """The lines without the empty ones at the beginning and at the end."""
    return re.sub(rf"\A{_BLANK}+|(?<=\n){_BLANK}+\Z", "", drawn)


def _highlighted(code: str, language: str) -> Text:
    """Code in the terminal's own sixteen colours, its lines as long as they are: they copy as they were written."""
    syntax = Syntax("", language or "text", theme="ansi_dark", background_color="default")
    text = syntax.highlight(code)
    text.rstrip()
    return text


def _marked(sign: str, text: str, style: str) -> Text:
    """A text with a sign before its first line, the others indented alike."""
    return Text(sign + text.replace("\n", "\n" + " " * len(sign)), style=style)


def _with_rest(shown: str, more: str) -> RenderableType:
    return Group(Text(shown), Text(more, style="dim italic")) if more else Text(shown)
