"""Finding text in files, in a process of its own: an expression can take for ever, and nothing else can stop it."""

import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field

from kesoku.errors import ToolRefused
from kesoku.render.confine import confine
from kesoku.tools.context import ToolContext
from kesoku.tools.process import execute, minimal
from kesoku.tools.tool import Effect, Output, tool

_LONGEST = 60.0
_PROGRAM = Path(__file__).with_name("searcher.py")
_BAD_PATTERN = 2


@tool(effect=Effect.READ, timeout=_LONGEST + 10)
async def search_files(
    pattern: str,
    context: ToolContext,
    path: str = ".",
    glob: str = "*",
    timeout: Annotated[float, Field(gt=0, le=_LONGEST)] = 10.0,
) -> Output:
    """Search text files line by line. Links, binary files and `.git` are left out.

    Args:
        pattern: a regular expression in the syntax of Python
        path: the folder or file to search, relative to the workspace
        glob: only files whose name, or path below the workspace, matches this, for example `*.py`
        timeout: seconds after which it stops with what it has found
    """
    start = confine(path, context.roots, context.workspace)
    if not start.exists():
        raise ToolRefused(what=path, reason="no such file or folder")
    if "\0" in pattern + glob:
        raise ToolRefused(what="pattern or glob", reason="it contains a NUL character", advice=r"write \x00")
    finished = await execute(
        [sys.executable, "-I", "-S", str(_PROGRAM), pattern, glob, str(start), str(context.workspace.resolve())],
        cwd=context.workspace,
        environment=minimal(context.environment, context.secrets),
        timeout=timeout,
    )
    if finished.code == _BAD_PATTERN:
        raise ToolRefused(what=f"pattern {pattern!r}", reason=finished.stderr.strip())
    if finished.code is None:
        reason = f"stopped after {timeout:g} s; simplify the pattern (repeats within repeats), or narrow path and glob"
        return Output(output=finished.stdout, summary="stopped", error=reason)
    if finished.code:
        return Output(output=finished.stdout, error=finished.stderr)
    return Output(output=finished.stdout + finished.stderr, summary=finished.stderr.strip())
