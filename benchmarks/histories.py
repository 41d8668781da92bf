"""Whether Gemini takes whatever is stored.

Random sessions (`kesoku.testing.random_talk`) are compiled and sent with the real SDK, over real HTTP, to a loopback
server that is as strict as the real one. The seed of each that is refused is named on the standard error.
"""

import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from pathlib import Path

from figure import Figure, amount, at_most
from pydantic import SecretStr

from kesoku.errors import ModelError
from kesoku.history.compile import compile_turns
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.messages.content import Attachment
from kesoku.messages.turn import ToolSpec, TurnRequest
from kesoku.testing.gemini import Answer, LoopbackGemini, Say
from kesoku.testing.random_talk import TOOLS, RandomTalk

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
    """Files that a talk may attach."""
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
                failure = await _sent(model, server, RandomTalk(seed, files=attached))
                # The model mends some refusals by itself; here they count.
                failures = [*(seen.refused for seen in server.requests), failure]
                refused += [(seed, each) for each in failures[:-1] if each] or ([(seed, failure)] if failure else [])
                server.requests.clear()
            await model.aclose()
    return refused


async def _sent(model: GeminiModel, server: LoopbackGemini, talk: RandomTalk) -> str | None:
    talk.grow()
    request = compile_turns(talk.records, talk.steps, ASKED, provider=model.provider, **talk.choice())
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


def measure(room: Path) -> Iterator[Figure]:
    """Send all of them."""
    for name in _PROXIES:
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    count = amount(10_000, 200)
    batches = [range(at, min(at + BATCH, count)) for at in range(0, count, BATCH)]
    began = time.perf_counter()
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        refused = sorted(each for batch in pool.map(_batch, batches) for each in batch)
    for seed, why in refused[:20]:
        print(f"history {seed} was refused: {why}", file=sys.stderr)
    yield Figure(
        name=f"refused of {count:,} histories",
        samples=(len(refused),),
        unit="",
        limit=at_most(0),
        meaning="Whatever a conversation went through, the next request is one that Gemini takes.",
    )
    yield Figure(
        name="histories compiled and sent",
        samples=(count / (time.perf_counter() - began),),
        unit="/s",
        meaning="What the SDK, HTTP and the compiling of a history leave of a machine.",
    )
