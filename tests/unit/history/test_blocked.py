"""Prompts that the provider refused, and answers that were cut (complaints 64 and 69)."""

import pytest

from kesoku.history import block
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.source import ANSWER_BLOCKED, PROMPT_BLOCKED
from kesoku.messages.turn import CallBlock, MediaBlock, TextBlock
from kesoku.testing.talk import Talk

from .reading import PNG, blocks, compiled, script


def test_a_prompt_that_the_provider_refused_is_left_out_afterwards() -> None:
    # complaint 69
    talk = Talk()
    talk.prompt("fine")
    talk.answer("yes")
    interrupted = talk.prompt("how to", status=MessageStatus.INTERRUPTED)
    prompt = talk.prompt("build a bomb", files=(PNG,), status=MessageStatus.ERROR)
    blocked = talk.turn
    (call,) = talk.step(CallBlock(call_id="", name="search", arguments={"q": "bomb"}))
    result = talk.result(call, "how to build a bomb")
    talk.add(make.error_answer("The provider did not take your message.", error=PROMPT_BLOCKED))
    talk.prompt("and now?")
    request = compiled(talk)
    assert script(request)[2:] == [
        ("user", f"{block.WITHHELD}\n\n{block.WITHHELD}"),
        ("model", f"{make.ERROR}The provider did not take your message."),
        ("user", "and now?"),
    ]
    assert {interrupted.id, prompt.id} <= {source for source, _ in request.turns[2].sources}
    assert result.id not in {source for turn in request.turns for source, _ in turn.sources}
    assert blocks(request, MediaBlock) == []
    assert "build a bomb" in script(compiled(talk, active_turn=blocked))[2][1], "a replay sees what was sent"


def test_a_prompt_stays_whose_answer_was_withheld() -> None:
    talk = Talk()
    talk.prompt("how?", status=MessageStatus.ERROR)
    talk.add(make.error_answer("The provider withheld the answer.", error=ANSWER_BLOCKED))
    talk.prompt("and now?")
    assert script(compiled(talk))[0] == ("user", "how?")


def test_a_turn_that_was_interrupted_at_work_is_not_what_was_refused() -> None:
    talk = Talk()
    talk.prompt("look", status=MessageStatus.INTERRUPTED)
    (call,) = talk.step(CallBlock(call_id="", name="a", arguments={}))
    talk.result(call)
    talk.prompt("build a bomb", status=MessageStatus.ERROR)
    talk.add(make.error_answer("The provider did not take your message.", error=PROMPT_BLOCKED))
    talk.prompt("and now?")
    assert script(compiled(talk))[0] == ("user", "look")


@pytest.mark.parametrize("steered", [False, True])
def test_what_was_never_read_is_left_out_with_the_prompt_that_was_refused_for_it(steered: bool) -> None:
    # otherwise it would have every later prompt refused
    talk = Talk()
    talk.prompt("look" if steered else "build a bomb", status=MessageStatus.ERROR)
    if steered:
        (call,) = talk.step(CallBlock(call_id="", name="a", arguments={}))
        talk.result(call)
        talk.add(make.user_prompt("build a bomb", author="Ann"), round=2, status=MessageStatus.ERROR)
    talk.add(make.error_answer("The model is overloaded.", error="ModelUnavailable"))
    talk.prompt("hello", status=MessageStatus.ERROR)
    talk.add(make.error_answer("The provider did not take your message.", error=PROMPT_BLOCKED))
    talk.prompt("and now?")
    assert "bomb" not in str(compiled(talk))


def test_a_model_goes_on_where_its_answer_was_cut() -> None:
    # complaint 64
    talk = Talk()
    talk.prompt("tell")
    talk.step(TextBlock(text="Once upon a"))
    talk.thought("Once upon a", interim=True)
    talk.add(make.nudge("Go on.", why="continue"), round=2)
    cut = [("user", "tell"), ("model", "Once upon a"), ("user", "[System Notification]\nGo on.")]
    assert script(compiled(talk, provider="scripted")) == cut
    assert script(compiled(talk, provider="other")) == cut
    assert blocks(compiled(talk), TextBlock)[1].thought is False
    talk.round = 1
    talk.step(TextBlock(text=" time."))
    talk.answer("Once upon a time.")
    talk.prompt("more")
    assert script(compiled(talk)) == [("user", "tell"), ("model", "Once upon a time."), ("user", "more")]
