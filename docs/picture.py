"""Take the README's picture: run a real `kesoku chat` in a pseudo-terminal and draw what the screen shows.

Usage: python docs/picture.py [docs/pictures/turn.svg]
"""

import io
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pexpect
import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS, ROWS = 92, 40
KEYS = (
    ("think about the sea", "For real answers"),
    ("what is 6 * 7?", "says: 42"),
    ("run ls -1 tests", "May I run"),
    ("y", "run_shell_command says:"),
)
_SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", "Menlo", "Consolas", monospace; font-size: {char_height}px;
line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main(target: Path) -> None:
    """Write the picture."""
    screen = pyte.HistoryScreen(COLUMNS, ROWS, history=1000)
    stream = pyte.Stream(screen)
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "HOME": home, "LANG": "C.UTF-8"}
        kesoku = str(Path(sys.executable).with_name("kesoku"))
        chat = pexpect.spawn(
            kesoku, ["chat"], env=environment, dimensions=(ROWS, COLUMNS), encoding="utf-8", timeout=20
        )
        follow(chat, stream, screen, "›")
        for keys, awaited in KEYS:
            chat.send(keys if len(keys) == 1 else f"{keys}\r")
            follow(chat, stream, screen, awaited)
        chat.sendeof()
        chat.expect(pexpect.EOF)
        chat.close()
    console = Console(width=COLUMNS, record=True, file=io.StringIO())
    for line in trimmed(screen):
        console.print(line, no_wrap=True, overflow="crop")
    target.parent.mkdir(parents=True, exist_ok=True)
    console.save_svg(str(target), title="kesoku chat", theme=MONOKAI, code_format=_SVG)


def follow(chat: "pexpect.spawn[str]", stream: pyte.Stream, screen: pyte.HistoryScreen, awaited: str) -> None:
    """Feed the screen until it has shown what is awaited for a moment."""
    deadline, shown = time.monotonic() + 20, 0.0
    while time.monotonic() < deadline:
        with suppress(pexpect.TIMEOUT):
            stream.feed(chat.read_nonblocking(65536, timeout=0.1))
        if awaited not in "\n".join(screen.display):
            continue
        shown = shown or time.monotonic()
        if time.monotonic() - shown > 1.0:
            return
    raise SystemExit(f"the screen never showed {awaited!r}:\n" + "\n".join(screen.display))


def trimmed(screen: pyte.HistoryScreen) -> list[Text]:
    """Everything that was printed, without the empty end."""
    rows = [*screen.history.top, *(screen.buffer[number] for number in range(screen.lines))]
    lines = [drawn(row) for row in rows]
    while lines and not lines[-1].plain.strip():
        lines.pop()
    return lines


def drawn(row: "dict[int, pyte.screens.Char]") -> Text:
    """One row of the screen as styled text."""
    text = Text()
    for column in range(COLUMNS):
        cell = row[column]
        colour = (
            None if cell.fg == "default" else (f"#{cell.fg}" if len(cell.fg) == 6 else _NAMES.get(cell.fg, cell.fg))
        )
        text.append(cell.data, Style(color=colour, bold=cell.bold, italic=cell.italics, underline=cell.underscore))
    text.rstrip()
    return text


_NAMES = {"brown": "yellow", "brightblack": "bright_black", "brightbrown": "bright_yellow"} | {
    f"bright{name}": f"bright_{name}" for name in ("red", "green", "blue", "magenta", "cyan", "white")
}


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/turn.svg"))
