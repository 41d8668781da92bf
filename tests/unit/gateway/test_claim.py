"""Who may run what."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address, Post
from kesoku.ports import Store
from kesoku.store import SqlStore
from kesoku.testing.gateway_harness import EVERYTHING, ROOM, GatewayHarness, prompt

OTHER = Address(chatbot_id="discord", channel_id="other")
CLI = Address(chatbot_id="cli", channel_id="cli")


async def test_of_many_claimers_at_once_one_gets_the_prompt(bench: GatewayHarness) -> None:
    # K-014, K-139
    await bench.say()
    other = bench.process()
    claims = await asyncio.gather(
        *(gateway.claim(f"w{n}", EVERYTHING) for n, gateway in enumerate((bench.gateway, other) * 4))
    )
    (won,) = [claim for claim in claims if claim is not None]
    moves = [each for each in await bench.events() if each.after is S.PROCESSING]
    assert [each.record.id for each in moves] == [won.prompt.id]


async def test_what_is_done_is_not_claimed(bench: GatewayHarness) -> None:
    # K-140
    record = await bench.say()
    await bench.finish(await bench.claim())
    assert await bench.gateway.claim("w1", EVERYTHING) is None
    assert await bench.status(record) is S.PROCESSED


async def test_an_empty_queue_gives_no_claim(bench: GatewayHarness) -> None:
    assert await bench.gateway.claim("w1", EVERYTHING) is None


async def test_prompts_that_came_while_nobody_ran_are_found(bench: GatewayHarness, store: Store) -> None:
    # K-136
    record = await bench.say()
    later = GatewayHarness(store)
    assert (await later.claim()).prompt.id == record.id


async def test_sessions_run_beside_each_other_the_oldest_first(bench: GatewayHarness) -> None:
    a1, b1 = await bench.say("a1"), await bench.say("b1", at=OTHER)
    a2, b2 = await bench.say("a2", catch_up=True), await bench.say("b2", at=OTHER, catch_up=True)
    first, second = await bench.claim(), await bench.claim()
    assert [first.prompt.id, second.prompt.id] == [a1.id, b1.id]
    assert await bench.gateway.claim("w1", EVERYTHING) is None
    await bench.finish(second)
    assert (await bench.claim()).prompt.id == b2.id
    await bench.finish(first)
    assert (await bench.claim()).prompt.id == a2.id


@pytest.mark.parametrize(
    ("addresses", "claimed"),
    [
        ({ROOM}, True),
        ({Address(chatbot_id="discord", channel_id="*")}, True),
        ({OTHER, CLI, Address(chatbot_id="wechat", channel_id="*")}, False),
        (set(), False),
    ],
)
async def test_a_process_claims_only_what_it_serves(
    bench: GatewayHarness, addresses: set[Address], claimed: bool
) -> None:
    await bench.say()
    claim = await bench.gateway.claim("w1", Serving(addresses=frozenset(addresses)))
    assert (claim is not None) is claimed


async def test_prompts_of_an_ended_session_end_in_error_and_people_are_told(
    bench: GatewayHarness, store: Store
) -> None:
    # K-146, N-11
    first, second = await bench.say("one"), await bench.say("two", catch_up=True)
    note = await bench.gateway.post(Post(message=make.wakeup("j", "x"), address=ROOM, mode="inject"))
    await store.write(lambda tx: tx.sessions.end(first.session_id, at=1))
    assert await bench.gateway.claim("w1", EVERYTHING) is None
    assert {await bench.status(each) for each in (first, second, note)} == {S.ERROR}
    answers = [each for each in await bench.session(first) if each.kind == "answer"]
    assert [(each.parent_id, each.status, each.message.source.kind) for each in answers] == [
        (first.id, S.PENDING, "error"),
        (second.id, S.PENDING, "error"),
    ]
    lease = await store.read(lambda tx: tx.leases.get(first.session_id))
    assert lease is None or lease.owner is None


async def test_ended_sessions_do_not_hold_up_others(bench: GatewayHarness, store: Store) -> None:
    # K-146
    ended, fine = await bench.say(), await bench.say(at=OTHER)
    await store.write(lambda tx: tx.sessions.end(ended.session_id, at=1))
    assert (await bench.claim()).prompt.id == fine.id
    assert await bench.status(ended) is S.ERROR


async def test_a_turn_that_ends_its_session_still_answers(bench: GatewayHarness, store: Store) -> None:
    record = await bench.say()
    claim = await bench.claim()
    await store.write(lambda tx: tx.sessions.end(record.session_id, at=1))
    assert (await bench.finish(claim)).status is S.PENDING


async def test_a_release_at_shutdown_puts_the_prompt_back_and_counts_no_failure(bench: GatewayHarness) -> None:
    record = await bench.say()
    claim = await bench.claim()
    await bench.call(claim)
    await bench.gateway.release(claim.fence, requeue=True)
    assert await bench.status(record) is S.PENDING_AGENT
    again = await bench.claim("w2")
    assert again.prompt.id == record.id
    assert again.fence.generation > claim.fence.generation
    lease = await bench.store.read(lambda tx: tx.leases.get(record.session_id))
    assert lease is not None
    assert lease.failures == 0
    await bench.gateway.release(claim.fence, requeue=True)
    assert await bench.status(record) is S.PROCESSING


async def test_a_lease_that_is_renewed_is_kept_and_any_other_is_lost(bench: GatewayHarness) -> None:
    mine = [await bench.say(at=at) for at in (ROOM, OTHER)]
    fences = {(await bench.claim()).fence for _ in mine}
    await bench.say(at=CLI)
    theirs = (await bench.claim("w2")).fence
    await bench.clock.advance(25)
    assert await bench.gateway.renew("w1") == fences
    await bench.clock.advance(25)
    assert await bench.gateway.recover() == 1
    assert await bench.gateway.renew("w1") == fences
    assert await bench.gateway.renew("w2") == frozenset()
    assert theirs not in fences


async def test_a_steered_prompt_of_another_channel_gets_a_turn_of_its_own(bench: GatewayHarness, store: Store) -> None:
    first = await bench.say()
    await store.write(lambda tx: tx.sessions.bind(OTHER, first.session_id))
    second = await bench.say(at=OTHER, mode="steer")
    claim = await bench.claim()
    assert claim.prompt.id == first.id
    assert await bench.gateway.join(claim.fence, first.id, round=2) == []
    await bench.finish(claim)
    assert (await bench.claim()).prompt.id == second.id


async def test_a_channel_that_is_not_served_opens_no_turn(bench: GatewayHarness, store: Store) -> None:
    first = await bench.say(mode="steer")
    await store.write(lambda tx: tx.sessions.bind(OTHER, first.session_id))
    await bench.say(at=OTHER)
    claim = await bench.claim(serving=Serving(addresses=frozenset({ROOM})))
    assert claim.prompt.id == first.id


async def test_a_prompt_of_a_deleted_session_ends_in_error(tmp_path: Path) -> None:
    # K-146, N-11
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        bench = GatewayHarness(store)
        record = await bench.say()
        with closing(sqlite3.connect(path)) as outside, outside:
            outside.execute("DELETE FROM sessions")
            outside.execute("DELETE FROM bindings")
        assert await bench.gateway.claim("w1", EVERYTHING) is None
        assert await bench.status(record) is S.ERROR
        told = [each.record for each in await bench.events() if each.record.kind == "answer"]
        assert [(each.status, each.parent_id, each.address) for each in told] == [(S.PENDING, record.id, ROOM)]


async def test_claims_of_a_deep_queue_stay_in_order(bench: GatewayHarness) -> None:
    batch = [prompt(f"{n}") for n in range(40)]
    records = await bench.gateway.accept(batch, catch_up=True)
    for each in records:
        claim = await bench.claim()
        assert claim.prompt.id == each.id
        await bench.finish(claim)


async def test_a_claim_says_whether_there_is_anything_of_its_turn_but_the_prompt(bench: GatewayHarness) -> None:
    await bench.say("a")
    first = await bench.claim()
    assert first.is_new
    await bench.gateway.release(first.fence, requeue=True)
    assert not (await bench.claim()).is_new, "it was begun before"


async def test_a_prompt_with_something_behind_it_is_not_all_there_is(bench: GatewayHarness) -> None:
    await bench.say("a")
    await bench.say("b", catch_up=True)
    first = await bench.claim()
    assert not first.is_new
    await bench.finish(first)
    assert not (await bench.claim()).is_new, "the answer to the first stands behind it"
