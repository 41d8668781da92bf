"""What the log says of a turn: each entry holds the complete message, and everything else stands beside it."""

import pytest

from kesoku.messages.lifecycle import Change, ChangeKind
from kesoku.messages.turn import Usage
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import ScriptedModel, call, reply
from kesoku.tools.tool import Effect, tool


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    raise ValueError("it is dark")


@pytest.fixture
async def log() -> tuple[AgentHarness, dict[str, Change]]:
    """The entries with which each kind of message of a turn was stored."""
    model = ScriptedModel(reply(call("look"), usage=Usage(prompt=9)), reply("dark", usage=Usage(prompt=30, answer=2)))
    harness = AgentHarness(model, tools=[look])
    async with harness.at_work():
        await harness.answered(await harness.say("what is there?"))
    inserted = [each for each in await harness.events() if each.kind is ChangeKind.INSERTED]
    return harness, {each.record.kind: each for each in inserted}


async def test_an_answer_stands_whole_beside_its_turn_its_step_and_their_usage(
    log: tuple[AgentHarness, dict[str, Change]],
) -> None:
    """D-043"""
    harness, entries = log
    record = entries["answer"].record
    assert record.message.to_dict()["content"] == {"text": "dark"}
    assert (record.turn_id, record.round) == (entries["user_prompt"].record.id, 2)
    steps = await harness.store.read(lambda tx: tx.steps.of(record.turn_id or ""))
    assert [each.usage for each in steps] == [Usage(prompt=9), Usage(prompt=30, answer=2)]
    assert "30" not in str(record.message.to_dict()["metadata"])


async def test_a_result_is_made_when_its_tool_is_done(log: tuple[AgentHarness, dict[str, Change]]) -> None:
    """D-049: later than its call, once, from the tool."""
    harness, entries = log
    asked, result = entries["tool_call"], entries["tool_result"]
    assert asked.seq < result.seq
    assert asked.record.message.created_at <= result.record.message.created_at
    assert result.record.message.source.kind == "tool"
    changes = [each for each in await harness.events() if each.record.id == result.record.id]
    assert (changes[0].seq, changes[0].kind) == (result.seq, ChangeKind.INSERTED)
    assert result.record.message.content.request_id == asked.record.id
    assert "it is dark" in result.record.message.content.error
