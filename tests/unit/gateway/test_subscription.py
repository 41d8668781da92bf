"""Following the log: everything once, whatever happens in between."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest

from kesoku.gateway import StoreGateway
from kesoku.gateway.subscription import LogSubscription
from kesoku.gateway.tail import PAGE, Tail
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Change
from kesoku.messages.record import Address, Post
from kesoku.ports import Store, Subscription, Transaction
from kesoku.testing.clock import settle
from kesoku.testing.gateway_harness import ROOM, GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import PATIENCE

T = TypeVar("T")


def everything(_: Change) -> bool:
    return True


async def take(subscription: Subscription, count: int) -> list[Change]:
    return [await anext(subscription) for _ in range(count)]


async def notice(bench: GatewayHarness, text: str = "x", address: Address = ROOM) -> str:
    return (await bench.gateway.post(Post(message=make.notice(text), address=address))).id


async def test_stored_before_anyone_sees_it_and_seen_once_by_everyone(bench: GatewayHarness) -> None:
    # K-249
    async with bench.gateway.listen(everything) as one, bench.process().listen(everything) as two:
        posted = [await notice(bench) for _ in range(5)]
        for subscription in (one, two):
            seen = await take(subscription, 5)
            assert [each.record.id for each in seen] == posted
            assert [(await bench.record(each.record)).id for each in seen] == posted
            assert [each.seq for each in seen] == sorted({each.seq for each in seen})


async def test_listening_starts_now_or_at_a_cursor(bench: GatewayHarness) -> None:
    first = await notice(bench)
    async with bench.gateway.listen(everything) as later, bench.gateway.listen(everything, cursor=0) as all_of_it:
        second = await notice(bench)
        assert (await anext(later)).record.id == second
        assert [each.record.id for each in await take(all_of_it, 2)] == [first, second]


async def test_a_listener_gets_only_what_matches(bench: GatewayHarness) -> None:
    # K-149
    def mine(change: Change) -> bool:
        return change.record.address.chatbot_id == "discord" and change.after is S.PENDING

    async with bench.gateway.listen(mine) as subscription:
        await notice(bench, address=Address(chatbot_id="wechat", channel_id="room"))
        wanted = await notice(bench)
        assert (await anext(subscription)).record.id == wanted
        waiting = asyncio.ensure_future(anext(subscription))
        await notice(bench, address=Address(chatbot_id="wechat", channel_id="room"))
        _, pending = await asyncio.wait([waiting], timeout=0.05)
        assert pending
        waiting.cancel()


@pytest.mark.no_cover
async def test_a_paused_listener_loses_nothing_and_blocks_nobody(bench: GatewayHarness) -> None:
    # K-250, complaint 36
    count = 600
    async with bench.gateway.listen(everything) as paused, bench.gateway.listen(everything) as lively:
        posted = []
        for n in range(count):
            posted.append(await notice(bench, f"{n}"))
            assert (await anext(lively)).record.id == posted[-1]
        assert [each.record.id for each in await take(paused, count)] == posted
        assert count > 2 * PAGE


async def test_cancelling_a_wait_loses_nothing(bench: GatewayHarness) -> None:
    async with bench.gateway.listen(everything) as subscription:
        for _ in range(3):
            waiting = asyncio.ensure_future(anext(subscription))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        posted = [await notice(bench), await notice(bench)]
        waiting = asyncio.ensure_future(anext(subscription))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        seen = [] if waiting.cancelled() else [waiting.result()]  # a read that began before may have found it already
        seen += await take(subscription, 2 - len(seen))
        assert [each.record.id for each in seen] == posted


class Frail(MemoryStore):
    """Counts its reads; the next one fails when `broken`."""

    reads, broken = 0, False

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        self.reads += 1
        if self.broken:
            self.broken = False
            raise OSError
        return await super().read(operation)


async def test_the_log_is_read_once_for_each_news_and_again_at_once_after_a_failure() -> None:
    store = Frail()
    bench = GatewayHarness(store)
    subscription = LogSubscription(Tail(store), everything, cursor=0, poll=3600)
    first = await notice(bench)
    assert (await anext(subscription)).record.id == first
    waiting = asyncio.ensure_future(anext(subscription))
    await settle()
    assert store.reads == 1
    second = await notice(bench)
    store.broken = True
    subscription.wake()
    with pytest.raises(OSError):
        await waiting
    async with asyncio.timeout(PATIENCE):
        assert (await anext(subscription)).record.id == second


async def test_listeners_share_what_one_of_them_has_read() -> None:
    store = Frail()
    bench = GatewayHarness(store)
    async with bench.gateway.listen(everything) as one, bench.gateway.listen(everything) as two:
        before = store.reads
        for _ in range(3):
            posted = [await notice(bench), await notice(bench)]
            for subscription in (one, two):
                assert [each.record.id for each in await take(subscription, 2)] == posted
        assert store.reads - before == 3
        waiting = [asyncio.ensure_future(anext(each)) for each in (one, two)]
        await settle()
        before = store.reads
        posted = [await notice(bench)]
        assert [each.record.id for each in await asyncio.gather(*waiting)] == posted * 2
        assert store.reads - before == 1


async def test_a_filter_that_fails_may_be_asked_again(bench: GatewayHarness) -> None:
    moods = iter([ValueError("first"), None])

    def moody(_: Change) -> bool:
        if mood := next(moods):
            raise mood
        return True

    async with bench.gateway.listen(moody) as subscription:
        posted = await notice(bench)
        with pytest.raises(ValueError, match="first"):
            await anext(subscription)
        assert (await anext(subscription)).record.id == posted


async def test_a_listener_resumes_at_its_cursor(bench: GatewayHarness) -> None:
    posted = [await notice(bench) for _ in range(10)]
    cursor, seen = 0, []
    for _ in range(5):
        async with bench.gateway.listen(everything, cursor=cursor) as subscription:
            seen += [each.record.id for each in await take(subscription, 2)]
            cursor = subscription.cursor
    assert seen == posted


async def test_a_cursor_of_another_log_starts_now(bench: GatewayHarness) -> None:
    await notice(bench)
    async with bench.gateway.listen(everything, cursor=10**9) as subscription:
        posted = await notice(bench)
        assert (await anext(subscription)).record.id == posted


async def test_lost_wake_ups_cost_time_only() -> None:
    store = MemoryStore(hints=False)
    bench = GatewayHarness(store)
    deaf = StoreGateway(store, bench.clock, bench.policy, bench.presence, poll=0.01)
    async with deaf.listen(everything) as subscription:
        waiting = asyncio.ensure_future(anext(subscription))
        await settle()
        posted = await notice(bench)
        assert (await waiting).record.id == posted


class CountingStore(MemoryStore):
    """Counts reads."""

    reads = 0

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        self.reads += 1
        return await super().read(operation)


async def test_an_idle_listener_rests() -> None:
    store = CountingStore()
    bench = GatewayHarness(store)
    async with bench.gateway.listen(everything) as subscription:
        await notice(bench)
        await anext(subscription)
        waiting = asyncio.ensure_future(anext(subscription))
        await settle()
        before = store.reads
        await settle(200)
        assert store.reads == before
        waiting.cancel()


async def test_leaving_forgets_the_listener() -> None:
    store = MemoryStore()
    bench = GatewayHarness(store)
    async with bench.gateway.listen(everything):
        assert store.listeners == 1
    assert store.listeners == 0


async def test_the_owner_learns_of_its_interruption(bench: GatewayHarness, store: Store) -> None:
    # store rule 7
    record = await bench.say()
    await bench.claim()

    def ended(change: Change) -> bool:
        return change.record.id == record.id and change.after is S.INTERRUPTED

    async with bench.process().listen(ended) as subscription:
        await bench.gateway.interrupt(record.session_id, by="Ada", reason="cancelled")
        assert (await anext(subscription)).actor == "Ada"
