"""The part of the terminal that is redrawn: unfinished text, a question, what runs, and the input line.

Everything finished is written once above it and belongs to the terminal's own scrollback. One painter task draws at
most 30 frames a second, and nothing while nothing changes. Keys are read at all times.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.styles import DummyStyle

from kesoku_cli.frames import RESET, FrameOutput, ReflowRenderer, reflows
from kesoku_cli.interrupt import WINDOW, Interrupts, Press
from kesoku_cli.sane import restored
from kesoku_cli.typed import Marks, healed

PROMPT = "› "
INPUT_ROWS = 6
"""Rows of the input line at most; longer texts scroll in it."""
LIVE_ROWS = 8
"""Rows of unfinished text at most, and no more than a third of the terminal."""
SMALL = 12
"""Rows of a terminal that has none to spare for an empty one."""
SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK = 0.1
"""Seconds between two pictures of the spinner."""
QUIET = 0.5
"""Seconds without a key before a question takes one: what someone is typing must not answer it."""
LEFTOVER = 64 * 1024
"""Characters still shown to a person who leaves while text waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question as drawn while it waits for the keyboard to be quiet, as drawn when it takes a key, and its keys."""

    waiting: str
    ready: str
    keys: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """What the screen reports. All are called in its event loop and must return at once."""

    submit: Callable[[str], None]
    interrupt: Callable[[], None]
    leave: Callable[[], None]
    answer: Callable[[str], None]
    """One of the keys of the question was pressed."""
    frame: Callable[[], None]
    """A frame is about to be drawn: bring `commit`, `live` and `ask` up to date now."""


class Screen:
    """Owns the terminal at stdin and stdout while `run` runs."""

    def __init__(
        self,
        *,
        stdin: TextIO,
        stdout: TextIO,
        environ: Mapping[str, str],
        color: bool,
        history: Sequence[str] = (),
    ) -> None:
        self._stdin = stdin
        self._output = FrameOutput(stdout, term=environ.get("TERM"), color=color)
        self._backlog: deque[str] = deque()
        self._live: list[str] = []
        self._status, self._status_since = "", 0.0
        self._status_until: float | None = None
        self._hint, self._hint_until = "", 0.0
        self._ask: Ask | None = None
        self._armed = False
        self._last_key = 0.0
        self._interrupts = Interrupts()
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = self._left = False
        self._buffer = Buffer(multiline=True, history=InMemoryHistory(list(history)))
        self._app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=DummyStyle(),
            include_default_pygments_style=False,
            erase_when_done=True,
            min_redraw_interval=0.016,
            terminal_size_polling_interval=None,
            input=Vt100Input(stdin),
            output=self._output,
        )
        self._app.ttimeoutlen, self._app.timeoutlen = 0.05, 0.2
        self._app.renderer = ReflowRenderer(self._app.renderer.style, self._output, reflows=reflows(environ))
        self._app.key_processor.after_key_press += self._key_pressed

    # What the owner calls.

    @property
    def columns(self) -> int:
        """The width of the terminal now."""
        return self._output.get_size().columns

    @property
    def is_behind(self) -> bool:
        """Whether the terminal is too slow for what is written; live text would only be in its way."""
        return self._output.jammed or self._output.pace.is_slow(time.monotonic())

    def wake(self) -> None:
        """Something has changed: draw a frame soon."""
        self._wake.set()

    def commit(self, ansi: str) -> None:
        """Append finished lines, each with its line feed, to the scrollback. They are written once."""
        self._backlog.extend(line + "\n" for line in ansi.split("\n")[:-1])
        self.wake()

    def live(self, ansi: str) -> None:
        """Show the last rows of this text above the input until the next call."""
        self._live = ansi.rstrip("\n").split("\n") if ansi else []
        self.wake()

    def status(self, text: str | None, *, until: float | None = None) -> None:
        """Say what runs, with a spinner and its seconds; None or empty when nothing does.

        `until`, on the monotonic clock, counts them down.
        """
        if (text or "") != self._status:
            self._status, self._status_since = text or "", time.monotonic()
        self._status_until = until
        self.wake()

    def ask(self, ask: Ask | None) -> None:
        """Show a question that a single key answers; what is in the input line stays there. None takes it away."""
        if ask is None or self._ask is None:
            self._armed, self._last_key = False, time.monotonic()
        self._ask = ask
        self.wake()

    def close(self) -> None:
        """End `run` after everything committed is written."""
        self._closed = True
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    async def run(self, handlers: Handlers) -> None:
        """Read keys and draw until `close`, or until the person leaves. An error in a key binding is raised."""
        self._write_backlog()
        if self._closed:
            return
        self._handlers = handlers
        hung_up = False
        with restored(self._stdin.fileno(), self._output.fileno(), RESET):
            with self._output.attached(self.wake), self._errors_end_it():
                try:
                    await self._app.run_async(pre_run=self._start, set_exception_handler=False)
                except EOFError:
                    hung_up = True
            self._write_backlog()
        if hung_up:
            handlers.leave()

    # The painter.

    def _start(self) -> None:
        self._app.create_background_task(self._paint())

    async def _paint(self) -> None:
        while True:
            await self._wake.wait()
            now = time.monotonic()
            if not self._output.jammed:  # else the end of the jam wakes us
                self._handlers.frame()
            self._wake.clear()
            if not self._output.jammed:
                self._draw(now)
            spent = time.monotonic() - now
            await asyncio.sleep(max(self._output.pace.interval(now), 2 * spent))

    def _draw(self, now: float) -> None:
        text = self._next_lines(self._output.pace.budget(now))
        self._arm(now)
        with self._output.frame():
            if text:
                self._app.renderer.erase(leave_alternate_screen=False)
                self._output.write_raw(text)
            self._app.render_counter += 1
            self._app.renderer.render(self._app, self._app.layout)
        if self._backlog:
            self.wake()
        elif self._status:
            self._wake_at(now + TICK)

    def _next_lines(self, budget: int) -> str:
        lines: list[str] = []
        while self._backlog and budget > 0:
            lines.append(self._backlog.popleft())
            budget -= len(lines[-1].encode("utf-8", "replace"))
        return "".join(lines).replace("\n", "\r\n")

    def _write_backlog(self) -> None:
        """Write what still waits, without the region. A person who leaves does not wait for very long texts."""
        lines = self._next_lines(LEFTOVER) if self._left else self._next_lines(2**62)
        if self._backlog:
            lines += f"... {len(self._backlog)} more lines\r\n"
            self._backlog.clear()
        with self._output.frame():
            self._output.write_raw(lines)

    def _wake_at(self, when: float) -> None:
        """Draw again at that time, unless something comes before it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(max(when - time.monotonic(), 0), self.wake)

    def _arm(self, now: float) -> None:
        """Let the question take a key once its text is written and the keyboard has been quiet."""
        if self._ask is None or self._backlog or self._armed:
            return
        self._armed = now - self._last_key >= QUIET
        if not self._armed and not self._status:
            self._wake_at(self._last_key + QUIET)

    @contextlib.contextmanager
    def _errors_end_it(self) -> Iterator[None]:
        """End the application with the error of a callback in its loop; tasks of others keep their own handler."""
        loop = asyncio.get_running_loop()
        previous = loop.get_exception_handler()

        def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if error is None or "future" in context or "task" in context or self._app.is_done:
                if previous is None:
                    loop.default_exception_handler(context)
                else:
                    previous(loop, context)
            else:
                self._app.exit(exception=error)

        loop.set_exception_handler(handle)
        try:
            yield
        finally:
            loop.set_exception_handler(previous)

    # The region.

    def _layout(self) -> Layout:
        live = Window(FormattedTextControl(lambda: ANSI("\n".join(self._live_rows()))), dont_extend_height=True)
        ask = Window(FormattedTextControl(lambda: ANSI(self._ask_text())), dont_extend_height=True, wrap_lines=True)
        status = Window(FormattedTextControl(self._status_text), height=1)
        line = Window(
            BufferControl(self._buffer, input_processors=[TabsProcessor(char1=" ", char2=" "), Marks()]),
            height=Dimension(min=1, max=INPUT_ROWS),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=lambda row, wrapped: PROMPT if row == wrapped == 0 else " " * len(PROMPT),
        )
        rows = [
            ConditionalContainer(Window(height=1), Condition(lambda: self._output.get_size().rows > SMALL)),
            ConditionalContainer(live, Condition(lambda: bool(self._live_rows()))),
            ConditionalContainer(ask, Condition(lambda: self._ask is not None)),
            ConditionalContainer(status, Condition(lambda: bool(self._status_text()))),
            line,
        ]
        return Layout(HSplit(rows), focused_element=line)

    def _live_rows(self) -> list[str]:
        return self._live[-max(min(LIVE_ROWS, self._output.get_size().rows // 3), 1) :] if self._live else []

    def _ask_text(self) -> str:
        if self._ask is None:
            return ""
        return (self._ask.ready if self._armed else self._ask.waiting).rstrip("\n")

    def _status_text(self) -> str:
        now = time.monotonic()
        if now < self._hint_until:
            return self._hint
        if not self._status:
            return ""
        seconds = now - self._status_since
        spin = SPIN[int(seconds / TICK) % len(SPIN)]
        shown = seconds if self._status_until is None else max(self._status_until - now, 0)
        return f"{spin} {self._status} {shown:.0f} s"

    # The keys.

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        keys.add("enter")(lambda event: self._submit())
        keys.add("c-j")(lambda event: self._buffer.newline(copy_margin=False))
        keys.add("escape", "enter")(lambda event: self._buffer.newline(copy_margin=False))
        keys.add("c-c")(lambda event: self._interrupt())
        keys.add("<sigint>")(lambda event: self._interrupt())
        keys.add("c-d", filter=Condition(lambda: not self._buffer.text))(lambda event: self._leave())
        keys.add("c-z")(lambda event: self._suspend())
        keys.add(Keys.Any, filter=Condition(lambda: self._armed))(self._answer)
        return keys

    def _key_pressed(self, _sender: object) -> None:
        if self._ask is not None:
            self._armed, self._last_key = False, time.monotonic()
            self.wake()

    def _submit(self) -> None:
        text = healed(self._buffer.text)
        if text.strip():
            self._buffer.append_to_history()
            self._buffer.reset()
            self._handlers.submit(text)
            self.wake()

    def _answer(self, event: KeyPressEvent) -> None:
        if self._ask is not None and event.data.lower() in self._ask.keys:
            self._handlers.answer(event.data.lower())
        elif event.data.isprintable():
            self._buffer.insert_text(event.data)

    def _interrupt(self) -> None:
        now = time.monotonic()
        press = self._interrupts.press(now, bool(self._status))
        if press is Press.LEAVE:
            self._leave()
            return
        if press is Press.INTERRUPT:
            self._handlers.interrupt()
        elif self._buffer.text:  # it stays within reach: the key up brings it back
            self._buffer.append_to_history()
            self._buffer.reset()
        self._hint, self._hint_until = "Ctrl-C again leaves", now + WINDOW
        self.wake()
        asyncio.get_running_loop().call_later(WINDOW, self.wake)

    def _leave(self) -> None:
        self._left = True
        if self._app.is_running and not self._app.is_done:
            self._app.exit()
        self._handlers.leave()

    def _suspend(self) -> None:
        """Stop like any program on Ctrl-Z, with the terminal in order, and draw anew when it goes on."""
        with self._output.frame():
            self._app.renderer.erase()
            self._output.write_raw(RESET)
        self._output.drain()
        with self._app.input.cooked_mode():
            os.kill(0, signal.SIGTSTP)
        self._app.renderer.reset()
        self._app.invalidate()
