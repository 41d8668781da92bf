"""Write to the terminal in whole frames, and never wait for it.

A frame is everything that changes at once. It is sent between the two marks of synchronised output (private mode
2026), so a terminal that knows them never shows half of it. The terminal is written through a handle of its own that
does not block: a slow or stopped terminal holds up neither the input nor the rest of the program.
"""

import asyncio
import contextlib
import math
import os
import select
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import BaseStyle

BEGIN = "\x1b[?2026h"
END = "\x1b[?2026l"
RESET = END + "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m"
"""Ends a frame, bracketed paste and colours, wraps lines again and shows the cursor: how a shell expects a terminal."""

FULL = 64 * 1024
"""Bytes of one frame on a terminal that keeps up."""
LEAST = 1024
"""Bytes of one frame on any terminal."""
INTERVAL = 1 / 30
"""Seconds between frames on a terminal that keeps up."""
SLOW_INTERVAL = 0.1
"""Seconds between frames on a slow one."""
SHARE = 0.7
"""The part of a slow terminal's rate that frames may use; the rest is for what is typed."""
TRUST = 3.0
"""Seconds after which a measured rate is doubted: it is doubled each second from then on."""
STOPPED = 0.5
"""Seconds without a byte taken that mean that a terminal was stopped, as in its copy mode, and not slow."""
STALL = 3.0
"""Seconds that the end of the program waits for a terminal that takes nothing."""
RACE = 0.01
"""Seconds in which a frame may have met a terminal that was narrower already, and cut its rows instead of wrapping."""


class Pace:
    """How much the next frame may carry, learned from how fast the terminal took what had piled up. All in seconds."""

    def __init__(self) -> None:
        self._rate = math.inf  # bytes a second
        self._measured = -math.inf
        self._since: float | None = None
        self._bytes = 0
        self._last = 0.0

    def blocked(self, now: float) -> None:
        """The terminal takes no more at this moment."""
        if self._since is None:
            self._since, self._bytes, self._last = now, 0, now

    def sent(self, count: int, now: float) -> None:
        """The terminal took some bytes. One that had stopped says nothing about its rate by that."""
        if now - self._last > STOPPED:
            self._since, self._bytes = self._since and now, 0
        else:
            self._bytes += count
        self._last = now

    def freed(self, now: float) -> None:
        """Everything that waited is written."""
        if self._since is None:
            return
        took, self._since = now - self._since, None
        if took > INTERVAL:
            self._rate, self._measured = self._bytes / took, now

    def _usable(self, now: float) -> float:
        age = now - self._measured - TRUST
        return self._rate if age < 0 or math.isinf(age) else self._rate * 2 ** min(age, 60)

    def is_slow(self, now: float) -> bool:
        """Whether a full frame would pile up."""
        return self._usable(now) * SLOW_INTERVAL * SHARE < FULL

    def interval(self, now: float) -> float:
        """Seconds until the next frame."""
        return SLOW_INTERVAL if self.is_slow(now) else INTERVAL

    def budget(self, now: float) -> int:
        """Bytes for the next frame."""
        return max(int(self._usable(now) * SLOW_INTERVAL * SHARE), LEAST) if self.is_slow(now) else FULL


class FrameOutput(Vt100_Output):
    """prompt_toolkit's output, gathered in frames. Inside `attached` it never waits for the terminal."""

    def __init__(self, stdout: TextIO, *, term: str | None, color: bool) -> None:
        depth = None if color else ColorDepth.DEPTH_1_BIT
        super().__init__(stdout, self._terminal_size, term, depth, enable_bell=False, enable_cpr=False)
        self.pace = Pace()
        self._depth = 0
        self._queue = bytearray()
        self.last_flush = -math.inf
        """When the last frame was sent, in seconds of the monotonic clock."""
        self._handle = stdout.fileno()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_drained: Callable[[], None] = lambda: None

    def _terminal_size(self) -> Size:
        try:
            columns, rows = os.get_terminal_size(self.stdout.fileno())
        except OSError:
            columns, rows = 0, 0
        return Size(rows=rows or 24, columns=columns or 80)

    @contextlib.contextmanager
    def attached(self, on_drained: Callable[[], None]) -> Iterator[None]:
        """Write without waiting, in the running event loop; `on_drained` is called when a jam has cleared."""
        fd = self._handle
        self._on_drained = on_drained
        try:
            self._handle = os.open(os.ttyname(fd), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:  # no name for this terminal here: then writes may wait
            self._handle = os.dup(fd)
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._loop.remove_writer(self._handle)
            self._loop = None
            self.drain()
            os.close(self._handle)
            self._handle = fd

    @contextlib.contextmanager
    def frame(self) -> Iterator[None]:
        """Hold back what is written until the outermost frame ends; then send it at once."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self.flush()

    @property
    def jammed(self) -> bool:
        """Whether something still waits for the terminal."""
        return bool(self._queue)

    def disable_bracketed_paste(self) -> None:
        """Leave it on between frames, or a paste could arrive as single keys; `RESET` ends it."""

    def flush(self) -> None:
        """Send the gathered text, unless a frame is open."""
        if self._depth or not self._buffer:
            return
        text = BEGIN + "".join(self._buffer) + END
        self.last_flush = time.monotonic()
        self._buffer.clear()
        self._queue += text.encode("utf-8", "replace")
        if self._loop is None:
            self.drain()
        else:
            self._pump()

    def drain(self) -> None:
        """Wait until all is written. What a terminal that has stopped for `STALL` seconds did not take is dropped."""
        while self._queue and select.select([], [self._handle], [], STALL)[1]:
            self._write()
        self._queue.clear()

    def _write(self) -> bool:
        """Write what the terminal takes; tell whether it may take more. A terminal that is gone takes everything."""
        try:
            sent = os.write(self._handle, self._queue[:FULL])
        except BlockingIOError:
            return False
        except OSError:
            self._queue.clear()
            return True
        self.pace.sent(sent, time.monotonic())
        del self._queue[:sent]
        return True

    def _pump(self) -> None:
        while self._queue:
            if not self._write():
                self.pace.blocked(time.monotonic())
                if self._loop is not None:
                    self._loop.add_writer(self._handle, self._unjam)
                return

    def _unjam(self) -> None:
        self._pump()
        if not self._queue and self._loop is not None:
            self._loop.remove_writer(self._handle)
            self.pace.freed(time.monotonic())
            self._on_drained()


class ReflowRenderer(Renderer):
    """prompt_toolkit's renderer, each drawing one frame, aware that terminals wrap old rows when they get narrower.

    Reads two private names of `Renderer`; the version of prompt_toolkit is pinned for that, and a test resizes.
    """

    def __init__(self, style: BaseStyle, output: FrameOutput, *, reflows: bool) -> None:
        self._frames = output
        self._reflows = reflows
        super().__init__(style, output, full_screen=False, mouse_support=False)

    def render(self, app: Application[None], layout: Layout, is_done: bool = False) -> None:
        """Draw the difference to the last drawing, or all of it when the width or the number of rows calls for that."""
        with self._frames.frame():
            if self._is_outgrown(layout):
                self.erase(leave_alternate_screen=False)
            super().render(app, layout, is_done)

    def _is_outgrown(self, layout: Layout) -> bool:
        """Whether the last drawing cannot be the ground of the next: other columns, or rows too many."""
        if self._last_screen is None or self._last_size is None:
            return False
        size = self._frames.get_size()
        rows = layout.container.preferred_height(size.columns, size.rows).preferred
        return size.columns != self._last_size.columns or rows < self._last_screen.height

    def erase(self, leave_alternate_screen: bool = True) -> None:
        """Remove the drawing, also where the terminal has wrapped its rows since."""
        with self._frames.frame():
            settled = time.monotonic() - self._frames.last_flush > RACE
            if self._reflows and self._last_size is not None and settled:
                self._frames.cursor_up(self._wrapped_rows(self._last_size.columns, self._frames.get_size().columns))
            super().erase(leave_alternate_screen)

    def _wrapped_rows(self, before: int, now: int) -> int:
        """How many rows more there are above the cursor since the terminal got narrower."""
        if self._last_screen is None or now >= before:
            return 0
        rows, cursor = self._last_screen.data_buffer, self._cursor_pos
        ends = [max((x for x, cell in rows[y].items() if cell.char.strip()), default=0) for y in range(cursor.y + 1)]
        # Behind the end of its row the cursor does not wrap with it everywhere; a row too few erased is no loss.
        ends[-1] = min(ends[-1], cursor.x)
        return sum(end // now for end in ends)


def reflows(environ: Mapping[str, str]) -> bool:
    """Whether the terminal wraps its old rows when it gets narrower; xterm, screen and the Linux console cut them."""
    if "TMUX" in environ:
        return True
    term = environ.get("TERM", "")
    return "XTERM_VERSION" not in environ and not term.startswith(("linux", "screen"))
