"""What makes a dispatcher look for work: the event log, at once. The virtual clock stands still, so no beat helps."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kesoku.agent.dispatcher import Dispatcher
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Claim, Serving
from kesoku.messages.record import Address
from kesoku.ports import Store
from kesoku.store import SqlStore
from kesoku.testing.fakes import FakePresence
from kesoku.testing.gateway_harness import ROOM, GatewayHarness, answer_to
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import PATIENCE

ELSEWHERE = Address(chatbot_id="wechat", channel_id="x")


class Watched(StoreGateway):
    """Tells when somebody has looked for work in vain."""

    in_vain: asyncio.Semaphore

    async def claims(self, owner: str, serving: Serving, *, most: int) -> list[Claim]:
        """Claim, and tell."""
        claims = await super().claims(owner, serving, most=most)
        if len(claims) < most:
            self.in_vain.release()
        return claims


class Second:
    """A second process: it serves one bot and answers whatever it gets."""

    def __init__(self, bench: GatewayHarness, store: Store) -> None:
        # Its listener is woken by commits alone, and it knows of nobody's death.
        self.presence = FakePresence()
        self.gateway = Watched(store, bench.clock, BusyPolicy(), self.presence, poll=3600)
        self.gateway.in_vain = asyncio.Semaphore(0)
        self.begun: asyncio.Queue[Claim] = asyncio.Queue()
        serving = Serving(addresses=frozenset({ROOM.whole}))
        self.dispatcher = Dispatcher(self.gateway, serving, self._answer, bench.clock, owner="second")

    async def _answer(self, claim: Claim) -> None:
        self.begun.put_nowait(claim)
        await self.gateway.finish(claim.fence, answer_to(claim), status=S.PROCESSED, metrics={})

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """It runs, and has looked around: at its start, and after its first recovery."""
        task = asyncio.create_task(self.dispatcher.run())
        try:
            for _ in range(2):
                await self.gateway.in_vain.acquire()
            yield
            self.dispatcher.stop()
            await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("end", ["finish", "interrupt", "recover"])
async def test_the_end_of_a_turn_of_another_process_starts_what_waits_behind_it(tmp_path: Path, end: str) -> None:
    async with await SqlStore.open(tmp_path / "k.db") as here, await SqlStore.open(tmp_path / "k.db") as there:
        bench = GatewayHarness(here)
        first = await bench.say()
        claim = await bench.claim("first")
        waiting = await bench.say("next", catch_up=True)
        second = Second(bench, there)
        async with asyncio.timeout(PATIENCE), second.at_work():
            if end == "finish":
                await bench.finish(claim)
            elif end == "interrupt":
                await bench.gateway.interrupt(first.session_id, by="Ada", reason="stop")
            else:
                bench.presence.dead.add("first")
                assert await bench.gateway.recover() == 1
                assert (await second.begun.get()).prompt.id == first.id
            assert (await second.begun.get()).prompt.id == waiting.id


async def test_a_death_is_noticed_within_a_second() -> None:
    # C-32
    bench = GatewayHarness(MemoryStore())
    first = await bench.say()
    await bench.claim("first")
    second = Second(bench, bench.store)
    async with asyncio.timeout(PATIENCE), second.at_work():
        second.presence.dead.add("first")
        await bench.clock.advance(1)
        assert (await second.begun.get()).prompt.id == first.id


@pytest.mark.parametrize(
    ("owner", "address", "news"),
    [("first", ROOM, [S.PENDING_AGENT, S.PROCESSED]), ("second", ROOM, [S.PENDING_AGENT]), ("first", ELSEWHERE, [])],
)
async def test_nothing_else_wakes_it(owner: str, address: Address, news: list[S]) -> None:
    bench = GatewayHarness(MemoryStore())
    dispatcher = Second(bench, bench.store).dispatcher
    async with bench.gateway.listen(dispatcher._concerns) as changes:
        await bench.say(at=address)
        assert not news or (await anext(changes)).after is news.pop(0)
        answer = await bench.finish(await bench.claim(owner))
        await bench.gateway.move(answer.id, S.DELIVERED, actor="outbox")
        await bench.say("the end", at=ROOM)
        seen = [await anext(changes) for _ in range(len(news) + 1)]
        assert [each.after for each in seen] == [*news, S.PENDING_AGENT]
