"""Answers that were cut: the model goes on once, and people get one text, whatever happens in between."""

from itertools import pairwise
from typing import Any

import pytest

from kesoku.agent.budget import Budget
from kesoku.agent.limits import TurnLimits
from kesoku.agent.signal import CutAnswer
from kesoku.agent.think import Asked
from kesoku.gateway import Busy, BusyPolicy
from kesoku.messages.enums import MessageStatus
from kesoku.messages.turn import CompiledRequest, Finish, Reply, TextBlock, Usage
from kesoku.messages.visibility import Presentation, Visibility
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import Held, Line, ScriptedModel, call, reply, thought

from .asking import OFFLINE, answer_to, look

EVERYTHING = Visibility(
    **dict.fromkeys(
        ("user_text", "assistant_text", "thought", "tool_call", "tool_result", "notice"), Presentation.SHOWN
    )
)
CUT = reply(
    thought("I count.\n"), "one, two, th", finish=Finish.CUT, detail="the output limit was reached (MAX_TOKENS)"
)
BROKEN = reply("one, two, th", finish=Finish.BROKEN, detail="the connection was reset")


def shown(harness: AgentHarness) -> list[str]:
    """What the drafts said of the answer, each longer than the one before."""
    texts = [text for *_, text in harness.drafts.shown if text]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    return texts


@pytest.mark.parametrize("cut", [CUT, BROKEN], ids=lambda cut: cut.finish)
async def test_a_cut_answer_is_continued_once_and_is_one_text(cut: Reply) -> None:
    # complaint 64; N-09
    model = ScriptedModel(cut, reply(thought("Three.\n"), "ree, four"))
    harness = AgentHarness(model)
    prompt, answer = await answer_to(harness)
    assert (answer.message.rendered, prompt.status) == ("one, two, three, four", MessageStatus.PROCESSED)
    said, note = model.requests[1].turns[-2:]
    assert said.blocks == cut.blocks
    (block,) = note.blocks
    assert isinstance(block, TextBlock)
    assert "Your previous response was cut off. Go on exactly where it stopped" in block.text
    assert model.requests[1].options == {"thinking": "low"}
    assert shown(harness) == ["one, two, th", "one, two, th", "one, two, three, four"]
    assert {step for _, step, *_ in harness.drafts.shown} == {1}
    assert harness.drafts.shown[-1][2] == cut.thoughts + "\n\n" * bool(cut.thoughts) + "Three.\n"
    turn: list[Any] = [each for each in await harness.turn(prompt) if each.kind == "thought"]
    (begun,) = [each for each in turn if each.message.source.cut]
    assert (begun.message.rendered, begun.round) == ("one, two, th", 1)
    assert [EVERYTHING.of(each.message) for each in turn].count(Presentation.HIDDEN) == 1  # people see it in the answer


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        (
            reply("ree, fo", finish=Finish.CUT, detail="limit"),
            "one, two, three, fo\n\n*[The answer was cut here: limit.]*",
        ),
        (reply("ree, fo", finish=Finish.BROKEN), "one, two, three, fo\n\n*[The answer was cut here.]*"),
        (reply(), "one, two, th\n\n*[The answer was cut here: the model did not go on.]*"),
        (reply(detail="no part"), "one, two, th\n\n*[The answer was cut here: the model did not go on; no part.]*"),
        (
            reply("ree", finish=Finish.BLOCKED, detail="unsafe (SAFETY)"),
            "one, two, th\n\n*[The answer was cut here: the provider withheld the rest; unsafe (SAFETY).]*",
        ),
        (
            reply("ree", call("look"), finish=Finish.MALFORMED, detail="odd"),
            "one, two, three\n\n*[The answer was cut here: odd.]*",
        ),
        (reply("ree", finish=Finish.OTHER, detail="odd."), "one, two, three\n\n*[The answer was cut here: odd.]*"),
        (
            OFFLINE,
            "one, two, th\n\n*[The answer was cut here: model scripted is unavailable, status 503 (overloaded); "
            "try again later.]*",
        ),
    ],
    ids=["cut", "broken", "empty", "no part", "blocked", "malformed", "other", "error"],
)
async def test_what_there_is_stays_when_the_model_does_not_go_on(after: Line, answer: str) -> None:
    model = ScriptedModel(CUT, after, "fine")
    harness = AgentHarness(model, tools=[look])
    prompt, said = await answer_to(harness)
    assert said.message.rendered == answer
    assert prompt.status is (MessageStatus.ERROR if after is OFFLINE else MessageStatus.PROCESSED)
    assert len(model.requests) == 2
    interim: list[Any] = [each.message.source for each in await harness.turn(prompt) if each.kind == "thought"]
    assert [source.cut for source in interim if source.interim] == [True]
    _, said = await answer_to(harness)
    assert said.message.rendered == "fine"


@pytest.mark.parametrize(
    ("limits", "budget", "why"),
    [
        (TurnLimits(steps=1), Budget(), "the limit of 1 steps was reached"),
        (TurnLimits(), Budget(tokens=300), "the limit of 300 tokens (200 used; the next"),
    ],
    ids=["steps", "tokens"],
)
async def test_a_limit_ends_a_begun_answer_with_what_there_is(limits: TurnLimits, budget: Budget, why: str) -> None:
    cut = reply("one, two, th", finish=Finish.CUT, usage=Usage(prompt=100, answer=100))
    harness = AgentHarness(ScriptedModel(cut), limits=limits, budget=budget)
    _, answer = await answer_to(harness)
    assert answer.message.rendered.startswith(f"one, two, th\n\n*[The answer was cut here: {why}")


async def test_the_time_limit_ends_a_begun_answer_with_what_there_is() -> None:
    held = Held()
    harness = AgentHarness(ScriptedModel(CUT, held), limits=TurnLimits(seconds=60))
    prompt = await harness.say()
    async with harness.at_work():
        await held.entered.wait()
        await harness.clock.advance(61)
        answer = await harness.answered(prompt)
    assert answer.message.rendered == "one, two, th\n\n*[The answer was cut here: the limit of 60 s was reached.]*"


async def test_a_continuation_may_call_tools_and_is_no_answer_then() -> None:
    model = ScriptedModel(CUT, reply("ree, but I look.", call("look")), reply("x", finish=Finish.CUT))
    harness = AgentHarness(model, tools=[look])
    prompt, answer = await answer_to(harness)
    assert answer.message.rendered == "x\n\n*[The answer was cut here.]*"  # once a turn
    turn: list[Any] = [each.message for each in await harness.turn(prompt)]
    beside = [each.rendered for each in turn if each.kind == "thought" and each.source.interim and not each.source.cut]
    assert beside == ["one, two, three, but I look."]
    assert model.requests[2].turns[-2].blocks[0] == TextBlock(text="ree, but I look.")


async def test_a_second_model_goes_on_without_what_the_first_one_repeated() -> None:
    second = ScriptedModel("ree", name="second", provider="other")
    harness = AgentHarness(ScriptedModel(CUT, OFFLINE), second)
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "one, two, three"
    assert shown(harness)[-1] == "one, two, three"
    assert harness.drafts.notes == [("scripted cannot answer now; asking second", None)]


async def test_a_prompt_that_joins_gets_a_paragraph_of_its_own() -> None:
    held = Held(CUT)
    model = ScriptedModel(held, "So be it.")
    harness = AgentHarness(model, policy=BusyPolicy(busy=Busy.STEER))
    prompt = await harness.say("count")
    async with harness.at_work():
        await held.entered.wait()
        await harness.say("no, stop")
        held.release.set()
        answer = await harness.answered(prompt)
    assert answer.message.rendered == "one, two, th\n\n\nSo be it."
    assert "Go on in a new paragraph, as the latest message asks." in str(model.requests[1].turns[-1])
    assert shown(harness)[-1] == answer.message.rendered


async def test_words_that_join_an_answer_and_are_refused_are_not_sent_again() -> None:
    # complaint 69: otherwise every later request would be refused for them
    held = Held(CUT)
    blocked = reply(finish=Finish.REFUSED, detail="odd (SAFETY)")
    model = ScriptedModel(held, blocked, "fine")
    harness = AgentHarness(model, policy=BusyPolicy(busy=Busy.STEER))
    prompt = await harness.say("count")
    async with harness.at_work():
        await held.entered.wait()
        await harness.say("a wicked wish")
        held.release.set()
        answer = await harness.answered(prompt)
    assert "did not take your message" in answer.message.rendered
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "fine"
    assert "a wicked wish" in str(model.requests[1])
    assert "a wicked wish" not in str(model.requests[2])


@pytest.mark.parametrize("stored", range(4))
async def test_a_crash_at_any_point_changes_nothing(stored: int) -> None:
    lines: list[Line] = [CUT, "ree, four"]
    model = ScriptedModel(*lines[(0, 1, 1, 2)[stored] :])
    harness = AgentHarness(model, replays=False)  # the request of the step that is stored here is made up
    prompt = await harness.say("count")
    claim = await harness.claim("dead")
    journal = harness.loop()._journal
    turn = await journal.open(claim)
    asked = Asked(model="scripted", request=CompiledRequest(system="", turns=()))
    if stored > 0:
        turn = await journal.step(turn, asked, CUT)
    if stored > 1:
        turn = await journal.say(turn, CutAnswer(text=CUT.text).note)
    if stored > 2:
        turn = await journal.step(turn, asked, reply("ree, four"))
    harness.presence.dead.add("dead")
    async with harness.at_work():
        await harness.answered(prompt)
    records = await harness.turn(prompt)
    assert [each.message.rendered for each in records if each.kind == "answer"] == ["one, two, three, four"]
    assert [each.kind for each in records].count("system_note") == 1
    assert not model.lines
