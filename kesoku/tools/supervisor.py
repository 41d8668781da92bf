"""Stands between Kesoku and one command, and ends everything that the command started. A program, not a module to use.

    python -I -S supervisor.py INPUT PROGRAM ARGUMENT...

It runs the command in a session of its own, and exits with the command's code (128 + the number of the signal that
killed it). INPUT is the number of the open file that becomes the command's standard input, or - for an empty one. Its
own standard input is the order to stop: as long as somebody holds the other end, the command may run; end of file ends
it. So the command also ends when Kesoku is killed.

Once the command has ended, or must, every process below it is killed. On Linux that includes those which left the
group, the session or their parent: the supervisor is their "child subreaper" (prctl 36), so each orphan becomes its
child and is found. Elsewhere only the command's process group is killed.

What nobody can promise to an ordinary user: a process that runs as another user (sudo) cannot be killed; one that is
stuck in the kernel ends later; a command may kill its supervisor on purpose (then the command itself is killed by the
kernel, what it started is not); and it may ask a service that runs already to do something. Only limits of the
operating system hold against malice: a user of its own, a container.
"""
# A program that starts before every command imports as little as it can.
# ruff: noqa: PTH112, PTH123, PTH208

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 1.0
"""Seconds after which processes that cannot be killed are given up."""


def main(given: str, *command: str) -> int:
    """Run `command`, wait for its end or for the order to stop, leave nothing behind."""
    for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(polite, signal.SIG_IGN)
    wake = _wake_on_child()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    pid = os.fork()
    if pid == 0:
        _become(command, given)
    status = None
    while status is None:
        ready, _, _ = select.select([0, wake], [], [])
        if 0 in ready:
            break
        os.read(wake, 4096)
        status = _reap().get(pid)
    _end_all(pid)
    return 128 + signal.SIGKILL if status is None else _code(status)


def _wake_on_child() -> int:
    """A descriptor that becomes readable whenever a child has ended."""
    wake, alarm = os.pipe()
    os.set_blocking(alarm, False)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _become(command: tuple[str, ...], given: str) -> None:
    """In the child: a new session, default signals, its input, then the command. 126 or 127 if it cannot be run."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    source = os.open(os.devnull, os.O_RDONLY) if given == "-" else int(given)
    os.set_inheritable(source, False)
    os.dup2(source, 0)
    try:
        os.execvp(command[0], command)  # noqa: S606 - running a command is what this program is for
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _reap() -> dict[int, int]:
    """Collect every child that has ended: pid -> wait status."""
    ended: dict[int, int] = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return ended
            ended[pid] = status
    except ChildProcessError:
        return ended


def _end_all(group: int) -> None:
    """Kill until there is no child left; an orphan becomes a child, so no child means no descendant."""
    _kill(-group)
    patience = time.monotonic() + _PATIENCE
    while _has_children() and time.monotonic() < patience:
        for pid in _descendants():
            _kill(pid)
        time.sleep(0.001)


def _has_children() -> bool:
    _reap()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _descendants() -> list[int]:
    """Every process below this one, by /proc; nothing where there is none."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit() and (parent := _parent(name)):
            children.setdefault(parent, []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def _parent(pid: str) -> int:
    """The parent's pid, or 0 if the process has ended. The name before it, in brackets, may hold anything."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _kill(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
