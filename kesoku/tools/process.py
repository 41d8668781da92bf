"""Commands that cannot hold anything up: bounded output, no typing, a time limit, and nothing left when they are over.

Each one runs below `supervisor.py`, whose docstring says what is guaranteed and what is not.
"""

import asyncio
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from kesoku.render.ends import Ends
from kesoku.render.mask import Mask
from kesoku.tools.patience import outlast

STREAM_LIMIT = 480 * 1024
"""Bytes that are kept of each stream, so that both together stay within the runner's bound."""

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_DRAIN = 1.0
"""Seconds that output may still come after the last process ended: somebody else may hold the pipe."""
_END = 5.0
"""Seconds that a supervisor has to kill everything; then it is killed itself."""

_ALLOWED = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|VIRTUAL_ENV|SSL_CERT_(FILE|DIR)")
_FIXED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "EDITOR": "false",
}
"""Nobody is there to scroll, to type a password or to write a commit message (complaint 176)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A command that is over."""

    code: int | None
    """Exit code, 128 + n for signal n; None if the command was stopped because its time was up."""
    stdout: str
    """Head and tail if it was long."""
    stderr: str
    """Head and tail if it was long."""


def minimal(environment: Mapping[str, str], secrets: frozenset[str] = frozenset()) -> dict[str, str]:
    """The environment of a command: a short list of harmless variables, no other, none that holds a secret."""
    mask = Mask(secrets)
    chosen = {
        name: value for name, value in environment.items() if _ALLOWED.fullmatch(name) and mask.text(value) == value
    }
    return {"PATH": os.defpath, "LANG": "C.UTF-8"} | chosen | _FIXED


async def execute(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float,
    limit: int = STREAM_LIMIT,
    given: int | None = None,
) -> Finished:
    """Run `command` until it ends or `timeout` seconds are over. Every process that it started is gone on return.

    The same holds when this is cancelled. `environment` is taken as it is. `given` is the number of an open file that
    becomes the standard input; without one it is empty. Raises OSError if nothing can be started, for example because
    `cwd` does not exist; a command that does not exist has code 127.
    """
    watch = _Watch(limit)
    program = (sys.executable, "-I", "-S", str(_SUPERVISOR), "-" if given is None else str(given), *command)
    files = () if given is None else (given,)
    start = asyncio.get_running_loop().subprocess_exec(
        lambda: watch, *program, cwd=cwd, env=dict(environment), start_new_session=True, pass_fds=files
    )
    try:
        await outlast(start)
        await _until(watch.exited, timeout)
    finally:
        code = watch.code()
        await outlast(watch.end())
    return Finished(code=code, stdout=watch.kept[1].text(), stderr=watch.kept[2].text())


class _Watch(asyncio.SubprocessProtocol):
    """Keeps the ends of both streams, and knows when the process and the pipes are gone."""

    def __init__(self, limit: int) -> None:
        self.kept = {1: Ends(limit), 2: Ends(limit)}
        self.exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._process: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.kept[fd].add(data)

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    def code(self) -> int | None:
        """The exit code, if there is one already."""
        code = self._process.get_returncode() if self._process else None
        return code if code is None or code >= 0 else 128 - code

    async def end(self) -> None:
        """Order the supervisor to stop, by closing its input, and wait until all is over."""
        if self._process is None:
            return
        if order := self._process.get_pipe_transport(0):
            order.close()
        await _until(self.exited, _END)
        await _until(self._closed, _DRAIN)
        self._process.close()


async def _until(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
