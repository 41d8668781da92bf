"""`python -m kesoku.testing.gemini`: the loopback Gemini by hand."""

import argparse
import asyncio
import contextlib
import sys

from kesoku.testing.gemini.server import LoopbackGemini


async def _serve(port: int, key: str) -> None:
    async with LoopbackGemini(port=port, key=key) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Serve until interrupted; the first line of output is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m kesoku.testing.gemini", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--key", default="test-key", help="the API key that is accepted")
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.port, given.key))


if __name__ == "__main__":
    main()
