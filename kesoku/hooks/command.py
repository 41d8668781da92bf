"""Hooks that run a program: one run an event, the event as JSON on standard input."""

import asyncio
import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from kesoku.errors import HookCommandFailed, HookLate, HookUnreachable
from kesoku.hooks.call import Call
from kesoku.tools.process import execute

_OUTPUT = 16_384
"""Bytes of each stream that are kept for the log."""
_SAID = 200
"""Characters of standard error that stand in the error."""
_log = logging.getLogger(__name__)


class CommandTarget:
    """Runs one command, never through a shell. Exit code 0 is success.

    `environment` is all that the command gets of ours. What it started is gone when it ends, fails or is cancelled.
    `grace` is by how many seconds the caller's own limit of `timeout` comes first.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        timeout: float,
        grace: float = 5.0,
    ) -> None:
        self._command, self._cwd, self._environment = tuple(command), cwd, dict(environment)
        self._timeout, self._grace = timeout, grace

    async def send(self, call: Call) -> None:
        """Run the command for one event. Raises HookCommandFailed, HookLate, HookUnreachable."""
        program = self._command[0]
        try:
            file = await asyncio.to_thread(_file, call.body)
            with file:
                ended = await execute(
                    self._command,
                    cwd=self._cwd,
                    environment=self._environment,
                    timeout=self._timeout + self._grace,
                    limit=_OUTPUT,
                    given=file.fileno(),
                )
        except OSError as error:
            raise HookUnreachable(where=program, reason=error.strerror or str(error)) from error
        _log.debug("hook %s: exit code %s, stdout %r, stderr %r", call.hook, ended.code, ended.stdout, ended.stderr)
        if ended.code is None:
            raise HookLate(seconds=self._timeout)
        if ended.code != 0:
            said = " ".join(ended.stderr.split())[:_SAID]
            raise HookCommandFailed(command=program, code=ended.code, said=said)

    async def aclose(self) -> None:
        """Nothing is kept open."""


def _file(body: bytes) -> BinaryIO:
    """A file without a name that holds the event, at its start: a command that reads nothing blocks nobody."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    file.write(body)
    file.seek(0)
    return file
