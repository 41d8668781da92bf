"""/last, /tools and /replay: what was said, and what the model was sent."""

import pytest

from kesoku.errors import NotPossible, ToolRefused
from kesoku.messages import make
from kesoku.testing.model import Held, call, reply
from kesoku.tools.tool import Effect, tool

from .desk import desk


@tool(effect=Effect.READ)
def look(where: str = "out") -> str:
    """Look."""
    if where == "back":
        raise ToolRefused(what="this", reason="never look back", advice="look ahead")
    return "fog"


async def test_last_says_the_last_answer_of_this_branch() -> None:
    table = desk("one", "two")
    with pytest.raises(Exception, match="no conversation"):
        await table.give("/last")
    await table.talk("first", "second")
    assert await table.give("/last") == "#4, m:\n\ntwo"
    await table.give("/fork 1")
    assert await table.give("/last") == "#2, m:\n\none"
    await table.give("/clear")
    for line, what in (("/last", "no answer"), ("/replay", "no answer"), ("/tools", "none")):
        with pytest.raises(NotPossible, match=f"what the model reads here holds {what}; /context lists it"):
            await table.give(line)


async def test_tools_lists_calls_with_their_state() -> None:
    held = Held()
    table = desk(reply(call("look", where="back")), reply(call("look")), held, tools=[look])
    async with table.harness.at_work():
        prompt = await table.harness.say("go")
        await held.entered.wait()
        lines = (await table.give("/tools")).splitlines()
        held.release.set()
        await table.harness.answered(prompt)
    assert [line.split(",")[0] for line in lines] == ["- #2 ❌ look", "- #4 ✅ look"]
    assert "`where='back'`" in lines[0]


async def test_an_open_call_is_shown_as_running() -> None:
    table = desk(tools=[look])
    prompt = await table.harness.say("go")
    message = make.tool_call("look", {}, provider="p", model="m")
    await table.harness.gateway.post(prompt.beside(message))
    assert (await table.give("/tools")).startswith("- #2 ⏳ look, no arguments")


async def test_replay_compiles_every_request_again_and_finds_the_same_bytes() -> None:
    """The log is the authority (D-051)."""
    table = desk(reply(call("look")), "one", "two", tools=[look])
    prompt, _ = await table.talk("first", "second")
    lines = (await table.give("/replay 1")).splitlines()
    assert lines[0].endswith(": 2 of 2.")
    assert [line.split(",")[0] for line in lines[2:]] == ["- step 1: the same bytes", "- step 2: the same bytes"]
    digests = [request.digest()[:12] for request in table.model.requests[:2]]
    assert all(digest in line for digest, line in zip(digests, lines[2:], strict=True))
    assert (await table.give("/replay")).partition("\n")[0].endswith(": 1 of 1.")
    assert prompt.id


@pytest.mark.parametrize("line", ["/edit 3 other", "/clear", "/forget 1", "/pin 1", "/retry 1"])
async def test_what_happens_later_changes_no_replay(line: str) -> None:
    table = desk("one", "two", "three")
    await table.talk("first", "second")
    await table.give(line)
    await table.work()
    assert (await table.give("/replay 3")).partition("\n")[0].endswith(": 1 of 1.")


async def test_an_edit_of_the_platform_after_the_turn_changes_no_replay() -> None:
    table = desk("one", "two")
    first, _ = await table.talk("first", "second")
    later = first.message.update(text="what I meant")
    await table.harness.store.write(lambda tx: tx.messages.rewrite(later, actor="user:1", at=9))
    for turn in ("/replay 1", "/replay 3"):
        assert (await table.give(turn)).partition("\n")[0].endswith(": 1 of 1.")


async def test_a_turn_without_a_step_cannot_be_replayed() -> None:
    table = desk()
    await table.harness.say("first")
    with pytest.raises(NotPossible, match="no model was asked"):
        await table.give("/replay 1")
    with pytest.raises(NotPossible, match="holds no answer; /context lists it"):
        await table.give("/replay")
