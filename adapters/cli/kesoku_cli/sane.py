"""Give the terminal back as it was, whatever ends the program."""

import atexit
import contextlib
import os
import select
import signal
import termios
import threading
from collections.abc import Iterator
from types import FrameType

DEADLY = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that end a program and that nobody may have taken care of."""


@contextlib.contextmanager
def restored(stdin: int, stdout: int, reset: str) -> Iterator[None]:
    """Save the attributes of the terminal at `stdin`; put them back and write `reset` on every way out.

    A signal that the program does not handle itself still ends it, just after that. Signals can be watched from the
    main thread only.
    """
    saved = termios.tcgetattr(stdin)

    def restore() -> None:
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(stdin, termios.TCSANOW, saved)
            if select.select([], [stdout], [], 0.2)[1]:
                os.write(stdout, reset.encode())

    def die(number: int, _frame: FrameType | None) -> None:
        restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    main = threading.current_thread() is threading.main_thread()
    watched = [number for number in DEADLY if main and signal.getsignal(number) is signal.SIG_DFL]
    for number in watched:
        signal.signal(number, die)
    atexit.register(restore)
    try:
        yield
    finally:
        restore()
        atexit.unregister(restore)
        for number in watched:
            if signal.getsignal(number) is die:
                signal.signal(number, signal.SIG_DFL)
