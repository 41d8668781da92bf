"""Starts the processes of the crash kit: a program that has everything imported, and forks.

A process starts within a few milliseconds, and shares no thread and no connection with another one. The server ends
with the program that started it, and every process ends with the server, also one that is stopped.
"""

import gc
import os
import signal
import subprocess
import sys
from collections import deque
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Self

from kesoku.testing.crash.actor import ProcessSpec
from kesoku.testing.crash.process import run_process


class ForkServer:
    """The client's side of it. A context manager: leaving it ends the server and every process."""

    def __enter__(self) -> Self:
        self._line, theirs = Pipe()
        self._ended: deque[tuple[int, int]] = deque()
        with theirs:
            program = f"import sys; sys.path[:] = {sys.path}; from {__name__} import serve; serve({theirs.fileno()})"
            self._program = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", program], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.close()
        self._program.wait()

    def start(self, spec: ProcessSpec) -> int:
        """Start a process; returns its pid."""
        self._line.send(spec)
        while True:
            pid, code = self._line.recv()
            if code is None:
                return int(pid)
            self._ended.append((pid, code))

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal, unless the process ended: only the server, their parent, knows that for sure."""
        self._line.send((pid, number))

    def ended(self, seconds: float) -> list[tuple[int, int]]:
        """(pid, exit code) of processes that ended; waits so long for a first one. A signal is a negative code."""
        while self._line.poll(0 if self._ended else seconds):
            pid, code = self._line.recv()
            if code is None:  # `start` was interrupted before it returned this pid
                self.signal(pid, signal.SIGKILL)
            else:
                self._ended.append((pid, code))
        ended = list(self._ended)
        self._ended.clear()
        return ended


def serve(handle: int) -> None:
    """Fork and reap until the other end of this pipe is closed; then kill every process that runs."""
    line = Connection(handle)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which then closes the pipe
    gc.freeze()
    running: set[int] = set()
    try:
        while True:
            ready = wait([line, woken])
            if woken in ready:
                os.read(woken, 4096)
                _reap(line, running)
            if line in ready:
                match line.recv():
                    case (pid, number) if pid in running:
                        os.kill(pid, number)
                    case ProcessSpec() as spec:
                        running.add(_fork(line, spec))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        for pid in running:
            os.kill(pid, signal.SIGKILL)
        for pid in running:
            os.waitpid(pid, 0)


def _fork(line: Connection, spec: ProcessSpec) -> int:
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        line.close()
        run_process(spec)
    line.send((pid, None))
    return pid


def _reap(line: Connection, running: set[int]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        running.discard(pid)
        line.send((pid, os.waitstatus_to_exitcode(status)))
