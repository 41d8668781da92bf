"""`python -m kesoku.testing.gemini`: the loopback Gemini by hand."""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Sequence
from typing import Any

from kesoku.testing.gemini.server import LoopbackGemini


async def _serve(options: dict[str, Any]) -> None:
    async with LoopbackGemini(**options) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted; the first line of output is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m kesoku.testing.gemini", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--key", default="test-key", help="the API key that is accepted")
    parser.add_argument("--requests-per-minute", type=int, help="more is a 429")
    parser.add_argument("--blocks", metavar="PATTERN", help="what the user must not write")
    given = parser.parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(_serve(vars(given)))
        except OSError as error:
            parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
