"""Chooses the front end by what the standard streams are."""

from collections.abc import Mapping
from typing import TextIO

from kesoku_cli.config import CliConfig
from kesoku_cli.frontend import FrontEnd, can_redraw


def front_end(
    config: CliConfig, stdin: TextIO, stdout: TextIO, stderr: TextIO, environment: Mapping[str, str]
) -> FrontEnd:
    """JSON lines, a live screen, or plain lines. Only the live screen imports a terminal library."""
    asks_one = config.question is not None
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
            banner=config.banner,
        )
    from kesoku_cli.plain import Plain

    if config.banner:
        stderr.write(f"{config.banner}\n")
        stderr.flush()
    return Plain(
        out=stdout.buffer,
        side=stderr.buffer if not stdout.isatty() else None,
        stdin=stdin if stdin.isatty() or not asks_one else None,
        encoding=stdout.encoding or "utf-8",
    )
