"""Chooses the front end by what the standard streams are."""

from collections.abc import Mapping, Sequence
from typing import TextIO

from kesoku.render import visible
from kesoku_cli.config import CliConfig
from kesoku_cli.frontend import FrontEnd, can_redraw

_GLIMPSE = 60
"""Characters of the last message that tell which conversation goes on."""


def front_end(
    config: CliConfig,
    stdin: TextIO,
    stdout: TextIO,
    stderr: TextIO,
    environment: Mapping[str, str],
    earlier: Sequence[str] = (),
) -> FrontEnd:
    """JSON lines, a live screen, or plain lines. Only the live screen imports a terminal library.

    `earlier` are messages of the same conversation, oldest first.
    """
    asks_one = config.question is not None
    banner = "\n".join([config.banner, *map(_goes_on, earlier[-1:])]) if config.banner else ""
    if config.output == "json":
        from kesoku_cli.machine import Machine

        return Machine(out=stdout.buffer, stdin=None if asks_one else stdin)
    if config.output == "auto" and can_redraw(stdin, stdout, environment):
        from kesoku_cli.terminal import Terminal

        return Terminal(
            stdin=stdin,
            stdout=stdout,
            environ=environment,
            color="NO_COLOR" not in environment,
            banner=banner,
            history=earlier,
        )
    from kesoku_cli.plain import Plain

    if banner:
        stderr.write(f"{banner}\n")
        stderr.flush()
    return Plain(
        out=stdout.buffer,
        side=stderr.buffer if not stdout.isatty() else None,
        stdin=stdin if stdin.isatty() or not asks_one else None,
        encoding=stdout.encoding or "utf-8",
    )


def _goes_on(last: str) -> str:
    said = visible(" ".join(last.split()))
    return f"The conversation goes on after: {said if len(said) <= _GLIMPSE else said[:_GLIMPSE] + '…'}"
