"""Starts `kesoku`, or a Python file, by a fork of one process that has imported it already: most of a start is imports.

What a start itself proves (interpreter, locale, streams, what is loaded) is left to tests that start the real command.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pexpect
from pexpect.pty_spawn import ptyprocess

_SET_CHILD_SUBREAPER = 36
_PARENT = r"""
import atexit, fcntl, gc, importlib, json, os, runpy, signal, socket, sys, termios, threading
MODULES = ("kesoku.cli.chat", "kesoku.cli.run", "kesoku.cli.doctor", "kesoku.llm.offline", "kesoku.llm.gemini")
MODULES += ("kesoku_cli.manifest", "kesoku_cli.adapter", "kesoku_cli.lines", "kesoku_cli.terminal", "google.genai")
MODULES += ("kesoku_discord.adapter", "kesoku_discord.doctor")
for name in MODULES:
    importlib.import_module(name)
from kesoku.cli.main import run
gc.collect()
gc.freeze()  # else each fork looks through all of it, and copies it by that

def serve(line):
    while True:
        request, fds, _, _ = socket.recv_fds(line, 1 << 20, 3)
        if not request:
            raise SystemExit
        ours, theirs = os.pipe()
        if (middle := os.fork()) == 0:
            if (child := os.fork()) == 0:
                for fd in (ours, theirs, line.detach()):
                    os.close(fd)
                return json.loads(request), fds
            os.write(theirs, str(child).encode())
            os._exit(0)
        os.waitpid(middle, 0)  # from now on the child is nobody's, and the reaper's
        line.send(os.read(ours, 64))
        for fd in (ours, theirs, *fds):
            os.close(fd)

request, fds = serve(socket.socket(fileno=int(sys.argv[1])))
for number, fd in enumerate(fds):
    os.dup2(fd, number)
    os.close(fd)
if request["terminal"]:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup has changed for all tests
os.chdir(request["cwd"])
os.environ.clear()
os.environ.update(request["env"])
sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(":"))
sys.argv[:] = request["args"]
for number, name in enumerate(("stdin", "stdout", "stderr")):
    setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))

def end(code):  # as the interpreter does, but for taking every module apart, which is a third of a short process
    threading._shutdown()
    atexit._run_exitfuncs()
    gc.collect()  # what was forgotten complains here
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(code)

try:
    if sys.argv[0].endswith(".py"):
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        run()
except SystemExit as error:
    if isinstance(error.code, int):
        try:
            end(error.code)
        except OSError:
            pass  # the interpreter knows what to say of a stream that takes no more
    raise
"""


class ForkServer:
    """The process that is forked. It ends with the one that created it."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._parent = subprocess.Popen([sys.executable, "-c", _PARENT, str(number)], pass_fds=[number])

    def close(self) -> None:
        """End it; the processes that it started go on."""
        self._line.close()
        self._parent.wait()

    def start(
        self, args: list[str], cwd: str, env: Mapping[str, str], streams: list[int], *, terminal: bool = False
    ) -> int:
        """Start a process, which becomes a child of the caller and, if told so, has its first stream as the terminal of
        a session of its own; returns its pid."""
        request = json.dumps({"args": args, "cwd": cwd, "env": dict(env), "terminal": terminal}).encode()
        prctl = ctypes.CDLL(None).prctl
        prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            socket.send_fds(self._line, [request], streams)
            return int(self._line.recv(64))
        finally:
            prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class ForkedPopen(subprocess.Popen[str]):
    """A `Popen` whose process is a fork of the server; all three streams must be given."""

    def __init__(self, server: ForkServer, args: list[str], **options: Any) -> None:
        self._server = server
        super().__init__(args, **options)

    def _execute_child(self, args: Any, *rest: Any) -> None:
        cwd, env, pipes = rest[4], rest[5], rest[9:15]
        self.pid = self._server.start(args, str(cwd), env, [pipes[0], pipes[3], pipes[5]])
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


class ForkedSpawn(pexpect.spawn):  # type: ignore[misc]
    """A `spawn` whose process is a fork of the server, on a pseudo-terminal of its own."""

    def __init__(
        self, server: ForkServer, args: list[str], *, env: Mapping[str, str], cwd: Path, dimensions: tuple[int, int]
    ) -> None:
        super().__init__(None)
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, dimensions)
        self.attributes = termios.tcgetattr(theirs)  # the process may have changed them before anybody can ask again
        self.pid, self.child_fd = server.start(args, str(cwd), env, [theirs] * 3, terminal=True), ours
        os.close(theirs)
        self.ptyproc = ptyprocess.PtyProcess(self.pid, ours)
        self.terminated = self.closed = False
