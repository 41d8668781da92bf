"""How soon the turns of a killed process go on in the next one.

Each round starts a process that works on several prompts, kills it, and starts another one like it.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from figure import Figure, Physical, amount, at_most

from kesoku.agent.dispatcher import DispatchLimits
from kesoku.messages.record import Address
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt

TURNS = DispatchLimits().turns
WORKER = """
import asyncio, logging, sys
from pathlib import Path
from kesoku.agent.dispatcher import Dispatcher
from kesoku.app.clock import SystemClock
from kesoku.gateway import BusyPolicy, Presence, StoreGateway
from kesoku.store import SqlStore
from kesoku.testing.gateway_harness import EVERYTHING

async def main(folder):
    print("up", flush=True)
    with Presence(folder / "run") as presence:
        async with await SqlStore.open(folder / "kesoku.db") as store:
            gateway = StoreGateway(store, SystemClock(), BusyPolicy(), presence)
            await Dispatcher(gateway, EVERYTHING, work, SystemClock(), owner=presence.owner).run()

async def work(claim):
    print(claim.prompt.id, flush=True)
    await asyncio.Event().wait()

logging.disable(logging.WARNING)
asyncio.run(main(Path(sys.argv[1])))
"""


def measure(room: Path) -> Iterator[Figure]:
    """From the start of the next process, and from the moment when Python has loaded it."""
    rounds = [_round(room / str(number)) for number in range(amount(5, 1))]
    starts, recoveries = zip(*rounds, strict=True)
    yield Figure(
        name=f"{TURNS} turns of a killed process, claimed again",
        samples=tuple(recoveries),
        unit="s",
        limit=at_most(1),
        physical=Physical(name="Python and its imports, before that", value=statistics.median(starts)),
        meaning="How long a person waits longer because the bot was killed and started again.",
    )


def _round(folder: Path) -> tuple[float, float]:
    """Seconds until the next process is loaded, and from there until it has every turn of the killed one."""
    folder.mkdir()
    asyncio.run(_filled(folder / "kesoku.db"))
    _, _, before = _worked(folder)
    start, recovery, after = _worked(folder)
    assert before == after, "the turns of the dead one"
    return start, recovery


def _worked(folder: Path) -> tuple[float, float, set[str]]:
    """Start a worker, wait until it works on everything, and kill it."""
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", WORKER, str(folder)], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        try:
            worker.stdout.readline()
            loaded = time.perf_counter()
            claimed = {worker.stdout.readline() for _ in range(TURNS)}
            return loaded - began, time.perf_counter() - loaded, claimed
        finally:
            worker.kill()


async def _filled(path: Path) -> None:
    async with await SqlStore.open(path) as store:
        for number in range(TURNS):
            at = Address(chatbot_id="discord", channel_id=f"c{number}")
            await store.write(add(prompt(at=at), session=f"s{number}"))
