"""Whether Gemini takes whatever is stored: `python benchmarks/histories.py`, or with --json for programs.

Made-up sessions (`kesoku.testing.tale`) are compiled and sent with the real SDK, over real HTTP, to a loopback server
that is as strict as the real one. A refused request gives exit code 1; `--first SEED --count 1` sends one again.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import aclosing
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kesoku.errors import ModelError
from kesoku.history.compile import compile_turns
from kesoku.llm.gemini import GeminiConfig, GeminiModel
from kesoku.messages.content import Attachment
from kesoku.messages.turn import ToolSpec, TurnRequest
from kesoku.testing.gemini import Answer, LoopbackGemini, Say
from kesoku.testing.tale import TOOLS, Tale

BATCH = 100
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc00000030101"
    "00c9fe92ef0000000049454e44ae426082"
)
FILES = {"a.png": ("image/png", PNG), "b.txt": ("text/plain", b"notes \xff"), "c.pdf": ("application/pdf", b"%PDF-1.4")}
ASKED = TurnRequest(
    system="Be brief.",
    tools=tuple(ToolSpec(name=name, description="", parameters={"type": "object"}) for name in TOOLS),
)
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def files(folder: Path) -> Iterator[Attachment]:
    """Files that a tale may attach."""
    for name, (mime_type, data) in FILES.items():
        path = folder / name
        path.write_bytes(data)
        yield Attachment(name=name, path=str(path), mime_type=mime_type)


async def refusals(seeds: range) -> list[tuple[int, str]]:
    """The seeds whose request was refused, and why."""
    refused = []
    with tempfile.TemporaryDirectory() as folder:
        attached = tuple(files(Path(folder)))
        async with LoopbackGemini() as server:
            config = GeminiConfig(api_key=SecretStr("test-key"), base_url=server.base_url, retries=0)
            model = GeminiModel(name="gemini", config=config, environment={})
            for seed in seeds:
                failure = await _sent(model, server, Tale(seed, files=attached))
                # The model mends some refusals by itself; here they count.
                failures = [*(seen.refused for seen in server.requests), failure]
                refused += [(seed, each) for each in failures[:-1] if each] or ([(seed, failure)] if failure else [])
                server.requests.clear()
            await model.aclose()
    return refused


async def _sent(model: GeminiModel, server: LoopbackGemini, tale: Tale) -> str | None:
    tale.tell()
    request = compile_turns(tale.records, tale.steps, ASKED, provider=model.provider, **tale.choice())
    if not server.unused:
        server.script(Answer(Say("yes", piece=0)))
    try:
        async with aclosing(model.stream(request)) as items:
            async for _ in items:
                pass
    except ModelError as error:
        return str(error)
    return None


def _batch(seeds: range) -> list[tuple[int, str]]:
    return asyncio.run(refusals(seeds))


def run(first: int, count: int, jobs: int) -> dict[str, Any]:
    """Send all of them, with progress on stderr."""
    for name in _PROXIES:
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    began, done, refused = time.perf_counter(), 0, list[tuple[int, str]]()
    batches = [range(at, min(at + BATCH, first + count)) for at in range(first, first + count, BATCH)]
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed(waiting := {pool.submit(_batch, each): len(each) for each in batches}):
            refused += future.result()
            done += waiting[future]
            print(f"\r{done:>8,} of {count:,} sent, {len(refused)} refused", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"count": count, "refused": sorted(refused), "seconds": round(time.perf_counter() - began, 1)}


def main() -> int:
    """Send and print; 1 if anything was refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="how many histories")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = run(options.first, options.count, options.jobs)
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{found['count']:,} histories, {len(found['refused'])} refused, {found['seconds']} s")
        for seed, why in found["refused"][:20]:
            print(f"seed {seed}: {why}")
    return 1 if found["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
