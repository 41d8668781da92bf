"""Whole turns: trajectories 6.1 and 6.2, metrics, and what the model is sent."""

from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.staging import Staging
from kesoku.agent.limits import TurnLimits
from kesoku.gateway import Busy, BusyPolicy
from kesoku.history.codec import reply_from_json
from kesoku.history.compile import compile_turns
from kesoku.history.order import phased
from kesoku.messages import make
from kesoku.messages.enums import MessageRole, MessageStatus, MessageType
from kesoku.messages.record import Address, Post
from kesoku.messages.turn import (
    CallBlock,
    CompiledRequest,
    MediaBlock,
    Reply,
    ResultBlock,
    TextBlock,
    TurnRequest,
    Usage,
)
from kesoku.testing.agent_harness import FILE_BYTES, AgentHarness
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import Held, ScriptedModel, call, reply, thought
from kesoku.tools.context import ToolContext
from kesoku.tools.registry import Policy
from kesoku.tools.tool import Effect, Output, Tool, tool

COMMAND = "uv run pytest tests/test_history.py"
STDOUT = "=== STDOUT ===\n5 passed in 0.42s\n=== STDERR ===\n"


@tool(effect=Effect.READ)
def run_shell_command(command: str) -> Output:
    """Run a command."""
    return Output(output=STDOUT, summary="5 passed in 0.42s")


@tool(effect=Effect.READ)
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


@tool(effect=Effect.READ)
def draw(path: str, text: str) -> Output:
    """Write a file and return it; return one that is not there, too."""
    Path(path).write_text(text)
    absent = MediaBlock(path=f"{path}.not", mime_type="image/png", name="absent.png")
    return Output(output="drawn", media=(MediaBlock(path=path, mime_type="image/svg+xml", name="a.svg"), absent))


def contents(result: ResultBlock) -> list[str]:
    return [Path(file.path).read_text() for file in result.media]


def texts(request: CompiledRequest) -> list[tuple[str, str]]:
    return [(t.role, "".join(b.text for b in t.blocks if isinstance(b, TextBlock))) for t in request.turns]


async def test_a_turn_with_a_tool() -> None:
    # K-033, K-034, K-037, K-038, K-041, K-042, K-044, K-045, K-046, K-048, K-142, K-148, K-156
    # K-230, K-231, K-232, K-234, K-236, K-238
    model = ScriptedModel(
        reply(thought("I need to run the unit tests."), call("run_shell_command", command=COMMAND)),
        reply("All 5 tests passed.", usage=Usage(prompt=8421, cached=8000, thoughts=942, answer=100)),
    )
    harness = AgentHarness(model, tools=[run_shell_command])
    for n in range(2):
        earlier = await harness.say(f"earlier {n}")
        await harness.finish(await harness.claim())
        assert await harness.status(earlier) is MessageStatus.PROCESSED
    prompt = await harness.say("`Chii` <@112233> at `2026-05-27 20:50:00 SGT`:\nRun tests for agent history module")
    async with harness.at_work():
        await harness.answered(prompt)

    user, thinking, called, result, answer = phased(await harness.turn(prompt))
    assert user.id == prompt.id
    assert user.status is MessageStatus.PROCESSED
    for each in (thinking, called, answer):
        assert (each.parent_id, each.message.author, each.address) == (prompt.id, "Kesoku", ROOM)
    assert (thinking.message.role, thinking.message.type) == (MessageRole.ASSISTANT, MessageType.THOUGHT)
    assert (called.message.role, called.message.type) == (MessageRole.TOOL, MessageType.TOOL_CALL)
    assert called.metadata == {"tool_name": "run_shell_command", "tool_arguments": {"command": COMMAND}}
    assert called.message.rendered == (
        f'Calling tool `run_shell_command` with arguments:\n```json\n{{\n  "command": "{COMMAND}"\n}}\n```'
    )
    assert (result.parent_id, result.message.author) == (called.id, "run_shell_command")
    assert result.message.rendered == STDOUT
    assert result.metadata == {"tool_name": "run_shell_command", "tool_result": "5 passed in 0.42s"}
    assert {each.status for each in (thinking, called, result)} == {MessageStatus.RESPONDED}
    assert answer.status is MessageStatus.PENDING
    assert answer.message.rendered == "All 5 tests passed."
    assert answer.metadata == {
        "turn_metrics": {
            "session_turns": 3,
            "context_tokens": 8421,
            "turn_tool_calls": 1,
            "turn_tokens": 1042,
            "turn_time": 0.0,
        }
    }


async def test_a_turn_without_tools() -> None:
    # K-241, K-242, K-243: as far as the agent goes
    model = ScriptedModel(reply(thought("I will look."), "System status is stable."))
    harness = AgentHarness(model)
    wechat = Address(chatbot_id="wechat", channel_id="room123456@chatroom")
    cron = make.cron_prompt("`Cronjob` at `2026-05-27 21:00:00 CST`:\nRun diagnostics.", marks={"wechat_cronjob": True})
    (prompt,) = await harness.gateway.accept([Post(message=cron, address=wechat)])
    async with harness.at_work():
        await harness.answered(prompt)
    user, thinking, answer = phased(await harness.turn(prompt))
    assert [each.status for each in (user, thinking, answer)] == [
        MessageStatus.PROCESSED,
        MessageStatus.RESPONDED,
        MessageStatus.PENDING,
    ]
    assert answer.parent_id == prompt.id
    assert {each.address for each in (user, thinking, answer)} == {wechat}


async def test_the_time_of_a_turn_runs_from_its_claim() -> None:
    held = Held(reply("done"))
    harness = AgentHarness(ScriptedModel(held))
    await harness.clock.advance(60)
    prompt = await harness.say()
    await harness.clock.advance(60)
    async with harness.at_work():
        await held.entered.wait()
        await harness.clock.advance(2.1)
        held.release.set()
        answer = await harness.answered(prompt)
    assert answer.metadata["turn_metrics"]["turn_time"] == 2.1


async def test_parallel_calls_run_together_and_each_result_is_stored_at_once() -> None:
    # K-172, K-223
    started: list[str] = []
    gates: dict[str, Held] = {name: Held() for name in "abc"}

    @tool(effect=Effect.READ)
    async def wait(name: str) -> str:
        """Wait."""
        started.append(name)
        gates[name].entered.set()
        await gates[name].release.wait()
        return f"{name} done"

    model = ScriptedModel(reply(*(call("wait", name=name) for name in "abc")), "ready")
    harness = AgentHarness(model, tools=[wait])
    prompt = await harness.say()
    async with harness.at_work():
        for gate in gates.values():
            await gate.entered.wait()
        assert started == ["a", "b", "c"]
        async with harness.gateway.listen(lambda change: change.record.kind == "tool_result") as results:
            for name in "cab":
                gates[name].release.set()
                assert (await anext(results)).record.message.content.output == f"{name} done"
        await harness.answered(prompt)
    outputs = [each.message.content.output for each in phased(await harness.turn(prompt)) if each.kind == "tool_result"]
    assert outputs == ["a done", "b done", "c done"]
    sent = [block for block in model.requests[1].turns[2].blocks if isinstance(block, ResultBlock)]
    assert [block.output for block in sent] == ["a done", "b done", "c done"]


async def test_text_beside_a_call_is_an_interim_thought() -> None:
    # N-09
    model = ScriptedModel(reply(thought("hm"), "I will shout.", call("shout", text="x", signature=b"\xff\x00")), "X")
    harness = AgentHarness(model, tools=[shout])
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    records = phased(await harness.turn(prompt))
    assert [each.kind for each in records] == [
        "user_prompt",
        "thought",
        "thought",
        "tool_call",
        "tool_result",
        "answer",
    ]
    sources: list[Any] = [each.message.source for each in records if each.kind == "thought"]
    assert [source.interim for source in sources] == [False, True]
    said = model.requests[1].turns[1].blocks
    assert said[:2] == (TextBlock(text="hm", thought=True), TextBlock(text="I will shout."))
    assert isinstance(said[2], CallBlock)
    assert (said[2].signature, said[2].call_id) == (b"\xff\x00", records[3].id)


async def test_each_request_extends_the_one_before_and_can_be_made_again_from_the_log() -> None:
    # D-048, D-051, D-X12
    model = ScriptedModel(
        reply(thought("one", signature=b"s"), call("shout", text="a")), reply(call("shout", text="b")), "AB"
    )
    harness = AgentHarness(model, tools=[shout])
    await harness.say("earlier")
    await harness.finish(await harness.claim())
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.turns[: len(before.turns)] == before.turns
    records = await harness.session(prompt)
    steps = await harness.store.read(lambda tx: tx.steps.of(prompt.id))
    for step, request in zip(steps, model.requests, strict=True):
        seen = [each for each in records if each.turn_id != prompt.id or each.id == prompt.id or each.round < step.n]
        again = compile_turns(
            seen,
            steps[: step.n - 1],
            TurnRequest(system="be kind", tools=harness.tools.specs()),
            provider="scripted",
            active_turn=prompt.id,
        )
        assert again == request
        assert step.request["digest"] == again.digest() == request.digest()


async def test_running_replies_are_shown_and_cleared() -> None:
    harness = AgentHarness(ScriptedModel(reply(thought("hm\n"), "one\n", "two\n")))
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    assert harness.drafts.shown == [
        (prompt.id, 1, "hm\n", ""),
        (prompt.id, 1, "hm\n", "one\n"),
        (prompt.id, 1, "hm\n", "one\ntwo\n"),
    ]
    assert harness.drafts.cleared == [prompt.id]


async def test_queued_prompts_run_one_after_the_other_in_their_order() -> None:
    # K-137, K-138
    model = ScriptedModel("one", "two", "three")
    harness = AgentHarness(model, policy=BusyPolicy(busy=Busy.QUEUE))
    prompts = [await harness.say(text) for text in ("first", "second", "third")]
    async with harness.at_work():
        answers = [await harness.answered(prompt) for prompt in prompts]
    assert [each.message.rendered for each in answers] == ["one", "two", "three"]
    assert texts(model.requests[0]) == [("user", "first")]
    assert texts(model.requests[1]) == [("user", "first"), ("model", "one"), ("user", "second")]


async def test_a_steered_prompt_joins_at_the_next_step() -> None:
    # C-42: K-127 for both prompts
    gate = Held()

    @tool(effect=Effect.READ)
    async def slow() -> str:
        """Wait."""
        gate.entered.set()
        await gate.release.wait()
        return "done"

    model = ScriptedModel(reply(call("slow")), reply(call("slow")), "both")
    harness = AgentHarness(model, tools=[slow], policy=BusyPolicy(busy=Busy.STEER))
    prompt = await harness.say("do it")
    async with harness.at_work():
        await gate.entered.wait()
        steered = await harness.say("and this")
        gate.release.set()
        await harness.answered(prompt)
    assert await harness.status(steered) is MessageStatus.PROCESSED
    assert [role for role, _ in texts(model.requests[1])] == ["user", "model", "user"]
    assert texts(model.requests[1])[-1] == ("user", "and this")
    assert model.requests[2].turns[: len(model.requests[1].turns)] == model.requests[1].turns


async def test_several_sessions_run_at_once() -> None:
    # complaint 34
    held = [Held(reply(str(n))) for n in range(3)]
    harness = AgentHarness(ScriptedModel(*held))
    prompts = [await harness.say(at=Address(chatbot_id="discord", channel_id=str(n))) for n in range(3)]
    async with harness.at_work():
        for each in held:
            await each.entered.wait()
        for each in held:
            each.release.set()
        answers = [await harness.answered(prompt) for prompt in prompts]
    assert {each.message.rendered for each in answers} == {"0", "1", "2"}


def denied(policy: Policy) -> dict[str, Policy]:
    return {"shout": policy}


@pytest.mark.parametrize(
    ("policy", "said", "error"),
    [
        (Policy.ALLOW, "no", None),
        (Policy.ASK, "yes", None),
        (Policy.ASK, "always", None),
        (Policy.ASK, "no", "shout was not run: the person said no."),
        (Policy.ASK, None, "shout was not run: nobody approved it in time."),
        (Policy.DENY, "yes", "shout was not run: it is switched off here."),
    ],
)
async def test_policies_and_approvals(policy: Policy, said: str | None, error: str | None) -> None:
    model = ScriptedModel(reply(call("shout", text="a")), reply(call("shout", text="b")), "done")
    harness = AgentHarness(model, tools=[shout], policies=denied(policy))
    harness.approver.answer = said
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    results = [each.message.content for each in await harness.turn(prompt) if each.kind == "tool_result"]
    assert [each.output for each in results] == (["A", "B"] if error is None else [None, None])
    assert all((each.error or "").startswith(error or "") for each in results)
    assert len(harness.approver.asked) == (2 if policy is Policy.ASK else 0)
    for question, asked, admins_only in harness.approver.asked:
        assert question.choices == ("yes", "no", "always")
        assert '"text"' in question.text
        assert asked.kind == "tool_call"
        assert question.deadline == harness.clock.now() / 1e6 + 300
        assert admins_only


async def test_a_question_shows_no_known_secret_and_the_tool_gets_what_the_model_wrote() -> None:
    """Complaint 168."""
    long = "x" * 970 + "token-1234-5678"
    model = ScriptedModel(reply(call("shout", text=long)), "done")
    harness = AgentHarness(model, tools=[shout], policies=denied(Policy.ASK), secrets=["token-1234-5678"])
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    ((question, asked, _),) = harness.approver.asked
    assert "[secret]" in question.text
    assert "token" not in question.text, "not even the half of one that a cut would leave"
    assert asked.message.content.arguments["text"] == long
    (result,) = [each.message.content for each in await harness.turn(prompt) if each.kind == "tool_result"]
    assert result.output == long.upper()


async def test_a_call_of_an_unknown_tool_is_answered_with_those_that_there_are() -> None:
    model = ScriptedModel(reply(call("shuot", text="a")), "sorry")
    harness = AgentHarness(model, tools=[shout])
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    (result,) = [each.message.content for each in await harness.turn(prompt) if each.kind == "tool_result"]
    assert result.error == "there is no tool 'shuot'; known are shout"


async def test_a_tool_gets_its_call_and_its_arguments_thawed() -> None:
    seen: list[tuple[str, object]] = []

    async def run(arguments: Any, context: ToolContext) -> str:
        seen.append((context.call_id, arguments))
        return "ok"

    raw = Tool(name="raw", description="", parameters={}, effect=Effect.READ, timeout=5, run=run)
    model = ScriptedModel(reply(call("raw", deep={"list": [1, 2]})), "done")
    harness = AgentHarness(model, tools=[raw], limits=TurnLimits(steps=5))
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    (called,) = [each for each in await harness.turn(prompt) if each.kind == "tool_call"]
    assert seen == [(called.id, {"deep": {"list": [1, 2]}})]
    assert type(seen[0][1]) is dict


async def test_a_reply_with_a_late_signature_keeps_it_through_the_store() -> None:
    # complaint 58
    said: Reply = reply(call("shout", text="x"), TextBlock(text="", signature=b"\x00late"))
    model = ScriptedModel(said, "X")
    harness = AgentHarness(model, tools=[shout])
    prompt = await harness.say()
    async with harness.at_work():
        await harness.answered(prompt)
    (step, _) = await harness.store.read(lambda tx: tx.steps.of(prompt.id))
    assert reply_from_json(step.reply).blocks[1] == TextBlock(text="", signature=b"\x00late")
    assert model.requests[1].turns[1].blocks[1] == TextBlock(text="", signature=b"\x00late")


async def test_a_file_that_a_tool_returned_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "canvas"
    model = ScriptedModel(
        reply(call("draw", path=str(path), text="red")),
        reply(call("draw", path=str(path), text="blue")),
        reply(call("draw", path=str(path), text="x" * (FILE_BYTES + 1))),
        reply("Done."),
    )
    harness = AgentHarness(model, tools=[draw], staging=Staging(tmp_path / "staging"))
    prompt = await harness.say("draw")
    async with harness.at_work():
        await harness.answered(prompt)
    results = [block for t in model.requests[-1].turns for block in t.blocks if isinstance(block, ResultBlock)]
    assert [contents(each) for each in results] == [["red"], ["blue"], []]
    gone = "[Attachment absent.png is not available: it cannot be read (No such file or directory)]"
    large = "[Attachment a.svg is not available: it is larger than 1.0 kB]"
    assert [each.output for each in results] == [f"drawn\n{gone}"] * 2 + [f"drawn\n{large}\n{gone}"]
