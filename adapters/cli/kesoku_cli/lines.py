"""Line input and appended output, for the front ends that redraw nothing."""

import asyncio
import codecs
import contextlib
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import BinaryIO, TextIO

from kesoku_cli.frontend import Listener
from kesoku_cli.interrupt import Interrupts, Press


async def lines(fd: int) -> AsyncIterator[str]:
    """The lines of a descriptor as UTF-8, without their ends; the last may lack one. Wrong bytes become U+FFFD.

    A thread waits in the operating system's read: files cannot be waited for in an event loop, and a buffered reader
    left waiting would hold a lock at the end of the program.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(fd, 65536)
            except OSError:  # a terminal that hung up
                chunk = b""
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the loop is closed: nobody reads any more
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest: list[str] = []
    while chunk := await chunks.get():
        *whole, last = decoder.decode(chunk).split("\n")
        for line in whole:
            yield ("".join(rest) + line).removesuffix("\r")
            rest.clear()
        rest.append(last)
    if final := "".join(rest) + decoder.decode(b"", True):
        yield final


class LineInput:
    """Reads messages from `stdin`, one a line, until `close`; None when they come from elsewhere. Watches Ctrl-C."""

    def __init__(self, stdin: TextIO | None) -> None:
        self._stdin = stdin
        self._closed = asyncio.Event()
        self._interrupts = Interrupts()
        self.is_terminal = stdin is not None and stdin.isatty()
        self.busy = False
        """Whether a turn runs, for the meaning of Ctrl-C."""

    def close(self) -> None:
        """Let `run` return."""
        self._closed.set()

    async def run(self, listener: Listener, *, taken: Callable[[str], bool], warn: Callable[[str], None]) -> None:
        """Report each line that `taken` does not take itself; `warn` says something to the person."""
        with self._ctrl_c(listener, warn):
            reading = asyncio.ensure_future(self._read(listener, taken))
            closed = asyncio.ensure_future(self._closed.wait())
            await asyncio.wait([reading, closed], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            await closed
        reading.cancel()

    async def _read(self, listener: Listener, taken: Callable[[str], bool]) -> None:
        if self._stdin is None:
            return
        async for line in lines(self._stdin.fileno()):
            if not taken(line) and line.strip():
                listener.submitted(line)
        if self.is_terminal:
            listener.left()
        else:
            listener.ended()

    @contextlib.contextmanager
    def _ctrl_c(self, listener: Listener, warn: Callable[[str], None]) -> Iterator[None]:
        def pressed() -> None:
            press = self._interrupts.press(time.monotonic(), self.busy)
            if press is Press.INTERRUPT:
                listener.interrupted()
            elif press is Press.LEAVE or not self.is_terminal:
                listener.left()
            else:
                warn("Ctrl-C again leaves")

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, pressed)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)


class Appender:
    """Appends text to a stream. When its reader is gone the rest goes nowhere, and `on_gone` is called once."""

    def __init__(self, out: BinaryIO, encoding: str = "utf-8") -> None:
        self._out, self._encoding = out, encoding
        self.on_gone: Callable[[], None] = lambda: None
        self.at_line_start = True

    def write(self, text: str) -> None:
        """Write the text; characters that the encoding lacks become a question mark."""
        if not text:
            return
        self.at_line_start = text.endswith("\n")
        try:
            self._out.write(text.encode(self._encoding, "replace"))
            self._out.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._out.fileno())
            os.close(nowhere)
            self.on_gone()
