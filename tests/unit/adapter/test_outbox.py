"""Delivery: order, retries, refusals, doubt, restarts (store rule 9)."""

import asyncio
import inspect
import threading
from typing import Any, ClassVar

import pytest

from kesoku.adapter import Outgoing, Pace, Principal, Prompt, Receipt, RenderContext
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.adapter.sender import BLIND, DOUBT
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import DeliveryState
from kesoku.messages.record import Address, Post, Record
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import settle
from kesoku.testing.faulty_store import AFTER, BEFORE, FaultyStore, StoreFault
from kesoku.testing.platform import Fault
from kesoku.testing.recording import RecordingAdapter

NONE, RETRY, REFUSE, LOST, ARRIVED = (Fault(kind=kind) for kind in ("none", "retry", "refuse", "lost", "arrived"))


async def parts(runner: AdapterRunner, record: Record) -> list[Any]:
    return await runner.store.read(lambda tx: tx.deliveries.of(record.id))


async def test_an_answer_is_sent_once_in_parts_and_then_delivered(world: Any, quiet: Any) -> None:
    # K-131, K-154, D-032
    async with world.runner(max_text=40) as runner:
        record = await runner.answer("c", "\n\n".join(f"paragraph number {n}" for n in range(9)))
        await quiet(runner)
        shown = world.platform.shown("c")
        assert len(shown) > 3
        assert all(len(each.text) <= 40 for each in shown)
        assert "".join(each.text for each in shown) == record.message.rendered
        assert await runner.status(record) is S.DELIVERED
        assert runner.adapter.hooks == [("delivered", record.id)]
        found = await runner.store.read(lambda tx: tx.messages.find(runner.chatbot_id, [shown[1].id]))
        assert found == await runner.store.read(lambda tx: tx.messages.get(record.id))


async def test_another_bots_answer_is_not_handed_over(world: Any, quiet: Any) -> None:
    # K-149
    async with world.runner() as runner:
        await runner.gateway.post(
            Post(
                message=make.answer("hi", provider="p", model="m"),
                address=Address(chatbot_id="wechat", channel_id="c"),
            )
        )
        await runner.answer("c", "mine")
        await quiet(runner)
        assert world.platform.texts() == ["mine"]


async def test_what_waited_while_the_adapter_was_down_comes_in_order_once(world: Any, quiet: Any) -> None:
    # K-153, K-158, complaint 32
    down = world.runner()
    records = [await down.answer(f"c{n % 2}", f"text {n}") for n in range(6)]
    async with world.runner() as runner:
        await quiet(runner)
        assert world.platform.texts("c0") == ["text 0", "text 2", "text 4"]
        assert world.platform.texts("c1") == ["text 1", "text 3", "text 5"]
        assert {await runner.status(each) for each in records} == {S.DELIVERED}
    async with world.runner() as runner:
        await quiet(runner)
        assert len(world.platform.ops("send")) == 6
        assert runner.adapter.hooks == []  # K-154: not repeated after a restart


@pytest.mark.parametrize(("ids", "reply_to"), [({"message_id": "7", "thread_id": "8"}, "7"), ({}, None)])
async def test_an_answer_replies_to_its_prompt_and_never_to_what_that_replied_to(
    world: Any, quiet: Any, ids: dict[str, str], reply_to: str | None
) -> None:
    async with world.runner() as runner:
        ada = Principal(user_id="ada", display_name="Ada")
        asked = Prompt(
            keys=("k",), address=runner.address("c"), principal=ada, text="hi", platform_ids=ids, reply_to="6"
        )
        await runner.inbox.accept([asked])
        await runner.finish(await runner.claim(), "hello")
        await quiet(runner)
        assert [each.reply_to for each in world.platform.shown("c")] == [reply_to]


@pytest.mark.no_cover
async def test_a_flood_behind_a_paused_channel_arrives_whole(world: Any, quiet: Any) -> None:
    # complaint 36
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="hang"))
        for n in range(300):
            await runner.answer("c", str(n))
        await settle()
        world.platform.release()
        await quiet(runner)
        assert world.platform.texts("c") == [str(n) for n in range(300)]


async def test_a_retryable_failure_keeps_it_pending_and_sends_the_failed_part_only(world: Any, quiet: Any) -> None:
    # K-152; complaint 26
    async with world.runner(max_text=20) as runner:
        record = await runner.answer("c", "part one is here\n\npart two is here\n\npart three is here")
        world.platform.script("c", NONE, RETRY)
        for _ in range(200):
            await settle(1)
            if (await parts(runner, record))[1:2] and (await parts(runner, record))[1].error:
                break
        assert await runner.status(record) is S.PENDING
        assert world.platform.texts("c") == ["part one is here"]
        await world.clock.advance(2)
        await quiet(runner)
        assert world.platform.texts("c") == ["part one is here", "part two is here", "part three is here"]
        assert await runner.status(record) is S.DELIVERED


async def test_the_wait_that_the_platform_names_is_kept(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="retry", seconds=30.0))
        record = await runner.answer("c", "later")
        await settle()
        await world.clock.advance(29.9)
        assert await runner.status(record) is S.PENDING
        await world.clock.advance(0.2)
        await quiet(runner)
        assert await runner.status(record) is S.DELIVERED


async def test_one_channel_in_trouble_holds_up_only_itself(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("slow", Fault(kind="hang"))
        world.platform.script("busy", Fault(kind="retry", seconds=99.0))
        stuck = [await runner.answer(channel, "first") for channel in ("slow", "busy")]
        held = [await runner.answer(channel, "second") for channel in ("slow", "busy")]
        free = await runner.answer("free", "hello")
        await settle(100)
        assert await runner.status(free) is S.DELIVERED
        assert {await runner.status(each) for each in (*stuck, *held)} == {S.PENDING}
        world.platform.release()
        await world.clock.advance(100)
        await quiet(runner)
        assert world.platform.texts("slow") == world.platform.texts("busy") == ["first", "second"]


async def test_a_refusal_ends_in_error_with_what_went_out(world: Any, quiet: Any) -> None:
    # complaint 37; N-01
    async with world.runner(max_text=20) as runner:
        world.platform.script("c", NONE, REFUSE)
        record = await runner.answer("c", "part one is here\n\npart two is here\n\npart three is here")
        after = await runner.answer("c", "next")
        await quiet(runner)
        assert await runner.status(record) is S.ERROR
        states = [each.state for each in await parts(runner, record)]
        assert states == [DeliveryState.SENT, DeliveryState.REFUSED, DeliveryState.PLANNED]
        log = await runner.store.read(lambda tx: tx.events.of(record.id))
        assert "forbidden" in log[-1].reason
        assert await runner.status(after) is S.DELIVERED
        assert runner.adapter.hooks == [("delivered", after.id)]


async def test_an_unknown_outcome_is_sent_again_under_its_key(world: Any, quiet: Any) -> None:
    # N-02
    async with world.runner(key_window=300.0) as runner:
        world.platform.script("c", ARRIVED, LOST, Fault(kind="bug"))
        record = await runner.answer("c", "once")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert world.platform.texts("c") == ["once"]
        assert await runner.status(record) is S.DELIVERED
        assert {each["key"] for each in world.platform.ops("send", "repeat")} == {
            (await parts(runner, record))[0].send_key
        }


@pytest.mark.parametrize("fault", [ARRIVED, LOST])
async def test_without_a_key_the_platform_is_asked(world: Any, quiet: Any, fault: Fault) -> None:
    # N-02
    async with world.runner(find=True) as runner:
        world.platform.script("c", fault)
        world.platform.script("find c", Fault(kind="bug"))
        record = await runner.answer("c", "once")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert world.platform.texts("c") == ["once"]
        assert await runner.status(record) is S.DELIVERED


@pytest.mark.parametrize("fault", [ARRIVED, LOST])
async def test_equal_texts_are_told_apart_where_no_key_is_kept(world: Any, quiet: Any, fault: Fault) -> None:
    """N-02: what looks like the part in doubt may be another one of ours, which stays what it is."""
    world.platform.keeps_keys = False
    async with world.runner(find=True) as runner:
        first = await runner.answer("c", "ok")
        await quiet(runner)
        world.platform.script("c", fault)
        second = await runner.answer("c", "ok")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert world.platform.texts("c") == ["ok", "ok"]
        ids = [(await parts(runner, each))[0].platform_ids for each in (first, second)]
        assert [(each.id,) for each in world.platform.shown("c")] == ids
        assert await runner.status(second) is S.DELIVERED


async def test_where_nobody_may_look_one_blind_retry_is_made(world: Any, quiet: Any) -> None:
    """N-02: a refused look is not repeated; complaint 6."""
    async with world.runner(find=True) as runner:
        world.platform.script("c", LOST)
        world.platform.script("find c", Fault(kind="refuse"))
        record = await runner.answer("c", "hello")
        after = await runner.answer("c", "next")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert world.platform.texts("c") == ["hello", "next"]
        assert (await parts(runner, record))[0].error.startswith(BLIND)
        assert await runner.status(after) is S.DELIVERED


async def test_with_neither_one_blind_retry_is_made_and_recorded(world: Any, quiet: Any) -> None:
    # N-02
    async with world.runner() as runner:
        world.platform.script("c", ARRIVED)
        record = await runner.answer("c", "perhaps twice")
        await settle()
        assert (await parts(runner, record))[0].error.startswith(DOUBT)
        await world.clock.advance(60)
        await quiet(runner)
        (part,) = await parts(runner, record)
        assert world.platform.texts("c") == ["perhaps twice"] * 2
        assert (part.state, await runner.status(record)) == (DeliveryState.SENT, S.DELIVERED)
        assert part.error.startswith(BLIND)


async def test_after_one_blind_retry_it_is_given_up(world: Any, quiet: Any) -> None:
    # N-02
    async with world.runner() as runner:
        world.platform.script("c", LOST, RETRY, LOST)
        record = await runner.answer("c", "unlucky")
        after = await runner.answer("c", "next")
        for _ in range(10):
            await world.clock.advance(60)
        await quiet(runner)
        (part,) = await parts(runner, record)
        assert (part.state, part.attempts) == (DeliveryState.AMBIGUOUS, 3)
        assert await runner.status(record) is S.ERROR
        assert await runner.status(after) is S.DELIVERED


async def test_what_follows_a_part_that_was_given_up_is_still_sent(world: Any, quiet: Any) -> None:
    async with world.runner(max_text=20) as runner:
        world.platform.script("c", NONE, LOST, LOST)
        record = await runner.answer("c", "part one is here\n\npart two is here\n\npart three is here")
        for _ in range(10):
            await world.clock.advance(60)
        await quiet(runner)
        assert world.platform.texts("c") == ["part one is here", "part three is here"]
        assert await runner.status(record) is S.ERROR
        log = await runner.store.read(lambda tx: tx.events.of(record.id))
        assert log[-1].reason.startswith("ambiguous")


async def test_a_send_that_hangs_is_ambiguous_after_its_time(world: Any, quiet: Any) -> None:
    async with world.runner(key_window=300.0) as runner:
        world.platform.script("c", Fault(kind="hang"))
        record = await runner.answer("c", "hello")
        await settle()
        await world.clock.advance(61)
        await world.clock.advance(5)
        await quiet(runner)
        assert await runner.status(record) is S.DELIVERED
        assert (await parts(runner, record))[0].attempts == 2


async def test_held_until_the_person_speaks(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="hold"))
        first, second = await runner.answer("c", "1"), await runner.answer("c", "2")
        await settle()
        await world.clock.advance(3600)
        assert [each.state for each in await parts(runner, first)] == [DeliveryState.HELD]
        assert world.platform.texts("c") == []
        world.platform.say("elsewhere", "hello")
        await settle()
        assert world.platform.texts("c") == []
        world.platform.say("c", "hello")
        await settle()
        assert world.platform.texts("c") == ["1", "2"]
        assert await runner.status(second) is S.DELIVERED


async def test_held_survives_a_restart_and_ends_with_what_was_said_meanwhile(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="hold"))
        await runner.answer("c", "1")
        await settle()
    async with world.runner() as runner:
        await settle()
        assert len(world.platform.ops("send")) == 0
        post = Post(message=make.user_prompt("hi", author="Ada", user_id="ada"), address=runner.address("c"))
        await runner.gateway.accept([post])  # committed, but the process ends before the outbox hears of it
    async with world.runner() as runner:
        await settle()
        assert world.platform.texts("c") == ["1"]


async def test_held_until_a_time(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="hold", seconds=world.clock.now() / 1e6 + 50))
        await runner.answer("c", "1")
        await settle()
        await world.clock.advance(49)
        assert world.platform.texts("c") == []
        await world.clock.advance(2)
        await quiet(runner)
        assert world.platform.texts("c") == ["1"]


async def test_a_lost_login_is_reported_and_ends_the_wait_when_it_is_back(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="login"))
        record = await runner.answer("c", "1")
        await settle()
        assert runner.health.healthy is False
        assert "is not logged in" in runner.health.text
        assert await runner.status(record) is S.PENDING
        runner.inbox.report(True)
        await quiet(runner)
        assert world.platform.texts("c") == ["1"]


async def test_old_messages_are_held_with_one_notice(world: Any, quiet: Any) -> None:
    # complaint 20
    down = world.runner()
    old = [await down.answer("c", f"old {n}") for n in range(110)]
    partly = await down.answer("d", "old too")
    await world.clock.advance(86_400 + 60)
    for _ in range(2):  # the second start says nothing again
        async with world.runner() as runner:
            await quiet(runner)
            (notice,) = world.platform.texts("c")
            assert "110 older messages" in notice
            assert {await runner.status(each) for each in (*old, partly)} == {S.PENDING}
            assert {part.state for each in old for part in await parts(runner, each)} == {DeliveryState.HELD}
            world.platform.say("c", "hello")
            await quiet(runner)
            assert len(world.platform.texts("c")) == 1


async def test_what_gets_too_old_while_it_waits_is_held_too(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("d", *[Fault(kind="retry", seconds=50_000.0)] * 2)
        record = await runner.answer("d", "tired")
        await settle()
        await world.clock.advance(100_001)
        await quiet(runner)
        assert await runner.status(record) is S.PENDING
        assert [each.state for each in await parts(runner, record)] == [DeliveryState.HELD]
        assert "held back" in world.platform.texts("d")[0]


class Clumsy(RecordingAdapter):
    """Cannot render what says so."""

    def render(self, record: Any, context: Any) -> tuple[Outgoing, ...]:
        if "unspeakable" in record.message.rendered:
            raise KeyError("a bug")
        return super().render(record, context)


async def test_a_record_that_cannot_be_rendered_ends_in_error_alone(world: Any, quiet: Any) -> None:
    async with world.runner(kind=Clumsy) as runner:
        record, after = await runner.answer("c", "unspeakable"), await runner.answer("c", "next")
        await quiet(runner)
        assert await runner.status(record) is S.ERROR
        assert await runner.status(after) is S.DELIVERED


async def test_pace_is_kept_within_a_scope(world: Any, quiet: Any) -> None:
    async with world.runner(pace=lambda address: Pace(scope=address.channel_id[0], interval=1.0)) as runner:
        for channel in ("a1", "a2", "b1"):
            await runner.answer(channel, channel)
        await settle()
        assert sorted(world.platform.texts()) == ["a1", "b1"]
        await world.clock.advance(1.1)
        await quiet(runner)
        assert sorted(world.platform.texts()) == ["a1", "a2", "b1"]


@pytest.mark.parametrize("fault", ["hang", "stuck"])
@pytest.mark.parametrize("window", [0.0, 300.0])
@pytest.mark.parametrize("find", [False, True])
async def test_a_process_that_dies_while_sending_is_followed_by_the_rules(
    world: Any, quiet: Any, fault: str, window: float, find: bool
) -> None:
    # N-02; complaint 19
    facts = {"max_text": 20, "key_window": window, "find": find}
    async with world.runner(**facts) as runner:
        record = await runner.answer("c", "part one is here\n\npart two is here\n\npart three is here")
        world.platform.script("c", NONE, Fault(kind=fault))
        await settle(200)
    assert await runner.status(record) is S.PENDING
    assert [each.state for each in await parts(runner, record)][:2] == [DeliveryState.SENT, DeliveryState.SENDING]
    async with world.runner(**facts) as runner:
        await quiet(runner)
        one, two, three = "part one is here", "part two is here", "part three is here"
        doubled = fault == "stuck" and not window and not find
        assert world.platform.texts("c") == ([one, two, two, three] if doubled else [one, two, three])
        assert await runner.status(record) is S.DELIVERED
        assert runner.adapter.hooks == [("delivered", record.id)]


@pytest.mark.parametrize("fault", [BEFORE, AFTER], ids=["before", "after"])
async def test_a_receipt_that_is_not_stored_at_once_is_kept(fault: StoreFault, world: Any, quiet: Any) -> None:
    # N-02: the process still knows what the platform said, so nothing is in doubt.
    store = FaultyStore(world.store, world.clock)
    store.script("Ledger.sent", fault)
    async with world.runner(store=store) as runner:
        record = await runner.answer("c", "once")
        await settle()
        await world.clock.advance(5)
        await quiet(runner)
        assert store.hits["Ledger.sent"] == 1
        assert world.platform.texts("c") == ["once"]
        assert await runner.status(record) is S.DELIVERED
        assert runner.adapter.hooks == [("delivered", record.id)]


async def test_a_send_that_never_began_is_no_doubt(world: Any, quiet: Any) -> None:
    # N-02: nobody can be asked here, and one blind retry is all there is.
    store = FaultyStore(world.store, world.clock)
    store.script("Ledger.move", AFTER, AFTER, AFTER)
    async with world.runner(store=store) as runner:
        record = await runner.answer("c", "once")
        for _ in range(9):
            await world.clock.advance(1)
        await quiet(runner)
        assert store.hits["Ledger.move"] == 3
        assert world.platform.texts("c") == ["once"]
        assert await runner.status(record) is S.DELIVERED
        assert [each.error for each in await parts(runner, record)] == [None]


class Quota(RecordingAdapter):
    """A platform on which so many parts may be sent as its state says."""

    def plan(self, address: Any, parts: tuple[Outgoing, ...], state: Any) -> tuple[Outgoing, ...] | None:
        left = (state or {}).get("left", 0)
        if not left:
            return None
        return parts if len(parts) <= left else (Outgoing(text="".join(each.text for each in parts)),)


async def test_a_quota_holds_a_message_and_then_fits_it(world: Any, quiet: Any) -> None:
    async with world.runner(kind=Quota, max_text=20) as runner:
        record = await runner.answer("c", "part one is here\n\npart two is here\n\npart three is here")
        await settle()
        assert (world.platform.texts("c"), await parts(runner, record)) == ([], [])
        await runner.inbox.state.set("plan:c", {"left": 1})
        await settle()
        assert world.platform.texts("c") == []
        world.platform.say("c", "hi")
        await quiet(runner)
        assert world.platform.texts("c") == ["part one is here\n\npart two is here\n\npart three is here"]
        assert await runner.status(record) is S.DELIVERED


async def test_an_orderly_end_lets_a_send_finish_and_begins_no_other(world: Any) -> None:
    async with world.runner(policy=DeliveryPolicy(drain_seconds=5.0)) as runner:
        world.platform.script("c", Fault(kind="slow", seconds=0.05), Fault(kind="hang"))
        first, second = await runner.answer("c", "1"), await runner.answer("c", "2")
        await settle()
    assert [await runner.status(each) for each in (first, second)] == [S.DELIVERED, S.PENDING]
    assert [each.state for each in await parts(runner, second)] in ([], [DeliveryState.PLANNED])


async def test_a_store_that_cannot_be_read_for_a_while_ends_nothing(world: Any, quiet: Any) -> None:
    store = FaultyStore(world.store, world.clock)
    store.script("Backlog.snapshot", BEFORE, BEFORE)
    async with world.runner(store=store) as runner:
        record = await runner.answer("c", "1")
        await settle()
        assert await runner.status(record) is S.PENDING
        await world.clock.advance(5)
        await quiet(runner)
        assert store.hits["Backlog.snapshot"] == 2
        assert await runner.status(record) is S.DELIVERED


async def test_every_write_may_run_twice(rerun_world: Any, quiet: Any) -> None:
    async with rerun_world.runner(max_text=20) as runner:
        record = await runner.answer("c", "part one is here\n\npart two is here")
        await quiet(runner)
        assert rerun_world.platform.texts("c") == ["part one is here", "part two is here"]
        assert await runner.status(record) is S.DELIVERED


class Nameless(RecordingAdapter):
    """A platform that says yes and no more."""

    async def send(self, address: Any, outgoing: Outgoing, key: str) -> Receipt:
        await super().send(address, outgoing, key)
        return Receipt(platform_ids=())


async def test_without_an_id_nothing_is_delivered(world: Any, quiet: Any) -> None:
    async with world.runner(kind=Nameless) as runner:
        record = await runner.answer("c", "1")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert await runner.status(record) is S.ERROR
        assert "no id" in (await parts(runner, record))[0].error


async def test_an_answer_with_nothing_to_show_is_delivered_without_a_send(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        record = await runner.answer("c", " \n ")
        await quiet(runner)
        assert (await runner.status(record), world.platform.ops("send")) == (S.DELIVERED, [])


async def test_a_timed_hold_ends_when_the_person_speaks(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        world.platform.script("c", Fault(kind="hold", seconds=world.clock.now() / 1e6 + 500))
        await runner.answer("c", "1")
        await settle()
        world.platform.say("c", "hello")
        await quiet(runner)
        assert world.platform.texts("c") == ["1"]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -5.0, 1e18])
@pytest.mark.parametrize("kind", ["retry", "hold"])
async def test_odd_waits_are_bounded(world: Any, quiet: Any, kind: str, seconds: float) -> None:
    async with world.runner(policy=DeliveryPolicy(drain_seconds=0.0, max_age=1e9)) as runner:
        world.platform.script("c", Fault(kind=kind, seconds=seconds))
        record = await runner.answer("c", "1")
        await settle()
        await world.clock.advance(86_401)
        await quiet(runner)
        assert (await runner.status(record), len(world.platform.ops("send"))) == (S.DELIVERED, 1)


class Forgetful(RecordingAdapter):
    """Raises in a hook and, for one channel, in a way that the core does not expect."""

    def plan(self, address: Address, parts: tuple[Outgoing, ...], state: Any) -> tuple[Outgoing, ...]:
        if address.channel_id == "bad":
            raise IndexError("a bug")
        return parts

    async def delivered(self, record: Any, receipts: Any) -> None:
        raise KeyError("a bug")


async def test_bugs_of_an_adapter_end_neither_its_channel_nor_another(world: Any, quiet: Any) -> None:
    async with world.runner(kind=Forgetful) as runner:
        bad, good = await runner.answer("bad", "1"), await runner.answer("good", "1")
        await settle()
        for _ in range(10):
            await world.clock.advance(60)
        await quiet(runner)
        assert await runner.status(good) is S.DELIVERED
        assert await runner.status(bad) is S.PENDING
        assert len(runner.outbox._lanes) == 0


class Panic(BaseException):
    """How the panic of an extension in Rust arrives."""


@pytest.mark.parametrize("odd", [asyncio.CancelledError, SystemExit, Panic])
async def test_what_is_no_exception_ends_no_channel_either(world: Any, quiet: Any, odd: type[BaseException]) -> None:
    class Odd(RecordingAdapter):
        raised = False

        async def send(self, address: Any, outgoing: Outgoing, key: str) -> Any:
            if not Odd.raised:
                Odd.raised = True
                raise odd
            return await super().send(address, outgoing, key)

    async with world.runner(kind=Odd, key_window=300.0) as runner:
        answer = await runner.answer("room", "1")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert await runner.status(answer) is S.DELIVERED


async def test_a_long_answer_is_rendered_beside_the_loop(world: Any, quiet: Any) -> None:
    class Witness(RecordingAdapter):
        beside: ClassVar[dict[int, bool]] = {}

        def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
            beside = threading.current_thread() is not threading.main_thread()
            self.beside[len(record.message.rendered)] = beside
            return (Outgoing(text="shown"),)

    async with world.runner(kind=Witness) as runner:
        answers = [await runner.answer("room", "x" * size) for size in (10, 30_000)]
        await runner.outbox.idle()
        await quiet(runner)
        assert {await runner.status(each) for each in answers} == {S.DELIVERED}
    assert Witness.beside == {10: False, 30_000: True}


async def test_work_that_is_stopped_before_its_first_step_is_not_left_unawaited(world: Any) -> None:
    outbox = world.runner().outbox
    begun: list[str] = []

    async def work() -> None:
        begun.append("never")

    left = work()
    outbox._spawn(left)
    (task,) = outbox._tasks
    task.cancel()
    await asyncio.wait({task})
    await settle()
    assert begun == []
    assert inspect.getcoroutinestate(left) == inspect.CORO_CLOSED, "so that nothing warns of it later"
