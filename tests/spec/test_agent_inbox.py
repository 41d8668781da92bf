"""Complete messages on their way to an agent, and in its log (seed 002)."""

import dataclasses

import pytest

from kesoku.agent.hook import StepContext
from kesoku.errors import DuplicateMessage, PromptExpected
from kesoku.gateway.prompts import Prompts
from kesoku.messages import make
from kesoku.messages.create import create_user_message
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import Answer, ToolResult, UserPrompt
from kesoku.messages.lifecycle import Step
from kesoku.messages.message import Message
from kesoku.messages.source import CronSource, ToolSource, UserSource
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import EVERYTHING, ROOM
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.tools.tool import Effect, tool

WAITS, RUNS = MessageStatus.PENDING_AGENT, MessageStatus.PROCESSING


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "fog"


def said(text: str = "hello") -> UserPrompt:
    return create_user_message(content=text, source=UserSource(user_id="1"), author="Ada")


def inbox(harness: AgentHarness) -> Prompts:
    return Prompts(harness.gateway, ROOM)


@pytest.mark.parametrize("mode", ["followup", "steer", "inject"])
async def test_an_inbox_takes_a_complete_message_and_gives_no_id(mode: str) -> None:
    """D-034, D-003."""
    harness, message = AgentHarness(ScriptedModel()), said()
    assert await getattr(inbox(harness), mode)(message) is None
    record = await harness.record(message.id)
    assert (record.message, record.mode, record.status) == (message, mode, WAITS)


@pytest.mark.parametrize("given", ["hello", b"hello", None, 5, ["hello"], make.notice("n"), make.system_prompt("s")])
async def test_text_is_refused_for_callers_create_first(given: object) -> None:
    """D-035."""
    harness = AgentHarness(ScriptedModel())
    with pytest.raises(PromptExpected, match="create_user_message"):
        await inbox(harness).followup(given)  # type: ignore[arg-type]
    assert await harness.events() == []


async def test_a_mutable_look_alike_is_frozen_on_entry_and_keeps_its_id() -> None:
    """D-036."""
    harness = AgentHarness(ScriptedModel())
    content = {"text": "hello", "attachments": [{"name": "a.txt"}]}
    given = {**said().to_dict(), "id": "m1", "content": content}
    await inbox(harness).followup(given)
    content["text"] = "changed"
    content["attachments"].clear()  # type: ignore[attr-defined]
    record = await harness.record("m1")
    assert (record.message.rendered, record.message.content.attachments[0].name) == ("hello", "a.txt")


async def test_the_same_message_twice_is_one_and_another_one_under_its_id_is_refused() -> None:
    """C-45, D-X06, D-046."""
    harness, message = AgentHarness(ScriptedModel()), said()
    box = inbox(harness)
    await box.followup(message)
    await box.followup(message)
    with pytest.raises(DuplicateMessage):
        await box.steer(dataclasses.replace(message, content=said("other").content))
    assert len(await harness.session(message.id)) == 1


async def test_followup_steer_and_inject_differ_in_when_they_are_read_and_whom_they_wake() -> None:
    """D-X01, D-X02: what is injected opens no turn, and rides along when something else does."""
    held = Held(reply(call("look")))
    model = ScriptedModel(held, "both", "then")
    harness = AgentHarness(model, tools=[look])
    injected, followed, steered = said("by the way"), said("next"), said("and quickly")
    await inbox(harness).inject(injected)
    assert await harness.gateway.claim("w", EVERYTHING) is None
    async with harness.at_work():
        prompt = await harness.say("go")
        await held.entered.wait()
        await inbox(harness).followup(followed)
        await inbox(harness).steer(steered)
        held.release.set()
        await harness.answered(prompt)
        await harness.until(followed.id, MessageStatus.PROCESSED)
    read = [[source for turn in request.turns for source, _ in turn.sources] for request in model.requests]
    assert injected.id in read[0]
    assert steered.id not in read[0]
    assert steered.id in read[1]
    assert followed.id not in read[1]
    assert followed.id in read[2]
    turns = [(await harness.record(each.id)).turn_id for each in (injected, steered, followed)]
    assert turns == [prompt.id, prompt.id, followed.id]


async def test_a_claim_takes_what_is_for_the_next_step_and_one_prompt() -> None:
    """D-X03, D-X04, D-X05."""
    harness = AgentHarness(ScriptedModel())
    n1, n2, p1, p2, late = (said(text) for text in ("n1", "n2", "p1", "p2", "late"))
    for message in (n1, n2):
        await inbox(harness).inject(message)
    for message in (p1, p2):
        await inbox(harness).followup(message)
    claim = await harness.claim()
    assert claim.prompt.id == p1.id
    await inbox(harness).inject(late)
    stood = {each.id: (await harness.record(each.id)).status for each in (n1, n2, p1, p2, late)}
    assert stood == {n1.id: RUNS, n2.id: RUNS, p1.id: RUNS, p2.id: WAITS, late.id: WAITS}
    joined = await harness.gateway.join(claim.fence, p1.id, round=2)
    assert [each.id for each in joined] == [late.id]


async def test_what_waits_is_withdrawn_by_its_id_once() -> None:
    """D-037, D-040, D-X08."""
    harness, message = AgentHarness(ScriptedModel()), said()
    await inbox(harness).followup(message)
    assert await inbox(harness).withdraw(message.id, by="policy") is True
    assert await inbox(harness).withdraw(message.id, by="policy") is False
    assert await inbox(harness).withdraw("unknown", by="policy") is False
    last = (await harness.events())[-1]
    assert (last.record.id, last.after, last.reason) == (message.id, MessageStatus.INTERRUPTED, "cancelled")


async def test_a_claim_and_a_recovery_keep_the_message() -> None:
    """D-038, D-039."""
    harness, message = AgentHarness(ScriptedModel()), said()
    await inbox(harness).followup(message)
    first = await harness.claim("dead")
    harness.presence.dead.add("dead")
    assert await harness.gateway.recover() == 1
    second = await harness.claim("alive")
    assert first.prompt.message == second.prompt.message == message
    assert await harness.gateway.claim("third", EVERYTHING) is None


async def test_an_interruption_leaves_what_waits() -> None:
    """D-X09."""
    harness, running, waiting = AgentHarness(ScriptedModel()), said(), said("later")
    await inbox(harness).followup(running)
    claim = await harness.claim()
    await inbox(harness).followup(waiting)
    before = len(await harness.events())
    await harness.gateway.interrupt(claim.fence.session_id, by="user", reason="stopped")
    assert await harness.status(running.id) is MessageStatus.INTERRUPTED
    assert await harness.status(waiting.id) is WAITS
    assert waiting.id not in {each.record.id for each in (await harness.events())[before:]}


async def test_a_hook_gets_the_message_itself() -> None:
    """D-041, D-017."""
    seen: list[UserPrompt] = []

    async def watch(context: StepContext) -> list[UserPrompt]:
        seen.extend(context.prompts)
        with pytest.raises(dataclasses.FrozenInstanceError):
            context.prompts[0].content.text = "changed"
        return []

    harness, message = AgentHarness(ScriptedModel("done"), hooks={"watch": watch}), said()
    await inbox(harness).followup(message)
    async with harness.at_work():
        await harness.until(message.id, MessageStatus.PROCESSED)
    assert seen == [message]
    assert seen[0].source == message.source


async def test_the_log_holds_complete_messages_and_the_facts_stand_beside_them() -> None:
    """D-042..D-045, D-047..D-050: one value of prompt, answer, call and result, in log, history and model request."""
    model = ScriptedModel(reply(call("look")), "done")
    harness, message = AgentHarness(model, tools=[look]), said()
    await inbox(harness).followup(message)
    async with harness.at_work():
        await harness.until(message.id, MessageStatus.PROCESSED)
    logged = {each.record.kind: each.record for each in await harness.events() if each.kind == "inserted"}
    assert logged["user_prompt"].message == message
    history = {each.id: each.message for each in await harness.session(message.id)}
    assert all(history[record.id].content == record.message.content for record in logged.values())
    answer, result = logged["answer"].message, logged["tool_result"].message
    assert isinstance(answer, Answer)
    assert (answer.role, answer.rendered, answer.source.kind) == ("assistant", "done", "model")
    assert isinstance(result, ToolResult)
    assert isinstance(result.source, ToolSource)
    assert result.source.call_id == logged["tool_call"].id
    sent = {source for request in model.requests for turn in request.turns for source, _ in turn.sources}
    assert sent == {message.id, logged["tool_call"].id, result.id}
    steps: list[Step] = await harness.store.read(lambda tx: tx.steps.of(message.id))
    assert [step.n for step in steps] == [1, 2]
    inside = {each.name for each in dataclasses.fields(Message)}
    beside = {"status", "turn_id", "round", "usage", "session_id", "seq", "facts", "superseded_by"}
    assert inside.isdisjoint(beside)


async def test_a_streamed_answer_becomes_a_message_when_it_is_complete() -> None:
    """D-050: what is streamed has no id, and nothing of it is stored before."""
    held = Held(reply("all of it"))
    harness, message = AgentHarness(ScriptedModel(held)), said()
    await inbox(harness).followup(message)
    async with harness.at_work():
        await held.entered.wait()
        assert [each.kind for each in await harness.session(message.id)] == ["user_prompt"]
        held.release.set()
        await harness.until(message.id, MessageStatus.PROCESSED)
    answers = [each for each in await harness.session(message.id) if each.kind == "answer"]
    assert len(answers) == 1


def test_the_source_says_who_typed_it() -> None:
    """D-X14: a schedule's prompt has the same role and class, and nobody typed it."""
    typed, scheduled = said(), create_user_message(content="hello", source=CronSource(job="daily"))
    assert (typed.role, typed.kind) == (scheduled.role, scheduled.kind)
    assert [each.source.kind == "user" for each in (typed, scheduled)] == [True, False]
