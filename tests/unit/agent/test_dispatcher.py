"""Interruption, recovery, fencing, leases and draining (seed 004 sections 4 and 6.3; store rules 3 to 8 and 15)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import pytest

from kesoku.agent.dispatcher import Dispatcher, DispatchLimits
from kesoku.agent.worker import Worker
from kesoku.errors import StoreError
from kesoku.history.order import phased
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, Claim, Fence
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.turn import CallBlock, ResultBlock, TextBlock
from kesoku.ports import Transaction
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import settle
from kesoku.testing.gateway_harness import EVERYTHING, GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Held, ScriptedModel, call, reply, thought
from kesoku.testing.model_contract import listen
from kesoku.testing.waiting import PATIENCE
from kesoku.tools.tool import Effect, Tool, tool

T = TypeVar("T")


class Slow:
    """A tool that hangs until it is let go, and counts what happens to it."""

    def __init__(self) -> None:
        self.entered, self.release = asyncio.Event(), asyncio.Event()
        self.cancelled = asyncio.Event()
        self.runs = 0

    def tool(self) -> Tool:
        @tool(effect=Effect.READ)
        async def slow() -> str:
            """Hang."""
            self.runs += 1
            self.entered.set()
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            return "slow result"

        return slow


class Quick:
    """A tool that counts its runs."""

    def __init__(self) -> None:
        self.runs = 0

    def tool(self) -> Tool:
        @tool(effect=Effect.READ)
        def quick() -> str:
            """Return."""
            self.runs += 1
            return "quick result"

        return quick


async def soon(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await event.wait()


async def test_a_newer_prompt_interrupts_a_running_model_call() -> None:
    # K-143, K-244, K-245, K-246, K-247, K-248
    held = Held(reply("a web component"))
    model = ScriptedModel(reply(thought("Let me plan."), call("quick")), held, "a command line tool")
    quick = Quick()
    harness = AgentHarness(model, tools=[quick.tool()])
    first = await harness.say("Build a new web component")
    async with harness.at_work():
        await soon(held.entered)
        second = await harness.say("Wait, actually build a command line tool instead")
        answer = await harness.answered(second)
        assert held.cancelled
        held.release.set()
        await settle()
    assert answer.message.rendered == "a command line tool"
    assert await harness.status(first) is MessageStatus.INTERRUPTED
    assert [each.kind for each in phased(await harness.turn(first))] == [
        "user_prompt",
        "thought",
        "tool_call",
        "tool_result",
    ]
    assert await harness.status(second) is MessageStatus.PROCESSED
    assert "web component" not in [
        each.message.rendered for each in await harness.session(first) if each.kind == "answer"
    ]
    assert harness.drafts.cleared == [first.id, second.id]


async def test_a_newer_prompt_interrupts_a_running_tool() -> None:
    # K-143, K-145; complaint 50
    slow, quick = Slow(), Quick()
    model = ScriptedModel(reply(call("quick"), call("slow")), "the new thing")
    harness = AgentHarness(model, tools=[slow.tool(), quick.tool()])
    first = await harness.say("go")
    async with harness.at_work():
        await soon(slow.entered)
        await harness.until((await _result(harness, first, "quick")).id, MessageStatus.RESPONDED)
        second = await harness.say("stop")
        await soon(slow.cancelled)
        slow.release.set()
        await harness.answered(second)
    called = {each.message.content.tool: each for each in await harness.turn(first) if each.kind == "tool_call"}
    assert called["quick"].status is MessageStatus.RESPONDED
    assert called["slow"].status is MessageStatus.INTERRUPTED
    outputs = [each.message.content.output for each in await harness.turn(first) if each.kind == "tool_result"]
    assert outputs == ["quick result", None]
    sent = model.requests[1].turns[-1].blocks
    assert [type(block) for block in sent] == [ResultBlock, ResultBlock, TextBlock]


async def _result(harness: AgentHarness, prompt: Record, name: str) -> Record:
    async with asyncio.timeout(PATIENCE), harness.gateway.listen(lambda _: True, cursor=0) as changes:
        async for change in changes:
            if change.record.kind == "tool_result" and change.record.message.author == name:
                return change.record
    raise AssertionError(name)


async def test_of_several_rapid_prompts_the_newest_is_answered() -> None:
    # K-144
    held = Held()
    model = ScriptedModel(held, *["answer"] * 3)
    harness = AgentHarness(model)
    first = await harness.say("1")
    async with harness.at_work():
        await soon(held.entered)
        later = [await harness.say(text) for text in "234"]
        await harness.answered(later[-1])
    assert await harness.status(first) is MessageStatus.INTERRUPTED
    assert [await harness.status(each) for each in later[:2]] == [MessageStatus.INTERRUPTED] * 2
    assert [each.kind for each in await harness.session(first)].count("answer") == 1


async def test_another_process_interrupts_without_any_wakeup() -> None:
    # K-143: within 1 s across processes, by the poll alone
    held = Held()
    harness = AgentHarness(ScriptedModel(held), store=MemoryStore(hints=False))
    prompt = await harness.say()
    async with harness.at_work():
        await soon(held.entered)
        other = harness.process()
        await other.interrupt(prompt.session_id, by="person", reason="cancelled")
        async with asyncio.timeout(PATIENCE):
            await held.gone.wait()
        assert held.cancelled
    assert [each.kind for each in await harness.turn(prompt)] == ["user_prompt"]


async def test_a_message_posted_while_nobody_listens_is_found() -> None:
    # K-136
    harness = AgentHarness(ScriptedModel("hello"))
    prompt = await harness.say()
    async with harness.at_work():
        answer = await harness.answered(prompt)
    assert answer.message.rendered == "hello"


async def test_a_message_that_no_event_announces_is_found_by_the_sweep() -> None:
    held = Held(reply("one"))
    harness = AgentHarness(ScriptedModel(held, "two"), dispatch=DispatchLimits(turns=1))
    prompt = await harness.say()
    async with harness.at_work():
        await soon(held.entered)
        held.release.set()
        await harness.answered(prompt)
        await settle()
        claim = await _stolen(harness)
        await harness.clock.advance(31)
        answer = await harness.answered(claim)
    assert answer.message.rendered == "two"


async def _stolen(harness: AgentHarness) -> Record:
    """A prompt of a process that died the moment it had claimed it."""
    other = Address(chatbot_id="discord", channel_id="elsewhere")
    prompt = await harness.say(at=other)
    with suppress(AssertionError):
        await harness.claim("dead")
    return prompt


async def test_the_number_of_turns_at_once_is_bounded() -> None:
    held = [Held(reply(str(n))) for n in range(3)]
    harness = AgentHarness(ScriptedModel(*held), dispatch=DispatchLimits(turns=2))
    prompts = [await harness.say(at=Address(chatbot_id="discord", channel_id=str(n))) for n in range(3)]
    async with harness.at_work():
        await soon(held[0].entered)
        await soon(held[1].entered)
        await settle()
        assert not held[2].entered.is_set()
        held[0].release.set()
        await soon(held[2].entered)
        held[1].release.set()
        held[2].release.set()
        for prompt in prompts:
            await harness.answered(prompt)


async def crash(
    harness: AgentHarness, owner: str, until: asyncio.Event, result: tuple[Record, str] | None = None
) -> None:
    """A process that dies in the middle: its task is gone, and its lease stays."""
    gateway = harness.process()

    async def no_release(fence: Fence, *, requeue: bool) -> None:
        """The dead release nothing."""

    gateway.release = no_release  # type: ignore[method-assign]
    task = asyncio.create_task(harness.dispatcher(owner, gateway=gateway).run())
    await soon(until)
    if result is not None:
        await _result(harness, *result)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    harness.presence.dead.add(owner)


async def test_recovery_in_the_middle_of_a_tool() -> None:
    # K-166, K-167, K-168, K-170
    slow, quick = Slow(), Quick()
    model = ScriptedModel(reply(thought("both"), call("quick"), call("slow")), "recovered")
    harness = AgentHarness(model, tools=[slow.tool(), quick.tool()])
    prompt = await harness.say()
    await crash(harness, "first", slow.entered, (prompt, "quick"))
    async with harness.at_work("second"):
        answer = await harness.answered(prompt)
    assert answer.message.rendered == "recovered"
    assert (quick.runs, slow.runs) == (1, 1)
    records = phased(await harness.turn(prompt))
    kinds = [each.kind for each in records]
    assert kinds == ["user_prompt", "thought", "tool_call", "tool_call", "tool_result", "tool_result", "answer"]
    results = [each.message for each in records if each.kind == "tool_result"]
    assert [each.content.output for each in results] == ["quick result", None]
    assert "interrupted" in results[1].content.error
    assert results[1].author == "slow"
    assert len(model.requests) == 2
    assert answer.metadata["turn_metrics"]["turn_tool_calls"] == 2
    assert await harness.status(prompt) is MessageStatus.PROCESSED


async def test_a_reply_that_was_stored_before_a_crash_is_not_asked_for_again() -> None:
    # N-05
    harness = AgentHarness(ScriptedModel())
    prompt = await harness.say()
    claim = await harness.claim("dead")
    journal = harness.loop()._journal
    turn = await journal.open(claim)
    from_model = ScriptedModel(reply(thought("hm"), "the answer"))
    asked = harness.loop()._asked(turn, from_model)
    _, said = await listen(from_model, asked.request)
    await journal.step(turn, asked, said)
    harness.presence.dead.add("dead")
    async with harness.at_work():
        answer = await harness.answered(prompt)
    assert answer.message.rendered == "the answer"


async def test_a_deposed_worker_writes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    # N-06
    slow = Slow()
    harness = AgentHarness(ScriptedModel(reply(call("slow")), "never"), tools=[slow.tool()])
    prompt = await harness.say()
    claim = await harness.claim("w1")
    worker = Worker(harness.loop(), harness.drafts)
    task = asyncio.create_task(worker(claim))
    await soon(slow.entered)
    await harness.gateway.interrupt(prompt.session_id, by="person", reason="cancelled")
    before = await harness.events()
    slow.release.set()
    await task
    assert await harness.events() == before
    assert not caplog.records, "that is no failure"
    assert await harness.status(prompt) is MessageStatus.INTERRUPTED


async def test_a_lost_lease_stops_its_turn() -> None:
    held = Held()
    harness = AgentHarness(ScriptedModel(held, "second try"))
    prompt = await harness.say()
    async with harness.at_work():
        await soon(held.entered)
        await harness.store.write(lambda tx: tx.leases.depose(prompt.session_id, failed=False))
        await harness.clock.advance(5)
        await settle()
        assert held.cancelled
        await harness.clock.advance(301)
        assert (await harness.answered(prompt)).message.rendered == "second try"


class Offline(MemoryStore):
    """A store that does not write at times, or is away altogether."""

    broken = False
    readable = False

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        if self.broken:
            raise StoreError("the disk is gone")
        return await super().write(operation)

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        if self.broken and not self.readable:
            raise StoreError("the disk is gone")
        return await super().read(operation)


async def test_a_lease_that_cannot_be_renewed_is_given_up_in_time(caplog: pytest.LogCaptureFixture) -> None:
    # C-32
    held = Held()
    store = Offline()
    harness = AgentHarness(ScriptedModel(held, "later"), store=store)
    prompt = await harness.say()
    async with harness.at_work():
        await soon(held.entered)
        await harness.clock.advance(6)
        store.broken = True
        await harness.clock.advance(19)
        assert not held.cancelled
        await harness.clock.advance(3)
        await settle()
        assert held.gone.is_set(), "before the 30 s of the lease are over"
        store.broken = False
        await harness.clock.advance(10)
        assert (await harness.answered(prompt)).message.rendered == "later"
    assert "cannot renew leases, trying again: the disk is gone" in caplog.text


async def test_leases_of_long_turns_are_kept() -> None:
    held = Held(reply("at last"))
    harness = AgentHarness(ScriptedModel(held))
    prompt = await harness.say()
    async with harness.at_work("one"):
        await soon(held.entered)
        async with harness.at_work("two"):
            await harness.clock.advance(600)
            assert not held.cancelled
            held.release.set()
            assert (await harness.answered(prompt)).message.rendered == "at last"


async def test_an_ended_session_gets_no_model_call() -> None:
    # K-146
    model = ScriptedModel()
    harness = AgentHarness(model)
    prompt = await harness.say()
    await harness.store.write(lambda tx: tx.sessions.end(prompt.session_id, at=1))
    async with harness.at_work():
        await harness.until(prompt, MessageStatus.ERROR)
    assert not model.requests


async def test_draining_lets_turns_end() -> None:
    held = Held(reply("finished"))
    harness = AgentHarness(ScriptedModel(held))
    prompt = await harness.say()
    async with harness.at_work() as dispatcher:
        await soon(held.entered)
        dispatcher.stop()
        waiting = await harness.say(at=Address(chatbot_id="discord", channel_id="other"))
        await harness.clock.advance(29)
        held.release.set()
        assert (await harness.answered(prompt)).message.rendered == "finished"
    assert await harness.status(waiting) is MessageStatus.PENDING_AGENT


async def test_turns_that_do_not_end_go_back_to_the_queue() -> None:
    # K-166
    slow = Slow()
    model = ScriptedModel(reply(call("slow")), "resumed")
    harness = AgentHarness(model, tools=[slow.tool()])
    prompt = await harness.say()
    async with harness.at_work() as dispatcher:
        await soon(slow.entered)
        dispatcher.stop()
        await harness.clock.advance(31)
        await harness.until(prompt, MessageStatus.PENDING_AGENT)
    assert slow.cancelled.is_set()
    async with harness.at_work("next"):
        assert (await harness.answered(prompt)).message.rendered == "resumed"
    assert slow.runs == 1


async def test_cancelling_the_dispatcher_puts_turns_back_at_once() -> None:
    held = Held()
    harness = AgentHarness(ScriptedModel(held))
    prompt = await harness.say()
    task = asyncio.create_task(harness.dispatcher().run())
    await soon(held.entered)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert held.cancelled
    assert await harness.status(prompt) is MessageStatus.PENDING_AGENT


@pytest.mark.parametrize(
    ("readable", "complaints"), [(False, ["read the event log", "recover", "renew leases"]), (True, ["claim"])]
)
async def test_a_store_that_fails_for_a_while_does_not_end_the_dispatcher(
    readable: bool, complaints: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    store = Offline()
    store.readable = readable
    harness = AgentHarness(ScriptedModel("here"), store=store)
    async with harness.at_work():
        await harness.clock.advance(1)
        prompt = await harness.say()
        store.broken = True
        await harness.clock.advance(20)
        for what in complaints:
            assert f"cannot {what}, trying again: the disk is gone" in caplog.text
        store.broken = False
        await harness.clock.advance(6)
        await harness.answered(prompt)


@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_store_that_fails_at_the_start_is_waited_for_until_the_end(comes_back: bool) -> None:
    store = Offline()
    harness = AgentHarness(ScriptedModel("here"), store=store)
    prompt = await harness.say()
    store.broken = True
    async with harness.at_work() as dispatcher:
        await harness.clock.advance(3)
        if comes_back:
            store.broken = False
            await harness.clock.advance(1)
            await harness.answered(prompt)
        else:
            dispatcher.stop()
            await harness.clock.advance(1)


async def test_a_store_that_is_gone_for_good_does_not_hold_up_the_end() -> None:
    held = Held()
    store = Offline()
    harness = AgentHarness(ScriptedModel(held), store=store)
    await harness.say()
    async with harness.at_work() as dispatcher:
        await soon(held.entered)
        store.broken = True
        dispatcher.stop()
        await harness.clock.advance(31)
    assert held.cancelled


async def test_a_failure_that_cannot_be_stored_is_stored_later() -> None:
    store = Offline()

    def fail(_: object) -> None:
        store.broken = True
        raise ZeroDivisionError

    harness = AgentHarness(ScriptedModel(fail), store=store)  # type: ignore[arg-type]
    prompt = await harness.say()
    async with harness.at_work():
        await harness.clock.advance(1)
        store.broken = False
        await harness.clock.advance(1)
        assert await harness.status(prompt) is MessageStatus.PROCESSING
        await harness.clock.advance(5)
        assert "ZeroDivisionError" in (await harness.answered(prompt)).message.rendered


async def test_what_is_served_elsewhere_is_left_alone() -> None:
    harness = AgentHarness(ScriptedModel("mine"))
    other = await harness.say(at=Address(chatbot_id="telegram", channel_id="1"))
    mine = await harness.say()
    async with harness.at_work():
        await harness.answered(mine)
        await harness.clock.advance(10)
    assert await harness.status(other) is MessageStatus.PENDING_AGENT
    assert not EVERYTHING.covers(other.address)


async def test_signed_calls_survive_a_crash() -> None:
    # complaints 57, 58
    slow = Slow()
    model = ScriptedModel(reply(call("slow", signature=b"\x01sig", wire_id="w9")), "ok")
    harness = AgentHarness(model, tools=[slow.tool()])
    prompt = await harness.say()
    await crash(harness, "first", slow.entered)
    async with harness.at_work("second"):
        await harness.answered(prompt)
    (block,) = model.requests[1].turns[1].blocks
    assert isinstance(block, CallBlock)
    assert (block.signature, block.wire_id) == (b"\x01sig", "w9")


async def test_a_wakeup_runs_as_a_turn() -> None:
    # K-055, K-098
    model = ScriptedModel("the job is done")
    harness = AgentHarness(model)
    first = await harness.say()
    await harness.finish(await harness.claim())
    note = await harness.gateway.post(
        Post(message=make.wakeup("job_1", "exit 0"), address=first.address, session_id=first.session_id)
    )
    async with harness.at_work():
        await harness.answered(note)
    assert await harness.status(note) is MessageStatus.PROCESSED
    last = model.requests[0].turns[-1].blocks[-1]
    assert isinstance(last, TextBlock)
    assert last.text.startswith("[System Notification]\n[System Alert] Background Job job_1 finished")


async def idle_dispatcher(bench: GatewayHarness) -> Dispatcher:
    async def work(claim: Claim) -> None:
        await asyncio.Event().wait()

    return Dispatcher(bench.gateway, EVERYTHING, work, bench.clock, owner="me")


async def stream(*changes: Change) -> AsyncIterator[Change]:
    for change in changes:
        yield change
    await asyncio.Event().wait()


async def test_a_turn_that_is_stopped_before_its_first_step_goes_back_to_the_queue() -> None:
    bench = GatewayHarness(MemoryStore())
    prompt = await bench.say()
    dispatcher = await idle_dispatcher(bench)
    dispatcher._start(await bench.claim("me"))
    await dispatcher._put_back()
    record = await bench.store.read(lambda tx: tx.messages.get(prompt.id))
    assert record is not None
    assert record.status is MessageStatus.PENDING_AGENT
    assert (await bench.claim("other")).prompt.id == prompt.id


async def test_a_change_that_was_read_before_the_claim_stops_nothing() -> None:
    bench = GatewayHarness(MemoryStore())
    queued = await bench.say()
    (stale,) = await bench.store.read(lambda tx: tx.events.of(queued.id))
    dispatcher = await idle_dispatcher(bench)
    claim = await bench.claim("me")
    dispatcher._start(claim)
    watch = asyncio.create_task(dispatcher._watch(stream(replace(stale, record=queued))))
    await settle()
    (run,) = dispatcher._running.values()
    assert not run.stopped
    watch.cancel()
    await dispatcher._put_back()
