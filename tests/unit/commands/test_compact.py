"""/compact: a summary stands for the past, and nothing is lost (R-6)."""

import pytest

from kesoku.agent.compaction import CUT_RESULT, DONE
from kesoku.agent.limits import TurnLimits
from kesoku.errors import ModelUnavailable, NotPossible
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.turn import ResultBlock
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import Held, call, reply
from kesoku.tools.tool import Effect, tool

from .desk import Desk, desk, read_by


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "fog " * 4000


async def compact(table: Desk) -> Record:
    """Compact, and return the prompt that asked for it."""
    assert "sums up" in await table.give("/compact")
    (asked,) = await table.waiting()
    async with table.harness.at_work():
        await table.harness.until(asked, MessageStatus.PROCESSED, MessageStatus.ERROR)
    return asked


async def talked(*more: object, tools: tuple[object, ...] = ()) -> Desk:
    """A desk with four answered turns; `more` is what the model says later."""
    table = desk("one", "two", "three", "four", *more, tools=tools)
    await table.talk("first", "second", "third", "fourth")
    return table


async def test_a_summary_stands_for_all_but_the_last_turns() -> None:
    table = await talked("they counted", "five")
    await compact(table)
    await table.talk("fifth")
    read = ["they counted", "\n\nthird", "three", "fourth", "four", "fifth"]
    assert read_by(table.model.requests[-1]) == read


async def test_the_summary_is_a_message_of_its_own_and_names_what_it_covers() -> None:
    """D-030, R-6."""
    table = await talked("they counted")
    before = await table.stored()
    asked = await compact(table)
    records = await table.harness.session(asked)
    (summary,) = [each for each in records if each.kind == "summary"]
    assert summary.id not in {each.id for each in records[:before]}
    assert list(summary.message.source.covered) == [each.id for each in records[:4]]  # type: ignore[attr-defined]
    assert [each.message.rendered for each in records[:before:2]] == ["first", "second", "third", "fourth"]
    assert await table.harness.status(asked) is MessageStatus.PROCESSED
    assert (await table.harness.notices())[-1].startswith(f"{DONE}: a summary of")  # K-072


async def test_a_long_result_in_the_tail_is_cut_and_stays_the_same_message() -> None:
    """D-029: the row keeps all of it."""
    table = desk("one", "two", reply(call("look")), "three", "they looked", "four", tools=[look])
    await table.talk("first", "second", "third")
    asked = await compact(table)
    await table.talk("fourth")
    (shown,) = [
        block for turn in table.model.requests[-1].turns for block in turn.blocks if isinstance(block, ResultBlock)
    ]
    assert len(str(shown.output)) < CUT_RESULT + 100
    (stored,) = [each for each in await table.harness.session(asked) if each.kind == "tool_result"]
    assert stored.message.content.output == "fog " * 4000
    assert (stored.id, stored.message.version) in {
        source for turn in table.model.requests[-1].turns for source in turn.sources
    }


async def test_people_do_not_see_the_summary_as_an_answer() -> None:
    table = await talked("they counted")
    asked = await compact(table)
    shown = [text for turn_id, _, _, text in table.harness.drafts.shown if turn_id == asked.id]
    assert set(shown) == {""}


async def test_the_trigger_stands_in_the_channel_that_issued_it() -> None:
    """K-029, K-079."""
    table = await talked("they counted")
    asked = await compact(table)
    assert (asked.address, asked.message.author, asked.message.role) == (ROOM, "System", "user")
    assert {each.address for each in await table.harness.turn(asked)} == {ROOM}


async def test_the_model_writes_the_summary_without_tools_from_the_whole_conversation() -> None:
    """The system prompt stays as it is (complaint 132)."""
    table = await talked("they counted", tools=(look,))
    await compact(table)
    asked, before = table.model.requests[-1], table.model.requests[-2]
    assert asked.tools == ()
    assert asked.system == before.system
    assert read_by(asked)[:-1] == ["first", "one", "second", "two", "third", "three", "fourth", "four"]
    assert read_by(asked)[-1].startswith("[System Notification] The user manually requested compaction")  # K-032


async def test_undo_reads_everything_again_and_what_was_said_since() -> None:
    table = await talked("they counted", "five", "six")
    await compact(table)
    await table.talk("fifth")
    assert "word for word" in await table.give("/compact undo")
    await table.talk("sixth")
    said = ["first", "one", "second", "two", "third", "three", "fourth", "four", "fifth", "five", "sixth"]
    assert read_by(table.model.requests[-1]) == said
    with pytest.raises(NotPossible, match="nothing was compacted"):
        await table.give("/compact undo")


async def test_a_second_compaction_sums_up_the_first() -> None:
    table = await talked("they counted", "five", "six", "they counted on", "seven")
    await compact(table)
    await table.talk("fifth", "sixth")
    await compact(table)
    assert read_by(table.model.requests[-1])[0] == "they counted"
    await table.talk("seventh")
    read = ["they counted on", "\n\nfifth", "five", "sixth", "six", "seventh"]
    assert read_by(table.model.requests[-1]) == read
    await table.give("/compact undo")
    assert "summary: `they counted`" in await table.give("/context")


async def test_what_is_pinned_stays_word_for_word() -> None:
    table = await talked("they counted", "five")
    await table.give("/pin 1")
    await compact(table)
    await table.talk("fifth")
    assert read_by(table.model.requests[-1])[:3] == ["they counted", "\n\nfirst", "one"]


async def test_a_model_that_fails_leaves_everything_as_it_was() -> None:
    """The person is told, and the turn is no success (complaint 131)."""
    table = await talked(ModelUnavailable(model="scripted", status=503, message="busy"), "five")
    asked = await compact(table)
    assert await table.harness.status(asked) is MessageStatus.ERROR
    assert [each.kind for each in await table.harness.turn(asked)] == ["user_prompt", "answer"]
    await table.talk("fifth")
    said = ["first", "one", "second", "two", "third", "three", "fourth", "four", "fifth"]
    assert read_by(table.model.requests[-1]) == said


async def test_a_compaction_that_is_interrupted_changes_nothing() -> None:
    held = Held()
    table = await talked(held, "five")
    await table.give("/compact")
    async with table.harness.at_work():
        await held.entered.wait()
        prompt = await table.harness.say("stop that")
        await table.harness.answered(prompt)
    said = ["first", "one", "second", "two", "third", "three", "fourth", "four", "stop that"]
    assert read_by(table.model.requests[-1]) == said
    assert "no more" not in await table.give("/context")


async def test_it_waits_behind_what_runs() -> None:
    """C-31."""
    held = Held()
    table = await talked(held, "they counted")
    async with table.harness.at_work():
        running = await table.harness.say("fifth")
        await held.entered.wait()
        assert "once that is answered" in await table.give("/compact")
        (asked,) = await table.waiting()
        held.release.set()
        await table.harness.answered(running)
        await table.harness.until(asked, MessageStatus.PROCESSED)
    assert not table.model.lines


async def test_where_little_was_said_there_is_nothing_to_compact() -> None:
    table = desk("one", "two")
    await table.talk("first", "second")
    with pytest.raises(NotPossible, match="no more"):
        await table.give("/compact")


async def test_every_request_around_a_compaction_can_be_compiled_again() -> None:
    """The harness compares them all; here the commands come between."""
    table = await talked("they counted", "five", "they counted more", "six", "seven")
    await compact(table)
    await table.talk("fifth")
    await compact(table)
    await table.give("/edit 3 other")
    await table.work()
    await table.give("/branch switch main")
    await table.give("/compact undo")
    await table.talk("seventh")
    await table.harness.check_replays(again=True)
    assert read_by(table.model.requests[-1])[0] == "they counted"


async def test_what_was_left_behind_stays_so() -> None:
    table = desk("one", "two", "three", "better", "they counted", "four")
    await table.talk("first", "second", "third")
    await table.give("/retry")
    await table.work()
    await compact(table)
    await table.talk("fourth")
    read = ["they counted", "\n\nsecond", "two", "third", "better", "fourth"]
    assert read_by(table.model.requests[-1]) == read


async def test_the_summary_is_read_however_much_follows() -> None:
    table = desk("one", "two", "three", "they counted", *["fine"] * 9, limits=TurnLimits(history_records=8))
    await table.talk("first", "second", "third")
    await compact(table)
    await table.talk(*"abcdefghi")
    read = read_by(table.model.requests[-1])
    assert read[0] == "they counted"
    assert "\n\nsecond" not in read


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("/retry 7", ["they counted", "\n\nthird", "three", "fourth"]),
        ("/retry 3", ["first", "one", "second"]),
    ],
)
async def test_a_retry_reads_the_summary_unless_it_goes_back_behind_it(line: str, read: list[str]) -> None:
    table = await talked("they counted", "better")
    await compact(table)
    await table.give(line)
    await table.work()
    assert read_by(table.model.requests[-1]) == read


async def test_an_earlier_summary_is_summed_up_even_if_little_was_said_since() -> None:
    table = await talked("they counted", "five", "they counted on", "six")
    await compact(table)
    await table.talk("fifth")
    await compact(table)
    await table.talk("sixth")
    read = ["they counted on", "\n\nfourth", "four", "fifth", "five", "sixth"]
    assert read_by(table.model.requests[-1]) == read


async def test_compactions_and_clearings_are_taken_back_one_by_one() -> None:
    table = await talked("they counted", "five", "six")
    await compact(table)
    await table.give("/clear")
    await table.talk("fifth")
    with pytest.raises(NotPossible, match="was cleared since; /clear undo comes first"):
        await table.give("/compact undo")
    await table.give("/clear undo")
    await table.give("/compact undo")
    await table.talk("sixth")
    assert read_by(table.model.requests[-1])[0] == "first"
    assert read_by(table.model.requests[-1])[-3:] == ["fifth", "five", "sixth"]


async def test_on_another_branch_it_cannot_be_taken_back() -> None:
    table = await talked("they counted", "five")
    await compact(table)
    await table.give("/fork")
    with pytest.raises(NotPossible, match="summed up on another branch; /branch lists them"):
        await table.give("/compact undo")
    await table.talk("fifth")
    assert read_by(table.model.requests[-1])[0] == "they counted"


async def test_what_it_took_to_get_a_summary_is_not_read_later() -> None:
    table = await talked(" ", "they counted", "five")
    await compact(table)
    await table.talk("fifth")
    read = ["they counted", "\n\nthird", "three", "fourth", "four", "fifth"]
    assert read_by(table.model.requests[-1]) == read


async def test_what_was_tried_in_vain_is_not_read_later() -> None:
    table = await talked(*[" "] * 9)
    asked = await compact(table)
    assert await table.harness.status(asked) is MessageStatus.ERROR
    table.model.lines = ["five"]
    await table.talk("fifth")
    said = ["first", "one", "second", "two", "third", "three", "fourth", "four", "fifth"]
    assert read_by(table.model.requests[-1]) == said


async def test_a_summary_is_forgotten_but_not_pinned() -> None:
    table = await talked("they counted", "five")
    asked = await compact(table)
    (summary,) = [each for each in await table.harness.turn(asked) if each.kind == "summary"]
    with pytest.raises(NotPossible, match="as long as it stands"):
        await table.give(f"/pin {summary.session_n}")
    await table.give(f"/forget {summary.session_n}")
    await table.talk("fifth")
    assert read_by(table.model.requests[-1])[0] == "third"


async def test_a_compaction_that_is_asked_for_twice_by_one_event_is_one() -> None:
    table = await talked()
    for _ in range(2):
        await table.give("/compact", keys=["event-1"])
    assert len(await table.waiting()) == 1


@pytest.mark.parametrize("line", ["/retry {}", "/edit {} hello"])
async def test_what_asked_for_a_summary_is_neither_edited_nor_asked_again(line: str) -> None:
    """The answer to other words would stand for the whole conversation, and another summary for its last turns, too."""
    table = await talked("they counted", "five")
    waiting = await table.stored() + 1
    await table.give("/compact")
    with pytest.raises(NotPossible, match="it asked for a summary; /compact asks for another one"):
        await table.give(line.format(waiting))
    await table.give(f"/cancel {waiting}")
    asked = await compact(table)
    with pytest.raises(NotPossible, match="it asked for a summary; /compact asks for another one"):
        await table.give(line.format(asked.session_n))
    await table.give("/retry")
    await table.work()
    assert read_by(table.model.requests[-1])[-1] == "fourth"


async def test_a_list_of_branches_names_what_was_said_last_and_not_forgotten() -> None:
    table = await talked("they counted")
    await compact(table)
    assert await table.give("/branch") == "- main (here), up to #8: `four`"
    await table.give("/forget 7")
    assert await table.give("/branch") == "- main (here), up to #6: `three`"


async def test_taking_a_summary_back_says_that_it_stopped_what_ran() -> None:
    held = Held()
    table = await talked("they counted", held)
    await compact(table)
    async with table.harness.at_work():
        prompt = await table.harness.say("fifth")
        await held.entered.wait()
        assert (await table.give("/compact undo")).endswith(" What was running or waiting here is stopped.")
        await table.harness.until(prompt, MessageStatus.INTERRUPTED)
