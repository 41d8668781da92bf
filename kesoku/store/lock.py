"""The turnstile: one process at a time writes a database file.

SQLite's own waiting is a sleep lottery that starves processes; the kernel's `flock` is not, and it is freed when its
process dies. It guards every write transaction and every checkpoint, so that the two never overlap.
"""

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType

from kesoku.errors import StoreLocked
from kesoku.store.failure import Failures


class Turnstile:
    """An exclusive `flock` on `path`, entered by one thread.

    Entering waits `patience` seconds and then raises StoreLocked. `flock` itself knows no time-out, so a thread waits
    in its place; if it gets the lock when nobody wants it any more, it gives it back.
    """

    def __init__(self, path: Path, *, failures: Failures) -> None:
        self._failures = failures
        with failures:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._state = threading.Condition()
        self._queued = self._wanted = self._held = False

    def __enter__(self) -> None:
        with self._failures, self._state:
            if not self._queued and self._try():
                return
            self._wanted = True
            if not self._queued:
                self._queued = True
                threading.Thread(target=self._wait, name="store-lock", daemon=True).start()
            self._state.wait_for(lambda: self._held, self._failures.patience)
            self._wanted = False
            if not self._held:
                raise StoreLocked(path=self._failures.path, seconds=self._failures.patience)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._state:
            self._held = False
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the file, unless a thread still waits on it."""
        with self._state:
            if not self._queued:
                os.close(self._file)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._held = True
        return True

    def _wait(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._state:
            self._queued = False
            self._held = self._wanted
            if self._held:
                self._state.notify()
            else:
                fcntl.flock(self._file, fcntl.LOCK_UN)
