"""Prompts come in: once, in order, with everything that belongs to them in one commit."""

import asyncio

import pytest

from kesoku.errors import DuplicateMessage
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.kinds import Notice
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post
from kesoku.ports import Store
from kesoku.testing.gateway_harness import EVERYTHING, ROOM, GatewayHarness, prompt

CLI = Address(chatbot_id="cli", channel_id="cli")


async def test_a_prompt_waits_for_the_agent(bench: GatewayHarness) -> None:
    # K-013, K-022, K-125
    record = await bench.say("Run the tests")
    assert (record.status, record.address, record.session_n) == (S.PENDING_AGENT, ROOM, 1)
    assert record.turn_id == record.id
    session = await bench.bound()
    assert session is not None
    assert session.id == record.session_id


@pytest.mark.parametrize("message", [make.cron_prompt("daily"), make.compaction_prompt(), make.wakeup("job_1", "ok")])
async def test_triggers_wait_for_the_agent(bench: GatewayHarness, message: Message) -> None:
    # K-026, K-030, K-054, K-125
    record = await bench.gateway.post(Post(message=message, address=ROOM))
    assert record.status is S.PENDING_AGENT


async def test_the_same_platform_message_is_one_record(bench: GatewayHarness) -> None:
    # D-025, N-07, D-046
    first = await bench.say("one", keys=["d:1", "n:7"])
    again = await bench.say("one", keys=["n:7"], at=Address(chatbot_id="discord", channel_id="a new thread"))
    assert again.id == first.id
    assert len(await bench.events()) == 1
    other_bot = await bench.say("one", keys=["d:1"], at=CLI)
    assert other_bot.id != first.id


async def test_a_redelivery_during_the_turn_does_not_interrupt_it(bench: GatewayHarness) -> None:
    await bench.say("one", keys=["1"])
    claim = await bench.claim()
    again = await bench.say("one", keys=["1"])
    assert (again.id, again.status) == (claim.prompt.id, S.PROCESSING)
    assert await bench.notices() == []


async def test_duplicates_at_once_are_one_row_and_one_turn(bench: GatewayHarness) -> None:
    # complaint 29
    other = bench.process()
    copies = [gateway.accept([prompt("one", keys=["1"])]) for gateway in (bench.gateway, other) * 10]
    ids = {record.id for batch in await asyncio.gather(*copies) for record in batch}
    assert len(ids) == 1
    await bench.finish(await bench.claim())
    assert await bench.gateway.claim("w2", EVERYTHING) is None


async def test_a_batch_is_taken_in_with_its_cursor(bench: GatewayHarness, store: Store) -> None:
    # complaint 31
    batch = [prompt("a", keys=["1"]), prompt("a", keys=["1"]), prompt("b", keys=["2"])]
    first, same, second = await bench.gateway.accept(batch, catch_up=True, cursor=("discord", "last", {"id": 2}))
    assert first.id == same.id
    assert (first.session_n, second.session_n) == (1, 2)
    assert await store.read(lambda tx: tx.state.get("discord", "last")) == {"id": 2}


async def test_a_batch_that_fails_leaves_nothing(bench: GatewayHarness, store: Store) -> None:
    known = prompt("a")
    await bench.gateway.accept([known])
    forged = Post(message=known.message.update(text="b"), address=ROOM)
    events = await bench.events()
    with pytest.raises(DuplicateMessage):
        await bench.gateway.accept([prompt("new", keys=["9"]), forged], cursor=("discord", "last", 9))
    assert await bench.events() == events
    assert await store.read(lambda tx: tx.state.get("discord", "last")) is None
    assert await store.read(lambda tx: tx.messages.find("discord", ["9"])) is None


async def test_a_known_id_is_posted_once_and_never_with_another_value(bench: GatewayHarness) -> None:
    # C-45
    post = Post(message=make.notice("hi"), address=ROOM)
    first = await bench.gateway.post(post)
    assert await bench.gateway.post(post) == first
    assert len(await bench.events()) == 1
    with pytest.raises(DuplicateMessage):
        await bench.gateway.post(
            Post(
                message=Notice.restore(
                    id=first.id, source=post.message.source, content={"text": "other"}, author="Notification"
                ),
                address=ROOM,
            )
        )


async def test_an_ended_session_gives_its_channel_a_fresh_one(bench: GatewayHarness, store: Store) -> None:
    # complaint 42
    old = await bench.say("one")
    await bench.finish(await bench.claim())
    await store.write(lambda tx: tx.sessions.end(old.session_id, at=1))
    new = await bench.say("two")
    assert new.session_id != old.session_id
    claim = await bench.claim()
    assert claim.prompt.id == new.id
    assert (await bench.finish(claim)).status is S.PENDING


async def test_a_named_session_is_made_and_bound(bench: GatewayHarness) -> None:
    post = Post(message=prompt().message, address=ROOM, session_id="sess_agent_history")
    (record,) = await bench.gateway.accept([post])
    assert record.session_id == "sess_agent_history"
    assert (await bench.say("two")).session_id == "sess_agent_history"
    assert (await bench.say("other channel", at=CLI)).session_id != "sess_agent_history"
    visit = Post(message=prompt().message, address=ROOM, session_id="another")
    assert (await bench.gateway.accept([visit]))[0].session_id == "another"
    assert (await bench.say("three")).session_id == "sess_agent_history"


async def test_twenty_posts_at_once_are_strictly_ordered_turns(bench: GatewayHarness) -> None:
    # K-138, complaint 44
    await asyncio.gather(*(bench.say(f"{n}", catch_up=True) for n in range(20)))
    order = []
    while (claim := await bench.gateway.claim("w1", EVERYTHING)) is not None:
        assert await bench.gateway.claim("w2", EVERYTHING) is None
        await bench.finish(claim)
        order.append(claim.prompt.session_n)
    assert len(order) == 20
    assert order == sorted(order)
    records = await bench.session((await bench.events())[0].record)
    assert [each.session_n for each in records] == list(range(1, 41))


async def test_a_restart_and_a_prompt_at_once_start_one_turn(bench: GatewayHarness) -> None:
    # complaint 25
    await bench.say("before", catch_up=True)
    await bench.claim("dead")
    bench.presence.dead.add("dead")
    one, two = bench.process(), bench.process()
    results = await asyncio.gather(
        one.recover(),
        two.recover(),
        bench.say("after", catch_up=True),
        one.claim("w1", EVERYTHING),
        two.claim("w2", EVERYTHING),
        one.claim("w1", EVERYTHING),
    )
    assert sum(claim is not None for claim in results[3:]) <= 1
    later = [await one.claim("w1", EVERYTHING), await two.claim("w2", EVERYTHING)]
    (claim,) = [each for each in (*results[3:], *later) if each is not None]
    assert claim.prompt.message.rendered == "before"
