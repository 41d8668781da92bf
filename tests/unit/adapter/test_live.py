"""Live statuses, typing and drafts around a turn."""

import asyncio
from dataclasses import replace
from typing import Any

from kesoku.adapter import Outgoing, Presentation, TurnEnd
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Claim, Purpose
from kesoku.messages.record import Record
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import settle
from kesoku.testing.platform import Fault
from kesoku.testing.recording import LIVE, PLAIN, RecordingAdapter

BAR = {"visibility": LIVE, "live": True, "edits": True, "deletes": True, "key_window": 300.0}


def thought(text: str) -> Any:
    return make.thought(text, provider="p", model="m")


def call(tool: str = "search") -> Any:
    return make.tool_call(tool, {}, provider="p", model="m")


async def turn(world: Any, runner: AdapterRunner, text: str = "go", channel: str = "c") -> Claim:
    world.platform.say(channel, text)
    await settle()
    return await runner.claim()


async def live_rows(runner: AdapterRunner, claim: Claim) -> list[Any]:
    return await runner.store.read(lambda tx: tx.deliveries.of(claim.prompt.id, Purpose.LIVE))


async def test_a_turn_is_one_live_message_edited_in_place_and_gone_with_the_answer(world: Any, quiet: Any) -> None:
    # K-157, K-159, N-18
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        think = await runner.say(claim, thought("I need the tests"))
        asked = await runner.say(claim, call("run"))
        await settle()
        await world.clock.advance(2)
        assert world.platform.texts("c") == ["💭 I need the tests\n🛠️ run ⏳"]
        assert {await runner.status(think), await runner.status(asked)} == {S.DELIVERED}
        result = await runner.respond(claim, asked)
        await world.clock.advance(2)
        assert world.platform.texts("c") == ["💭 I need the tests\n🛠️ run ✅"]
        assert await runner.status(result) is S.DELIVERED
        answer = await runner.finish(claim, "5 passed")
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["5 passed"]
        assert await runner.status(answer) is S.DELIVERED
        assert await live_rows(runner, claim) == []
        assert len(world.platform.ops("send")) == 2


async def test_a_failed_result_is_marked_in_place(world: Any) -> None:
    # K-160
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        asked = await runner.say(claim, call("run"))
        await world.clock.advance(2)
        await runner.respond(claim, asked, error="exit 1")
        await world.clock.advance(2)
        assert world.platform.texts("c") == ["🛠️ run ❌"]


async def test_edits_keep_the_pace_and_nothing_is_drawn_twice(world: Any) -> None:
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        for n in range(50):
            await runner.say(claim, thought(str(n)))
            await settle()
        await world.clock.advance(1.3)
        assert len(world.platform.ops("send", "edit")) <= 3
        await world.clock.advance(60)
        assert world.platform.texts("c")[0].endswith("49")
        assert len(world.platform.ops("send", "edit")) <= 3


async def test_an_interruption_removes_the_status_and_nothing_of_the_turn_comes_later(world: Any, quiet: Any) -> None:
    # K-246
    async with world.runner(**BAR, typing=True) as runner:
        claim = await turn(world, runner)
        shown = await runner.say(claim, thought("first"))
        await world.clock.advance(2)
        assert len(world.platform.texts("c")) == 1
        world.platform.say("c", "Wait, something else")
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == []
        assert await runner.status(shown) is S.DELIVERED
        assert ("interrupted", claim.prompt.id) in runner.adapter.hooks
        assert world.platform.ops("typing")[-1]["on"] is False
        assert runner.adapter.hooks.count(("interrupted", claim.prompt.id)) == 1


async def test_a_thought_that_was_not_shown_before_the_interruption_stays_responded(world: Any, quiet: Any) -> None:
    async with world.runner() as runner:
        claim = await turn(world, runner)
        world.platform.script("c", Fault(kind="retry", seconds=50.0))
        first = await runner.say(claim, thought("first"))
        late = await runner.say(claim, thought("late"))
        await settle()
        world.platform.say("c", "Wait")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert await runner.status(late) is S.RESPONDED
        assert await runner.status(first) is S.RESPONDED
        assert world.platform.texts("c") == []


async def test_a_status_left_behind_is_continued_by_the_next_process(world: Any, quiet: Any) -> None:
    # N-18; complaint 94
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
    async with world.runner(**BAR) as runner:
        await runner.say(claim, thought("two"))
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["💭 one\n💭 two"]
    await runner.finish(claim, "done")
    async with world.runner(**BAR) as runner:
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["done"]


async def test_a_status_of_a_turn_that_was_interrupted_meanwhile_is_removed_at_start(world: Any, quiet: Any) -> None:
    # complaint 94
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
    await world.gateway.interrupt(claim.prompt.session_id, by="ada", reason="stopped")
    async with world.runner(**BAR) as runner:
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == []
        assert await live_rows(runner, claim) == []


async def test_a_status_whose_first_send_was_cut_off_is_found_by_its_key(world: Any, quiet: Any) -> None:
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        world.platform.script("c", Fault(kind="stuck"))
        await runner.say(claim, thought("one"))
        await settle(100)
        assert len(world.platform.shown("c")) == 1
    async with world.runner(**BAR) as runner:
        await runner.say(claim, thought("two"))
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["💭 one\n💭 two"]
        await runner.finish(claim, "done")
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["done"]


async def test_a_status_that_cannot_be_edited_any_more_does_not_stop_the_answer(world: Any, quiet: Any) -> None:
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
        world.platform.script("edit c", *[Fault(kind="bug")] * 3, Fault(kind="refuse"))
        world.platform.script("delete c", Fault(kind="retry"), Fault(kind="bug"))
        for n in range(5):
            await runner.say(claim, thought(f"more {n}"))
            await world.clock.advance(20)
        answer = await runner.finish(claim, "done")
        await settle()
        await world.clock.advance(60)
        await quiet(runner)
        assert await runner.status(answer) is S.DELIVERED
        assert world.platform.texts("c") == ["done"]


async def test_a_status_notice_is_folded_in_a_turn_and_plain_outside_of_one(world: Any, quiet: Any) -> None:
    # C-28
    async with world.runner(**BAR) as runner:
        outside = await runner.notice("c", "compacted", reason="status")
        await quiet(runner)
        assert world.platform.texts("c") == ["compacted"]
        claim = await turn(world, runner)
        inside = await runner.say(claim, make.notice("still at it", reason="status"))
        await world.clock.advance(2)
        assert world.platform.texts("c") == ["compacted", "still at it"]
        assert {await runner.status(outside), await runner.status(inside)} == {S.DELIVERED}
        await runner.finish(claim, "done")
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["compacted", "done"]


async def test_hidden_records_are_delivered_silently(world: Any, quiet: Any) -> None:
    # K-161, C-28
    async with world.runner(visibility=PLAIN) as runner:
        claim = await turn(world, runner)
        asked = await runner.say(claim, call())
        records = [
            await runner.say(claim, thought("secret")),
            asked,
            await runner.respond(claim, asked),
            await runner.notice("c", "compacted", reason="status"),
        ]
        said = await runner.notice("c", "you are queued", reason="reply")
        answer = await runner.finish(claim, "done")
        await quiet(runner)
        assert {await runner.status(each) for each in (*records, said, answer)} == {S.DELIVERED}
        assert world.platform.texts("c") == ["you are queued", "done"]


async def test_what_the_machinery_says_to_the_model_is_shown_nowhere_and_stays_responded(
    world: Any, quiet: Any
) -> None:
    # K-059, K-100
    async with world.runner() as runner:
        claim = await turn(world, runner)
        nudge = await runner.say(claim, make.nudge())
        await runner.finish(claim, "done")
        await quiet(runner)
        assert world.platform.texts("c") == ["done"]
        assert await runner.status(nudge) is S.RESPONDED


async def test_typing_is_on_during_the_turn_and_off_before_the_answer(world: Any, quiet: Any) -> None:
    # complaints 91, 93
    async with world.runner(typing=True) as runner:
        claim = await turn(world, runner)
        await settle()
        await world.clock.advance(12)
        assert [each["on"] for each in world.platform.ops("typing")] == [True, True, True]
        await runner.finish(claim, "done")
        await quiet(runner)
        await world.clock.advance(60)
        ops = [each["op"] for each in world.platform.ops("typing", "send")]
        assert ops == ["typing"] * 4 + ["send"]
        assert world.platform.ops("typing")[-1]["on"] is False


async def test_typing_ends_with_every_kind_of_end_and_has_a_limit(world: Any, quiet: Any) -> None:
    # complaint 92
    async with world.runner(typing=True) as runner:
        claim = await turn(world, runner)
        await settle()
        await world.gateway.interrupt(claim.prompt.session_id, by="ada", reason="stopped")
        await settle()
        assert [each["on"] for each in world.platform.ops("typing")] == [True, False]
        claim = await turn(world, runner)
        await world.clock.advance(700)
        count = len(world.platform.ops("typing"))
        assert world.platform.ops("typing")[-1]["on"] is False
        await world.clock.advance(700)
        assert len(world.platform.ops("typing")) == count
    async with world.runner(typing=True) as runner:  # it still runs, so a restart shows it again
        await settle()
        assert world.platform.ops("typing")[-1]["on"] is True
    assert world.platform.ops("typing")[-1]["on"] is False


async def test_a_status_goes_also_when_the_answer_is_hidden(world: Any, quiet: Any) -> None:
    column = replace(LIVE, assistant_text=Presentation.HIDDEN)
    async with world.runner(**{**BAR, "visibility": column}) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
        await runner.finish(claim, "done")
        await quiet(runner)
        await world.clock.advance(2)
        assert world.platform.texts("c") == []


async def test_drafts_show_the_newest_text_and_end_before_the_answer(world: Any, quiet: Any) -> None:
    # N-19
    async with world.runner(drafts=True, visibility=PLAIN) as runner:
        claim = await turn(world, runner)
        for n in range(1000):
            runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=1, thought="secret", text="x" * (n + 1))
        await settle()
        drafts = world.platform.ops("draft")
        assert 1 <= len(drafts) < 10
        assert len(drafts[-1]["text"]) == 1000
        assert {each["thought"] for each in drafts} == {""}
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=1, thought="only a thought", text="")
        await settle()
        assert len(world.platform.ops("draft")) == len(drafts)
        await runner.finish(claim, "done")
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=1, thought="", text="late")
        runner.drafts.clear(claim.prompt.id)
        await quiet(runner)
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=2, thought="", text="too late")
        await quiet(runner)
        assert [each["op"] for each in world.platform.ops("draft", "send")][-1] == "send"


async def test_a_draft_does_not_overtake_what_the_turn_said_before(world: Any, quiet: Any) -> None:
    async with world.runner(drafts=True) as runner:
        claim = await turn(world, runner)
        world.platform.script("c", Fault(kind="none"), Fault(kind="hang"))
        asked = await runner.say(claim, call("run"))
        await runner.respond(claim, asked)
        for n in range(10):
            runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=2, thought="", text="x" * (n + 1))
            await settle()
        assert world.platform.ops("draft") == []
        world.platform.release()
        await quiet(runner)
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=2, thought="", text="more")
        await settle()
        shown = [each["text"] for each in world.platform.ops("send", "draft")]
        assert shown == ["🛠️ run ⏳", "🛠️ run ✅ ok", "x" * 10, "more"]
        await runner.finish(claim, "done")
        await quiet(runner)


async def test_drafts_are_folded_into_a_live_status(world: Any) -> None:
    async with world.runner(**BAR, drafts=True) as runner:
        claim = await turn(world, runner)
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=1, thought="", text="so far")
        await world.clock.advance(2)
        assert world.platform.texts("c") == ["… so far"]


async def test_a_status_that_showed_a_draft_alone_is_never_made_blank_after_a_restart(world: Any, quiet: Any) -> None:
    """Platforms refuse a blank message, and what is refused is not drawn again."""
    async with world.runner(**BAR, drafts=True) as runner:
        claim = await turn(world, runner)
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=1, thought="", text="so far")
        await world.clock.advance(2)
    async with world.runner(**BAR, drafts=True) as runner:
        await world.clock.advance(20)
        assert world.platform.texts("c") == ["… so far"]
        await runner.say(claim, thought("one"))
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["💭 one"]


async def test_a_live_column_needs_a_live_platform() -> None:
    import pytest

    from kesoku.testing.recording import SHOW_ALL, recording_manifest

    with pytest.raises(ValueError, match="live"):
        recording_manifest(visibility=replace(SHOW_ALL, thought=Presentation.FOLDED))


class Keeper(RecordingAdapter):
    """Leaves a summary behind, and cannot draw what says so."""

    def fold(self, state: Any, item: Any) -> Any:
        if isinstance(item, Record) and "unspeakable" in item.message.rendered:
            raise KeyError("a bug")
        return super().fold(state, item)

    def close(self, state: Any, end: TurnEnd) -> Outgoing | None:
        return Outgoing(text=f"{end.outcome}: {len(state.lines)} lines")


async def test_a_status_may_stay_as_a_summary(world: Any, quiet: Any) -> None:
    async with world.runner(**BAR, kind=Keeper) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        broken = await runner.say(claim, thought("unspeakable"))
        await world.clock.advance(2)
        assert await runner.status(broken) is S.DELIVERED
        await runner.finish(claim, "done")
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == ["processed: 1 lines", "done"]


async def test_a_status_cut_off_in_its_first_send_is_looked_up_when_its_turn_is_over(world: Any, quiet: Any) -> None:
    # N-18; complaint 94
    facts = {**BAR, "key_window": 0.0, "find": True}
    async with world.runner(**facts) as runner:
        claim = await turn(world, runner)
        world.platform.script("c", Fault(kind="stuck"))
        await runner.say(claim, thought("one"))
        await settle(100)
    await world.gateway.interrupt(claim.prompt.session_id, by="ada", reason="stopped")
    async with world.runner(**facts) as runner:
        await quiet(runner)
        await world.clock.advance(5)
        assert world.platform.texts("c") == []
        assert await live_rows(runner, claim) == []


async def test_a_recovered_turn_goes_on_with_its_status(world: Any, quiet: Any) -> None:
    async with world.runner(**BAR, typing=True) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
        await world.gateway.release(claim.fence, requeue=True)
        await settle()
        assert world.platform.ops("typing")[-1]["on"] is False
        assert world.platform.texts("c") == ["💭 one"]
        claim = await runner.claim("another")
        await runner.say(claim, thought("two"))
        await world.clock.advance(2)
        assert world.platform.texts("c") == ["💭 one\n💭 two"]
        assert world.platform.ops("typing")[-1]["on"] is True


async def test_a_status_outlasts_an_outage_and_goes_once_it_can(world: Any, quiet: Any) -> None:
    """Complaint 94: five failures are half a minute, and an outage lasts longer."""
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
        world.platform.script("edit c", *[Fault(kind="bug")] * 8)
        world.platform.script("delete c", *[Fault(kind="lost")] * 8)
        await runner.say(claim, thought("two"))
        for _ in range(40):
            await world.clock.advance(10)
        assert world.platform.texts("c") == ["💭 one\n💭 two"]
        await runner.finish(claim, "done")
        for _ in range(40):
            await world.clock.advance(10)
        await quiet(runner)
        assert world.platform.texts("c") == ["done"]
        assert await live_rows(runner, claim) == []


async def test_a_status_that_must_not_be_removed_is_tried_again_by_the_next_process(world: Any, quiet: Any) -> None:
    """Complaints 6 and 94."""
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
        world.platform.script("delete c", Fault(kind="refuse"))
        await runner.finish(claim, "done")
        await quiet(runner)
        assert world.platform.texts("c") == ["💭 one", "done"]
    async with world.runner(**BAR) as runner:
        await quiet(runner)
        assert world.platform.texts("c") == ["done"]
        assert await live_rows(runner, claim) == []


async def test_a_status_left_behind_that_does_not_go_holds_up_no_answer(world: Any, quiet: Any) -> None:
    """Complaint 94; K-152."""
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("one"))
        await world.clock.advance(2)
    await world.gateway.interrupt(claim.prompt.session_id, by="ada", reason="stopped")
    world.platform.script("delete c", *[Fault(kind="retry", seconds=100.0)] * 3)
    async with world.runner(**BAR) as runner:
        await runner.answer("d", "elsewhere")
        await settle()
        await world.clock.advance(1)
        assert world.platform.texts("d") == ["elsewhere"]
        assert world.platform.texts("c") == ["💭 one"]
        for _ in range(4):
            await world.clock.advance(100)
        await quiet(runner)
        assert world.platform.texts("c") == []


class Late(RecordingAdapter):
    """What is on its way arrives, whether or not anybody still waits for it."""

    async def send(self, address: Any, outgoing: Outgoing, key: str) -> Any:
        return await asyncio.shield(asyncio.ensure_future(super().send(address, outgoing, key)))


async def test_a_status_that_arrives_after_the_end_of_its_turn_is_removed(world: Any, quiet: Any) -> None:
    """Complaint 94."""
    async with world.runner(**BAR, kind=Late) as runner:
        claim = await turn(world, runner)
        world.platform.script("c", Fault(kind="hang"))
        await runner.say(claim, thought("one"))
        await settle()
        await runner.finish(claim, "done")
        await settle()
        await world.clock.advance(10)
        assert world.platform.texts("c") == ["done"]
        world.platform.release()
        await quiet(runner)
        assert [each["op"] for each in world.platform.ops("send", "delete")] == ["send", "send", "delete"]
        assert world.platform.texts("c") == ["done"]
        assert await live_rows(runner, claim) == []


async def test_a_turn_that_ended_while_the_bot_was_down_gets_no_status(world: Any, quiet: Any) -> None:
    """Complaint 94; and the key of one that was removed would be used again."""
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
    think = await runner.say(claim, thought("one"))
    await runner.finish(claim, "done")
    async with world.runner(**BAR) as runner:
        await quiet(runner)
        await world.clock.advance(5)
        assert [each["text"] for each in world.platform.ops("send")] == ["done"]
        assert await runner.status(think) is S.DELIVERED


async def test_an_orderly_end_waits_until_the_status_is_gone(world: Any) -> None:
    # N-18: also while the answer is out already, and its status has yet to be taken away
    async with world.runner(**BAR) as runner:
        claim = await turn(world, runner)
        await runner.say(claim, thought("hm"))
        await settle()
        world.platform.script("delete c", Fault(kind="retry", seconds=0.0))
        answer = await runner.finish(claim, "done")
        drained = asyncio.create_task(runner.outbox.drained())
        await settle()
        assert await runner.status(answer) is S.DELIVERED
        assert world.platform.texts("c") == ["💭 hm", "done"]
        assert not drained.done()
        await world.clock.advance(10)
        assert world.platform.texts("c") == ["done"]
        assert drained.done()
        await drained
