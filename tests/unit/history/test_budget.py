"""How much of a history goes to the model, and that what goes stays in its place (C-33, D-X12)."""

import re

from kesoku.history.compile import CompileLimits
from kesoku.messages.turn import CallBlock, ResultBlock
from kesoku.testing.talk import Talk

from .reading import blocks, compiled, script, spoken


def test_output_is_bounded() -> None:
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    talk.result(talk.call("a"), "x" * 100_000)
    (result,) = blocks(compiled(talk), ResultBlock)
    assert 64 * 1024 <= len(result.output) < 64 * 1024 + 100
    assert "bytes are left out here" in result.output
    assert len(blocks(compiled(talk, limits=CompileLimits(tool_output=100)), ResultBlock)[0].output) < 200


def test_the_oldest_turns_go_first_when_the_history_is_too_long() -> None:
    talk = Talk()
    for n in range(20):
        talk.prompt(f"question {n} " + "x" * 400)
        talk.round = 1
        talk.result(talk.call("look"), "y" * 400)
        talk.answer(f"answer {n}")
    limits = CompileLimits(tokens=1500)
    request = compiled(talk, limits=limits)
    assert spoken(request.turns[0]).startswith(
        "[System Notification]\nEarlier messages of this conversation are left out here, for want of room.\n\nquestion"
    )
    asked = re.findall(r"question (\d+)", "".join(spoken(turn) for turn in request.turns))
    assert asked == [str(n) for n in range(20 - len(asked), 20)]
    assert 0 < len(asked) < 10
    assert compiled(talk, limits=CompileLimits(tokens=1)).turns[0].sources[0][0] == talk.turn
    assert "left out" not in str(compiled(talk, limits=CompileLimits(tokens=100_000)))


def test_the_active_turn_is_never_left_out() -> None:
    talk = Talk()
    talk.prompt("x" * 1000)
    assert script(compiled(talk, limits=CompileLimits(tokens=10))) == [("user", "x" * 1000)]


def test_the_start_of_a_history_at_its_limit_moves_seldom() -> None:
    talk = Talk()
    for n in range(100):
        talk.prompt(f"question {n} " + "x" * 40)
        talk.answer(f"answer {n} " + "y" * 40)
    talk.prompt("go")
    starts = []
    for n in range(20):
        starts.append(compiled(talk, limits=CompileLimits(tokens=800)).turns[0])
        talk.answer("z" * 40)
        talk.prompt(f"more {n}")
    assert len({str(each) for each in starts}) == 2, "about 200 tokens of growth cross the mark of a quarter once"


def test_what_a_turn_adds_drops_nothing() -> None:
    # D-X12
    talk = Talk()
    for n in range(20):
        talk.prompt(f"question {n}")
        talk.answer("y" * 40)
    talk.prompt("go")
    limits = CompileLimits(tokens=200)
    start = compiled(talk, limits=limits).turns
    for n in range(5):
        (call,) = talk.step(CallBlock(call_id="", name="a", arguments={"n": n}))
        talk.result(call, "z" * 400)
        assert compiled(talk, limits=limits).turns[: len(start)] == start
