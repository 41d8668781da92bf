"""/context, /clear, /pin and /forget: what the model reads, over a real gateway and turn loop."""

import pytest

from kesoku.agent.limits import TurnLimits
from kesoku.errors import CommandMisused, NoConversation, NoSuchMessage, NotPossible
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Address
from kesoku.messages.turn import Finish
from kesoku.testing.model import Held, call, reply
from kesoku.tools.tool import Effect, tool

from .desk import desk, read_by

ELSEWHERE = Address(chatbot_id="discord", channel_id="elsewhere")


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "fog"


async def test_context_lists_what_the_model_reads_with_tokens() -> None:
    table = desk("one", reply(call("look")), "two", tools=[look])
    await table.talk("first", "second")
    lines = (await table.give("/context")).splitlines()
    assert "about" in lines[0]
    assert lines[2:] == [
        "- system prompt, 2 tokens",
        "- 1 tool",
        "- #1 prompt of Ada: `first`, 2 tokens",
        "- #2 answer: `one`, 1 token",
        "- #3 prompt of Ada: `second`, 2 tokens",
        "- #4 call of look: `Calling tool look with args: {}`, 13 tokens",
        "- #5 result of look: `fog`, 1 token",
        "- #6 answer: `two`, 1 token",
    ]


async def test_context_says_what_the_next_request_reads() -> None:
    table = desk("one", "two")
    await table.talk("first")
    listed = [line for line in (await table.give("/context")).splitlines() if line.startswith("- #")]
    await table.talk("second")
    assert len(read_by(table.model.requests[-1])) == len(listed) + 1


async def test_context_of_a_running_turn_holds_what_the_model_was_sent() -> None:
    held = Held()
    table = desk(reply(call("look")), held, "done", tools=[look])
    async with table.harness.at_work():
        prompt = await table.harness.say("go")
        await held.entered.wait()
        assert "result of look" in await table.give("/context")
        held.release.set()
        await table.harness.answered(prompt)


async def test_context_of_a_message_lists_what_was_read_in_its_turn() -> None:
    table = desk("one", reply(call("look")), "two", "three", tools=[look])
    _, second = await table.talk("first", "second")
    await table.give("/clear")
    await table.talk("third")
    told = (await table.give(f"/context {second.id}")).splitlines()
    assert told[0].startswith("In step 2 of the turn of #3, on the branch main, the model read 5 messages, about ")
    assert [line.split(":")[0] for line in told[4:]] == [
        "- #1 prompt of Ada",
        "- #2 answer",
        "- #3 prompt of Ada",
        "- #4 call of look",
        "- #5 result of look",
    ]
    assert (await table.give("/context 6")).splitlines() == told


async def test_context_of_a_turn_that_asked_nobody_says_so() -> None:
    table = desk("one")
    waiting = await table.harness.say("first")
    with pytest.raises(NotPossible, match="no model was asked in its turn"):
        await table.give(f"/context {waiting.id}")


async def test_clear_leaves_every_message_and_shows_the_model_none() -> None:
    table = desk("one", "two")
    await table.talk("first")
    before = await table.stored()
    assert "/clear undo" in await table.give("/clear")
    assert await table.stored() == before
    await table.talk("second")
    assert read_by(table.model.requests[-1]) == ["second"]


async def test_clear_undo_brings_back_what_was_cleared_and_keeps_what_was_said_since() -> None:
    table = desk("one", "two", "three")
    await table.talk("first")
    await table.give("/clear")
    await table.talk("second")
    await table.give("/clear undo")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second", "two", "third"]
    with pytest.raises(NotPossible, match="nothing was cleared"):
        await table.give("/clear undo")


async def test_clear_stops_what_runs_and_what_waits() -> None:
    held = Held()
    table = desk(held, "later")
    async with table.harness.at_work():
        running = await table.harness.say("go")
        await held.entered.wait()
        waiting = await table.harness.say("and then", catch_up=True)
        assert "is stopped" in await table.give("/clear")
        await table.harness.until(running, MessageStatus.INTERRUPTED)
    assert await table.harness.status(waiting) is MessageStatus.INTERRUPTED
    await table.talk("new")
    assert read_by(table.model.requests[-1]) == ["new"]


async def test_what_is_pinned_survives_a_clearing() -> None:
    table = desk("one", "two", "three")
    await table.talk("keep me", "drop me")
    assert "/forget #2" in await table.give("/pin #2")
    assert await table.give("/pin") == "- #1 prompt of Ada: `keep me`"
    assert "What is pinned stays: 1 turn." in await table.give("/clear")
    assert "📌" in await table.give("/context")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["keep me", "one", "third"]


async def test_what_is_pinned_survives_the_budget() -> None:
    limits = TurnLimits(history_tokens=40, history_records=8)
    texts = [f"word {n} " * 4 for n in range(12)]
    table = desk(*["fine"] * 13, limits=limits)
    await table.talk("the code is 4711")
    await table.give("/pin 1")
    await table.talk(*texts)
    read = read_by(table.model.requests[-1])
    assert "the code is 4711" in "".join(read)
    assert texts[0] not in read


async def test_a_prompt_is_forgotten_with_its_whole_turn() -> None:
    table = desk("one", reply(call("look")), "two", "three", tools=[look])
    await table.talk("first", "second")
    assert "with 3 messages of its turn" in await table.give("/forget 3")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "third"]
    assert await table.give("/forget 3") == "#3 is left out already."


@pytest.mark.parametrize("number", [2, 3])
async def test_a_call_and_its_result_are_forgotten_together(number: int) -> None:
    table = desk(reply(call("look")), "one", "two", tools=[look])
    await table.talk("first")
    assert "with 1 message of its turn" in await table.give(f"/forget {number}")
    await table.talk("second")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]
    assert len(table.model.requests[-1].turns) == 3


async def test_an_answer_is_forgotten_alone() -> None:
    table = desk("one", "two")
    await table.talk("first")
    await table.give("/forget 2")
    await table.talk("second")
    assert "one" not in "".join(read_by(table.model.requests[-1]))
    assert "first" in "".join(read_by(table.model.requests[-1]))


async def test_what_is_forgotten_is_pinned_no_more_and_the_other_way_round() -> None:
    table = desk("one", "two")
    await table.talk("first")
    await table.give("/pin 1")
    await table.give("/forget 1")
    assert (await table.give("/pin")).startswith("Nothing is pinned here. /pin MESSAGE keeps ")
    await table.give("/pin 1")
    await table.talk("second")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]
    assert await table.give("/pin 1") == "#1 is pinned already."


async def test_pins_are_bounded() -> None:
    table = desk(*["fine"] * 21)
    prompts = await table.talk(*(f"p{n}" for n in range(21)))
    for each in prompts[:20]:
        await table.give(f"/pin {each.session_n}")
    with pytest.raises(NotPossible, match="20 turns are pinned"):
        await table.give(f"/pin {prompts[20].session_n}")


async def test_a_running_turn_is_neither_pinned_nor_forgotten() -> None:
    held = Held()
    table = desk(held)
    async with table.harness.at_work():
        prompt = await table.harness.say("go")
        await held.entered.wait()
        for line in ("/pin 1", "/forget 1"):
            with pytest.raises(NotPossible, match="running"):
                await table.give(line)
        held.release.set()
        await table.harness.answered(prompt)


@pytest.mark.parametrize("given", ["0", "7", "#7", "999999999", "nonsense", "-1", "1 2", "١"])
async def test_a_message_that_is_not_there_is_named(given: str) -> None:
    table = desk("one")
    await table.talk("first")
    for verb in ("pin", "forget"):
        with pytest.raises(NoSuchMessage, match="numbered from 1 to 2"):
            await table.give(f"/{verb} {given}")


async def test_a_message_of_another_conversation_is_not_found() -> None:
    table = desk("one")
    await table.talk("first")
    other = await table.harness.say("secret", at=ELSEWHERE)
    with pytest.raises(NoSuchMessage):
        await table.give(f"/pin {other.id}")


async def test_a_message_is_found_by_its_id() -> None:
    table = desk("one")
    (prompt,) = await table.talk("first")
    assert "#1" in await table.give(f"/pin {prompt.id}")


async def test_before_anything_was_said_there_is_nothing_to_read() -> None:
    table = desk()
    for line in ("/context", "/clear", "/pin 1", "/forget 1", "/branch", "/queue", "/last"):
        with pytest.raises(NoConversation):
            await table.give(line)


async def test_what_is_left_out_or_wrong_is_said_with_the_usage() -> None:
    table = desk("one")
    await table.talk("first")
    with pytest.raises(CommandMisused, match="/forget MESSAGE"):
        await table.give("/forget")
    with pytest.raises(CommandMisused, match=r"only undo. Usage: `/clear \[undo\]`"):
        await table.give("/clear everything")


async def test_what_people_alone_see_is_nothing_to_pin() -> None:
    table = desk("one")
    (prompt,) = await table.talk("first")
    notice = await table.harness.gateway.post(prompt.beside(make.notice("for people")))
    with pytest.raises(NotPossible, match="no model ever reads a notice"):
        await table.give(f"/pin {notice.session_n}")


async def test_clearings_are_taken_back_one_by_one() -> None:
    table = desk("one", "two", "three")
    for text in ("first", "second"):
        await table.talk(text)
        await table.give("/clear")
    await table.give("/clear undo")
    await table.give("/clear undo")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second", "two", "third"]


async def test_forgetting_what_is_pinned_takes_the_pin_back_first() -> None:
    table = desk("one", "two", "three")
    await table.talk("first")
    await table.give("/pin 1")
    assert "pinned no more" in await table.give("/forget 2")
    await table.talk("second")
    assert read_by(table.model.requests[-1]) == ["first", "one", "second"]
    await table.give("/forget 1")
    await table.talk("third")
    assert read_by(table.model.requests[-1]) == ["second", "two", "third"]


async def test_a_pin_that_is_taken_back_behind_a_clearing_leaves_nothing_to_be_read() -> None:
    table = desk("one", "two")
    await table.talk("first")
    for line in ("/pin 1", "/clear"):
        await table.give(line)
    assert await table.give("/forget 1") == "The turn of #1 is pinned no more, and so not read any more."
    await table.talk("second")
    assert read_by(table.model.requests[-1]) == ["second"]


@pytest.mark.parametrize("verb", ["pin", "forget"])
async def test_what_waits_is_neither_pinned_nor_forgotten(verb: str) -> None:
    """Its answer would be read without it."""
    table = desk()
    await table.harness.say("first")
    with pytest.raises(NotPossible, match="/cancel withdraws it"):
        await table.give(f"/{verb} 1")


async def test_a_prompt_that_the_provider_refused_is_named_as_left_out() -> None:
    table = desk(reply(finish=Finish.REFUSED, detail="odd"))
    async with table.harness.at_work():
        prompt = await table.harness.say("a wicked wish")
        await table.harness.until(prompt, MessageStatus.ERROR)
    lines = (await table.give("/context")).splitlines()
    assert "- #1 prompt of Ada: left out, for the model's provider refused to read it" in lines
    assert "a wicked wish" in await table.give("/context 1")  # there it was sent


async def test_to_forget_why_a_prompt_was_refused_is_to_forget_the_prompt() -> None:
    """Without that answer it would be sent again, and block every later request."""
    table = desk(reply(finish=Finish.REFUSED, detail="odd"), "fine")
    async with table.harness.at_work():
        prompt = await table.harness.say("a wicked wish")
        await table.harness.until(prompt, MessageStatus.ERROR)
    await table.give("/forget 2")
    await table.talk("hello")
    assert read_by(table.model.requests[-1]) == ["hello"]
