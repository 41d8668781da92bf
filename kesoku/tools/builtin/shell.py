"""One shell command, ended together with everything that it started."""

import re
import shutil
from typing import Annotated

from pydantic import Field

from kesoku.errors import ToolRefused
from kesoku.render.confine import confine
from kesoku.tools.context import ToolContext
from kesoku.tools.process import Finished, execute, minimal
from kesoku.tools.tool import Effect, Output, tool

_LONGEST = 600.0
_RULE = re.compile(r"[=\-_*#~\s]*")
_TITLED_RULE = re.compile(r"([=\-_*#~])\1+\s+(.*?)\s+\1+")


@tool(effect=Effect.EXECUTE, timeout=_LONGEST + 10)
async def run_shell_command(
    command: str,
    context: ToolContext,
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)] = 60.0,
    cwd: str | None = None,
) -> Output:
    """Run a command with bash and return what it printed.

    Nobody can type into it: its standard input is empty. When the command ends, or its time is over, everything that
    it started in the background is ended too.

    Args:
        command: what to run, in the syntax of bash
        timeout: seconds after which it is stopped
        cwd: folder to run in, relative to the workspace; by default the workspace itself
    """
    # No pattern of forbidden words here: a shell has a thousand spellings for each command, so a list would only
    # pretend to be a limit (complaint 167). What a command may do is decided by the operating system's user.
    if "\0" in command:
        raise ToolRefused(what="command", reason="it contains a NUL character")
    folder = confine(cwd, context.roots, context.workspace) if cwd else context.workspace
    if not folder.is_dir():
        raise ToolRefused(what=str(cwd or folder), reason="no such folder")
    finished = await execute(
        [shutil.which("bash") or "/bin/sh", "-c", command],
        cwd=folder,
        environment=minimal(context.environment, context.secrets),
        timeout=timeout,
    )
    return _told(finished, timeout)


def _told(finished: Finished, timeout: float) -> Output:
    """Both streams under their headings; a failure is an error that still shows them (K-012, K-234)."""
    output = f"=== STDOUT ===\n{_closed(finished.stdout)}=== STDERR ===\n{_closed(finished.stderr)}"
    error = None
    if finished.code is None:
        error = f"stopped after {timeout:g} s, with everything that it had started"
    elif finished.code:
        error = f"exit code {finished.code}"
    if error:
        output += f"=== {error} ===\n"
    summary = _last_line(finished.stdout) or _last_line(finished.stderr) or error or "no output"
    return Output(output=output, summary=summary, error=error)


def _closed(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _last_line(text: str) -> str:
    """The last line that says something, without a rule around it: `5 passed in 0.42s` (K-234)."""
    said = (line.strip() for line in reversed(text.splitlines()) if not _RULE.fullmatch(line))
    line = next(said, "")
    titled = _TITLED_RULE.fullmatch(line)
    return titled[2] if titled else line
