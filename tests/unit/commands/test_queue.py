"""/queue, /cancel and /steer: prompts before their turn."""

from dataclasses import replace

import pytest

from kesoku.errors import NotPossible
from kesoku.exchange.kin import Kin, add_child
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Address, Post
from kesoku.testing.gateway_harness import EVERYTHING, ROOM
from kesoku.testing.model import Held, call, reply
from kesoku.tools.tool import Effect, tool

from .desk import desk, read_by

ELSEWHERE = replace(ROOM, channel_id="hall")


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "fog"


async def test_the_queue_names_what_runs_and_what_waits() -> None:
    held = Held()
    table = desk(held)
    async with table.harness.at_work():
        running = await table.harness.say("go")
        await held.entered.wait()
        await table.harness.say("second", by="Bob", catch_up=True)
        await table.harness.clock.advance(3)
        lines = (await table.give("/queue")).splitlines()
        assert lines[0] == "- #1 prompt of Ada is being answered: `go`"
        assert lines[1].startswith("- #2 prompt of Bob, for ")
        assert lines[1].endswith(": `second`")
        await table.give("/cancel 2", by="Bob")
        held.release.set()
        await table.harness.answered(running)
    assert await table.give("/queue") == "Nothing runs and nothing waits here."


async def test_the_queue_names_agents_at_work() -> None:
    """/stop would end them, so to say that nothing runs is not true."""
    table = desk("one")
    (asked,) = await table.talk("let scout look")
    there = Address(chatbot_id="agent", channel_id="child")
    kin = Kin(session_id="child", parent=asked.session_id, name="scout", depth=1, root="r", home=ROOM, desk=there)
    await table.harness.store.write(lambda tx: add_child(tx, kin))
    assert await table.give("/queue") == "Nothing runs and nothing waits here."
    await table.harness.gateway.post(Post(message=make.task("look"), address=there, session_id="child"))
    assert await table.give("/queue") == "- agent scout works for this conversation; /stop ends that, too"


async def test_a_prompt_that_waits_is_cancelled_once() -> None:
    """Its id stays, and the log says what became of it (N-11, D-037, D-040, D-X08)."""
    table = desk("one")
    waiting = await table.harness.say("first")
    assert await table.give("/cancel #1") == "#1 is cancelled."
    assert await table.harness.status(waiting) is MessageStatus.INTERRUPTED
    with pytest.raises(NotPossible, match="does not wait"):
        await table.give("/cancel 1")
    last = (await table.harness.events())[-1]
    assert (last.record.id, last.reason, last.actor) == (waiting.id, "cancelled", "user:id-Ada")
    assert await table.harness.gateway.claim("w", EVERYTHING) is None


async def test_a_running_or_answered_prompt_is_not_cancelled() -> None:
    held = Held()
    table = desk(held)
    async with table.harness.at_work():
        prompt = await table.harness.say("go")
        await held.entered.wait()
        with pytest.raises(NotPossible, match="/stop ends that"):
            await table.give("/cancel 1")
        held.release.set()
        await table.harness.answered(prompt)
    with pytest.raises(NotPossible, match="does not wait"):
        await table.give("/cancel 1")
    with pytest.raises(NotPossible, match="does not wait"):
        await table.give("/cancel 2", admin=True)


async def test_others_do_not_cancel_what_a_person_said() -> None:
    table = desk()
    waiting = await table.harness.say("first")
    with pytest.raises(NotPossible, match="somebody else"):
        await table.give("/cancel 1", by="Mallory")
    assert await table.harness.status(waiting) is MessageStatus.PENDING_AGENT
    assert await table.give("/cancel 1", by="Root", admin=True) == "#1 is cancelled."


async def test_steer_joins_the_running_turn_at_its_next_step() -> None:
    """C-42, D-X01."""
    held = Held(reply(call("look")))
    table = desk(held, "done", tools=[look])
    async with table.harness.at_work():
        prompt = await table.harness.say("go")
        await held.entered.wait()
        told = await table.give("/steer and quickly")
        assert told == "The running turn reads it before its next step. If there is none, I answer it right after."
        assert await table.harness.notices() == []
        assert "joins the running turn" in await table.give("/queue")
        held.release.set()
        await table.harness.answered(prompt)
    assert "and quickly" in "".join(read_by(table.model.requests[-1]))
    assert not table.model.lines


async def test_steer_that_is_delivered_twice_is_one_prompt() -> None:
    table = desk("done")
    for _ in range(2):
        told = await table.give("/steer do it", keys=["event-1"])
        assert told == "No turn is running here, so I answer it as a message of its own."
    assert len(await table.waiting()) == 1
    await table.work()
    assert "do it" in "".join(read_by(table.model.requests[-1]))


async def test_steer_that_was_read_before_its_answer_came_says_so() -> None:
    held, again = Held(reply(call("look"))), Held()
    table = desk(held, again, tools=[look])
    async with table.harness.at_work():
        prompt = await table.harness.say("go")
        await held.entered.wait()
        await table.give("/steer and quickly", keys=["event-1"])
        held.release.set()
        await again.entered.wait()
        assert await table.give("/steer and quickly", keys=["event-1"]) == "The running turn has read it."
        again.release.set()
        await table.harness.answered(prompt)


async def test_steer_beside_a_turn_of_another_channel_says_that_it_waits() -> None:
    table = desk()
    harness = table.harness
    first = await harness.say("go", at=ELSEWHERE)
    await harness.store.write(lambda tx: tx.sessions.bind(ROOM, first.session_id))
    await harness.claim()
    told = await table.give("/steer and quickly")
    assert told == "What runs now is for another channel. I answer this after it."


async def test_steer_beyond_the_flood_bounds_says_why() -> None:
    table = desk()
    for _ in range(table.harness.bounds.queued_per_channel):
        await table.harness.say("more", catch_up=True)
    assert (await table.give("/steer do it")).startswith("I did not take this message: ")


@pytest.mark.parametrize("stopped", [False, True])
async def test_what_was_taken_back_before_it_started_is_never_read(stopped: bool) -> None:
    """Neither what was cancelled, nor what waited behind a turn that was stopped."""
    held = Held()
    table = desk(held, "done")
    async with table.harness.at_work():
        running = await table.harness.say("go")
        await held.entered.wait()
        waiting = await table.harness.say("never mind", catch_up=True)
        if stopped:
            await table.harness.gateway.interrupt(running.session_id, by="Ada", reason="stopped", queued=True)
        else:
            await table.give("/cancel 2")
        held.release.set()
        await table.harness.until(running, MessageStatus.PROCESSED, MessageStatus.INTERRUPTED)
    await table.talk("next")
    assert "never mind" not in "".join(read_by(table.model.requests[-1]))
    assert await table.harness.status(waiting) is MessageStatus.INTERRUPTED
    assert (await table.harness.record(waiting)).message.rendered == "never mind"
