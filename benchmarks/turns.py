"""How long a whole turn takes: from a prompt that is taken in to the answer that a listener sees.

The model answers at once and everything runs in one process, each commit for good; so what is measured is Kesoku's own.
"""

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from figure import Figure, Physical, amount, at_least, at_most
from machine import fsync

from kesoku.adapter.drafts import DraftBoard
from kesoku.agent import Dispatcher, DispatchLimits, TurnLoop, Worker
from kesoku.app.clock import SystemClock
from kesoku.gateway import Busy, BusyPolicy, StoreGateway
from kesoku.history import compile_turns
from kesoku.messages import make
from kesoku.messages.lifecycle import Change, Serving
from kesoku.messages.record import Address, Post
from kesoku.messages.turn import CompiledRequest, Reply, StreamItem, TextBlock, TurnRequest
from kesoku.ports import Transaction
from kesoku.store import SqlStore
from kesoku.testing.assistant import always
from kesoku.testing.fakes import FakePresence, ScriptedApprover
from kesoku.testing.gateway_harness import UNBOUNDED
from kesoku.testing.sync_store import SyncStore
from kesoku.tools import Toolbox

SERVED = Serving(addresses=frozenset({Address(chatbot_id="b", channel_id="*")}))
SESSIONS = 128
ENDS = 50
"""So many turns of a long session are its start, and so many its end."""
READ = 100
"""Messages that are compiled."""


def measure(room: Path) -> Iterator[Figure]:
    """One long session, many at once, and the request in small and large databases."""
    gc.freeze()  # as `kesoku run` does, so that what was imported is not looked through in between
    yield from long_session(room)
    yield from many_sessions(room)
    yield from growth(room)


def long_session(room: Path) -> Iterator[Figure]:
    """Turns of one session, one after the other."""
    turns = amount(300, 20)
    runs = [asyncio.run(answered(room / f"long{n}.db", sessions=1, turns=turns))[0] for n in range(amount(3, 1))]
    ends = min(ENDS, turns // 2)
    yield Figure(
        name=f"a turn of one session, {turns} in a row, p50",
        samples=tuple(1000 * statistics.median(waits) for waits in runs),
        unit="ms",
        limit=at_most(5),
        physical=Physical(name="three commits' fsync", value=3000 * fsync(room / "fsync")),
        meaning="What a person waits for beside the model, from the prompt to the stored answer.",
        obstacle="The processor: three commits and four or five reads one after the other, each handed from the loop to"
        " a thread and back, with some 5,500 calls of functions in all.",
    )
    yield Figure(
        name="its last turns against its first",
        samples=tuple(statistics.median(waits[-ends:]) / statistics.median(waits[:ends]) for waits in runs),
        unit="x",
        limit=at_most(1.25),
        meaning="A long conversation is as fast at its end as at its start.",
    )


def many_sessions(room: Path) -> Iterator[Figure]:
    """Turns of many sessions at once."""
    turns, paths = amount(20, 2), [room / f"many{n}.db" for n in range(amount(3, 1))]
    rates, busy = list[float](), list[float]()
    for path in paths:
        before = time.process_time()
        rates.append(asyncio.run(answered(path, sessions=SESSIONS, turns=turns))[1])
        busy.append((time.process_time() - before) / (SESSIONS * turns))
    yield Figure(
        name=f"turns of {SESSIONS} sessions at once",
        samples=tuple(rates),
        unit="turns/s",
        limit=at_least(1_500),
        physical=Physical(name="one core, at their CPU time", value=1 / statistics.median(busy)),
        meaning="How many answers one process stores in a second when the models are not what it waits for.",
        obstacle="The processor, not the disk: a turn is some 2,700 calls of functions, and Python runs one at a time."
        " About half of its time stores it, a third compiles, asks and notes, a fifth reads the past and follows the"
        " log.",
    )


def growth(room: Path) -> Iterator[Figure]:
    """The same session in a small and in a large database."""
    small, large = 1_000, amount(1_000_000, 20_000)
    spent = {rows: compiling(room / f"compile{rows}.db", rows) for rows in (small, large)}
    yield Figure(
        name=f"reading and compiling {READ} messages, {large:,} rows against {small:,}",
        samples=(spent[large] / spent[small],),
        unit="x",
        limit=at_most(2),
        meaning="What the model reads is found as fast in a database of years as in a new one.",
    )


class Instant:
    """A model that answers at once."""

    name = provider = "instant"

    async def stream(self, _: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """One word."""
        yield Reply(blocks=(TextBlock(text="ok"),), provider=self.provider, model=self.name)

    def count(self, _: CompiledRequest) -> int:
        """Nobody asks."""
        return 1

    async def aclose(self) -> None:
        """There is nothing to close."""


async def answered(path: Path, *, sessions: int, turns: int) -> tuple[list[float], float]:
    """Seconds from each prompt to its answer, and turns a second; every session asks again once it has its answer."""
    waits: list[float] = []
    seen: dict[str | None, asyncio.Future[None]] = {}
    async with at_work(path) as gateway, gateway.listen(_is_answer) as answers:

        async def listen() -> None:
            async for change in answers:
                seen.setdefault(change.record.turn_id, asyncio.Future()).set_result(None)

        async def ask(session: int) -> None:
            address = Address(chatbot_id="b", channel_id=str(session))
            for _ in range(turns):
                before = time.perf_counter()
                prompt = make.user_prompt("hello", author="Ada", user_id=str(session))
                (record,) = await gateway.accept([Post(message=prompt, address=address)])
                await seen.setdefault(record.id, asyncio.Future())
                waits.append(time.perf_counter() - before)

        listener, began = asyncio.create_task(listen()), time.perf_counter()
        await asyncio.gather(*(ask(session) for session in range(sessions)))
        spent = time.perf_counter() - began
        listener.cancel()
    return waits, sessions * turns / spent


@asynccontextmanager
async def at_work(path: Path) -> AsyncIterator[StoreGateway]:
    """A gateway with an agent behind it that has the instant model."""
    clock, drafts = SystemClock(), DraftBoard()
    async with await SqlStore.open(path) as store:
        gateway = StoreGateway(store, clock, BusyPolicy(busy=Busy.QUEUE), FakePresence(), bounds=UNBOUNDED)
        loop = TurnLoop(
            gateway,
            store,
            clock,
            always(Instant(), request=TurnRequest(system="Be brief.")),
            Toolbox([]),
            approver=ScriptedApprover(),
            drafts=drafts,
            context=_unused,
            keep=_unused,
        )
        worker, limits = Worker(loop, drafts), DispatchLimits(turns=2 * SESSIONS)
        dispatcher = Dispatcher(gateway, SERVED, worker, clock, owner="benchmark", limits=limits)
        running = asyncio.create_task(dispatcher.run())
        yield gateway
        dispatcher.stop()
        await running


def compiling(path: Path, rows: int) -> float:
    """Seconds of CPU to read the end of a session from a database of so many rows and to compile it."""
    sync_store = SyncStore(path)
    sync_store.fill(rows)
    spent = []

    def operation(tx: Transaction) -> None:
        before = time.thread_time()
        records = tx.messages.session("s1", after_n=rows - 5 * READ)  # the rows of five sessions take turns
        compile_turns(records, (), TurnRequest())
        spent.append(time.thread_time() - before)

    for _ in range(amount(100, 5)):
        sync_store.run(operation)
    sync_store.close()
    return statistics.median(spent)


def _is_answer(change: Change) -> bool:
    return change.kind == "inserted" and change.record.kind == "answer"


def _unused(*_: object) -> Any:
    raise AssertionError("there are no tools")
