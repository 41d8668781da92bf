"""The write lock: one process at a time writes a database file.

SQLite's own waiting is a sleep lottery that starves processes; the kernel's `flock` is not, and it is freed when its
process dies. It guards every write transaction and every checkpoint, so that the two never overlap.
"""

import fcntl
import os
import queue
import threading
from pathlib import Path
from types import TracebackType

from kesoku.errors import StoreLocked
from kesoku.store.failure import Failures

_NUMBER = 8
"""Bytes of the number that the lock file holds."""
_MOST = 1 << 40
"""A number that is not ours counts as a very long log."""


class WriteLock:
    """An exclusive `flock` on `path`, entered by one thread. The file tells the next holder how long the log is.

    Entering waits `patience` seconds and then raises StoreLocked. `flock` itself knows no time-out, so a thread waits
    in its place, the same one each time; if it gets the lock when nobody wants it any more, it gives it back.
    """

    def __init__(self, path: Path, *, failures: Failures) -> None:
        self._failures = failures
        with failures:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._state = threading.Condition()
        self._queued = self._wanted = self._held = False
        self._waiter: threading.Thread | None = None
        self._waits: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def __enter__(self) -> None:
        with self._failures, self._state:
            if not self._queued and self._try():
                return
            self._wanted = True
            if not self._queued:
                self._queued = True
                self._send()
            self._state.wait_for(lambda: self._held, self._failures.patience)
            self._wanted = False
            if not self._held:
                raise StoreLocked(path=self._failures.path, seconds=self._failures.patience)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._state:
            self._held = False
            fcntl.flock(self._file, fcntl.LOCK_UN)

    @property
    def log_bytes(self) -> int:
        """Bytes of the write-ahead log that wait for a checkpoint. Only the holder may ask and set it."""
        with self._failures:
            return min(_MOST, int.from_bytes(os.pread(self._file, _NUMBER, 0), "big"))

    @log_bytes.setter
    def log_bytes(self, size: int) -> None:
        with self._failures:
            os.pwrite(self._file, size.to_bytes(_NUMBER, "big"), 0)

    def close(self) -> None:
        """Let go of the file, unless a thread still waits on it."""
        with self._state:
            self._waits.put(False)
            if not self._queued:
                os.close(self._file)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._held = True
        return True

    def _send(self) -> None:
        if self._waiter is None:
            self._waiter = threading.Thread(target=self._wait, name="store-lock", daemon=True)
            self._waiter.start()
        self._waits.put(True)

    def _wait(self) -> None:
        while self._waits.get():
            fcntl.flock(self._file, fcntl.LOCK_EX)
            with self._state:
                self._queued = False
                self._held = self._wanted
                if self._held:
                    self._state.notify()
                else:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
