"""`python -m kesoku.testing.discord`: the loopback Discord in a process of its own."""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Sequence
from typing import Any

from kesoku.testing.discord.process.control import Control
from kesoku.testing.discord.server import LoopbackDiscord

_LINE = 1 << 20


async def _serve(options: dict[str, Any]) -> None:
    lines = asyncio.StreamReader(limit=_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with LoopbackDiscord(**options) as server:
        control = Control(server)
        _write(json.dumps(control.greeting()))
        async for line in lines:
            _write(await control.answer(line.decode()))


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the input ends; the first line of output says where, each further one answers a line of input."""
    parser = argparse.ArgumentParser(prog="python -m kesoku.testing.discord", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--token", default=LoopbackDiscord.token, help="the bot's token that is accepted")
    parser.add_argument("--bot-name", default=LoopbackDiscord.bot_name, help="what the bot is called")
    parser.add_argument("--rate-limits", action="store_true", help="limit requests as Discord does")
    given = parser.parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(_serve(vars(given)))
        except OSError as error:
            parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
