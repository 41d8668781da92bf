"""A pseudo-terminal that is judged by what is on its screen, never by escape codes."""

import json
import re
import runpy
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from ...forkserver import ForkedSpawn, ForkServer  # noqa: TID252

DEADLINE = 90.0
"""Seconds that anything may take on a loaded machine."""
PROGRAM = Path(__file__).with_name("played.py")
MARK = re.compile(r"m\d{5}e")


class Screen(pyte.Screen):
    """A screen that keeps the rows that leave it at the top."""

    def __init__(self, columns: int, rows: int) -> None:
        self.top: list[Mapping[int, Any]] = []
        super().__init__(columns, rows)

    def index(self) -> None:
        first, last = self.margins or (0, self.lines - 1)
        if self.cursor.y == last:
            self.top.append(self.buffer[first])
        super().index()

    def row(self, cells: Mapping[int, Any]) -> str:
        """The text of a row."""
        return "".join(cells[x].data for x in range(self.columns)).rstrip()


class Terminal:
    """A program on a pseudo-terminal of 100 x 30 cells: type into it, look at its screen and scrollback."""

    def __init__(
        self,
        *command: str,
        environ: dict[str, str],
        cwd: Path,
        columns: int = 100,
        rows: int = 30,
        forkserver: ForkServer | None = None,
    ) -> None:
        """Without a fork server the command itself is started."""
        self.screen = Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.received = bytearray()
        self.past: list[str] = []
        self.rows: dict[int, str] = {}
        options: dict[str, Any] = {"env": environ, "cwd": cwd, "dimensions": (rows, columns)}
        if forkserver:
            self.child = ForkedSpawn(forkserver, list(command), **options)
            self.before: list[object] = self.child.attributes
        else:
            self.child = pexpect.spawn(command[0], list(command[1:]), **options)
            self.before = termios.tcgetattr(self.child.child_fd)
        self.child.delaybeforesend = None

    def type(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys.encode())

    def read(self, timeout: float = 0.05) -> bool:
        """Show what the program wrote; tell whether it is still there."""
        try:
            data = self.child.read_nonblocking(65536, timeout)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.received += data
        self.stream.feed(data)
        return True

    def press(self, key: str, *, until: Callable[[], object]) -> None:
        """Press a key again and again until a condition holds, looking after each time."""
        deadline = time.monotonic() + DEADLINE
        while not until():
            assert time.monotonic() < deadline, "\n".join(self.lines()[-40:])
            self.type(key)
            self.read(0.2)

    def wait(self, reached: Callable[[], object], what: str = "") -> None:
        """Read until a condition holds."""
        deadline = time.monotonic() + DEADLINE
        while not reached():
            if not self.read() and not reached():
                raise AssertionError(f"the program ended before {what or reached}:\n" + "\n".join(self.lines()))
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain for {what or reached}:\n" + "\n".join(self.lines()[-40:]))

    def wait_for(self, text: str) -> None:
        """Read until a text is on the screen or in the scrollback."""
        self.wait(lambda: text in self.text(), text)

    def end(self) -> int:
        """Read until the program has ended; its exit code, negative for a signal."""
        deadline = time.monotonic() + DEADLINE
        while self.read():
            assert time.monotonic() < deadline, "the program does not end"
        self.child.wait()
        return int(-self.child.signalstatus if self.child.exitstatus is None else self.child.exitstatus)

    def resize(self, columns: int, rows: int = 30) -> None:
        """Change the size as a terminal without reflow does: rows above the cursor that do not fit become history."""
        screen = self.screen
        up = max(screen.cursor.y + 1 - rows, 0)
        screen.top.extend(screen.buffer[y] for y in range(up))
        kept = {y - up: screen.buffer[y] for y in range(up, screen.lines) if y - up < rows}
        screen.buffer.clear()
        screen.buffer.update(kept)
        screen.cursor.y -= up
        screen.lines = rows
        screen.resize(rows, columns)
        screen.dirty.update(range(rows))
        self.child.setwinsize(rows, columns)

    def visible(self) -> list[str]:
        """The rows on the screen."""
        screen = self.screen
        for y in screen.dirty:
            self.rows[y] = screen.row(screen.buffer[y])
        screen.dirty.clear()
        return [self.rows[y] for y in range(screen.lines)]

    def lines(self) -> list[str]:
        """The scrollback and the screen, one string a row."""
        self.past += map(self.screen.row, self.screen.top[len(self.past) :])
        return self.past + self.visible()

    def text(self) -> str:
        """All rows, as one text."""
        return "\n".join(self.lines())

    def marks(self) -> list[str]:
        """The marks of the document lines, in the order they stand there."""
        return MARK.findall(self.text())

    @property
    def attributes(self) -> list[object]:
        """The attributes of the terminal now."""
        return termios.tcgetattr(self.child.child_fd)


class Scene(Terminal):
    """The program `played.py` in a terminal, with what was reported to it."""

    def __init__(self, notes: Path, scene: str, *arguments: str, **options: Any) -> None:
        self.notes = notes
        environ = {"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
        super().__init__(str(PROGRAM), scene, str(notes), *arguments, environ=environ, cwd=notes.parent, **options)
        self.wait_for("ready when you are")
        self.wait(lambda: any(row.startswith("›") for row in self.visible()), "the input line")

    def reports(self, kind: str | None = None) -> list[list[object]]:
        """What was reported up to now, or the values of one kind."""
        noted = [json.loads(line) for line in self.notes.read_text().splitlines()] if self.notes.exists() else []
        return noted if kind is None else [note[1:] for note in noted if note[0] == kind]

    def wait_report(self, *report: object) -> None:
        """Read until this was reported."""
        self.wait(lambda: list(report) in self.reports(), f"the report {report}")


@pytest.fixture(scope="session")
def expected_marks() -> Callable[[int], list[str]]:
    """The marks that a streamed document of so many lines has, in order."""
    document = runpy.run_path(str(PROGRAM))["document"]
    return lambda lines: MARK.findall("\n".join(document(lines)))


@pytest.fixture
def play(tmp_path: Path, forkserver: ForkServer) -> Iterator[Callable[..., Scene]]:
    """Start a scene in a terminal; it is ended with the test."""
    started: list[Scene] = []

    def start(scene: str = "talk", *arguments: str, **size: int) -> Scene:
        notes = tmp_path / f"notes{len(started)}"
        started.append(Scene(notes, scene, *arguments, forkserver=forkserver, **size))
        return started[-1]

    yield start
    for scene in started:
        scene.child.close(force=True)
