"""The status of a running turn."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter import Draft, Outgoing, Record, Tick, TurnEnd
from kesoku.messages import make
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import live
from kesoku_discord.drawing.controls import rows_of
from kesoku_discord.drawing.step import arguments_shown

from .records import BEGAN, call, golden, placed, result, thought, written

CONFIG = DiscordConfig()
PLAN = thought("I need to run the unit tests for the history module.")


def status(text: str, number: int = 1) -> Record:
    return placed(make.notice(text), id=f"status-{number}")


def draft(text: str = "", *, thought: str = "", step: int = 1, note: str = "", wait: float | None = None) -> Draft:
    return Draft(turn_id="turn-1", step=step, thought=thought, text=text, note=note, wait=wait)


def folded(*items: Record | Draft | Tick) -> live.Status | None:
    state = None
    for item in items:
        state = live.fold(state, item)
    return state


def drawn(*items: Record | Draft | Tick, after: float = 0.0, config: DiscordConfig = CONFIG) -> Outgoing:
    return live.draw(folded(*items), BEGAN + after, config)


def lines(*items: Record | Draft | Tick, after: float = 0.0, config: DiscordConfig = CONFIG) -> list[str]:
    return drawn(*items, after=after, config=config).text.split("\n")


MANY = [each for n in range(15) for each in (call(n), result(call(n), error="no" if n == 3 else None))]
CODE = "Here:\n\n```python\n" + "\n".join(f"print({n})" for n in range(200))
CASES: dict[str, tuple[tuple[Any, ...], float]] = {
    "live-thought.md": ((PLAN,), 0),
    "live-running.md": ((PLAN, call()), 12),
    "live-done.md": ((PLAN, call(), result(call(), at=BEGAN + 95)), 200),
    "live-failed.md": ((PLAN, call(), result(call(), error="exit 1"), call(2), result(call(2))), 1),
    "live-folded.md": ((*MANY, call(99)), 1),
    "live-draft.md": ((PLAN, call(), result(call()), draft(CODE, step=2)), 1),
    "live-retry.md": ((status("The model is slow today"), draft(note="the model is busy; asking again", wait=31.0)), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_shown_as_in_its_golden_file(name: str) -> None:
    items, after = CASES[name]
    golden(name, written([drawn(*items, after=after)]))


def test_a_thought_and_a_call_that_runs() -> None:
    """K-199, K-203."""
    assert lines(thought("I need to run the unit tests..."), call()) == [
        "💭 I need to run the unit tests...",
        "🛠️ run_shell_command: uv run pytest tests/test_history.py ⏳",
    ]


@pytest.mark.parametrize(("error", "mark"), [(None, "✅"), ("exit 1", "❌")])
def test_a_result_takes_the_place_of_the_hourglass(error: str | None, mark: str) -> None:
    """K-160, K-207."""
    before = lines(PLAN, call(), call(2, command="ls"))
    after = lines(PLAN, call(), call(2, command="ls"), result(call(), error=error))
    assert after == [before[0], before[1].replace("⏳", mark), before[2]]


def test_a_status_notice_is_a_line() -> None:
    """K-211."""
    assert lines(status("Compacted **12** messages\nand more")) == ["ℹ️ Compacted 12 messages"]


def test_the_same_record_twice_is_one_line_and_a_result_is_never_undone() -> None:
    assert lines(PLAN, PLAN, call(), call()) == lines(PLAN, call())
    assert lines(call(), result(call()), call()) == lines(call(), result(call()))
    assert lines(result(call()), call()) == lines(call(), result(call()))


def test_a_call_that_fails_and_one_that_works_then_keep_a_verdict_each() -> None:
    """Complaint 96: nothing says that the turn failed."""
    shown = lines(call(), result(call(), error="exit 1"), call(2), result(call(2)))
    assert [line[-1] for line in shown] == ["❌", "✅"]
    assert "fail" not in "".join(shown)


def test_whole_seconds_are_told_of_what_takes_longer_than_one() -> None:
    assert [lines(call(), after=after)[0].partition("⏳")[2] for after in (0, 1, 1.7, 1.8, 59.8, 130.75)] == [
        "", "", "", " 2 s", " 1 min 0 s", " 2 min 11 s",
    ]  # fmt: skip
    assert lines(call(), result(call(), at=BEGAN + 12), after=99)[0].endswith("✅ 12 s")
    assert lines(call(), after=-50)[0].endswith("⏳")


@given(st.floats(0, 1e6), st.floats(0, 0.999))
def test_within_a_second_nothing_changes(after: float, later: float) -> None:
    state = folded(PLAN, call(), draft("text", step=2))
    whole = float(int(BEGAN + after))
    assert live.draw(state, whole, CONFIG) == live.draw(state, whole + later, CONFIG)


def test_nothing_to_show_is_blank_and_what_was_shown_is_never_blank_again() -> None:
    assert not drawn().says
    assert not drawn(draft(), Tick(now=1.0)).says
    assert not drawn(draft("text"), config=DiscordConfig(stream_answer=False)).says
    assert drawn(draft(note="busy"), draft()).text == "💭 …"
    assert drawn(draft("text"), draft()).text == "💭 …"


def test_records_of_a_step_take_the_place_of_its_draft() -> None:
    running = draft("I look it up", thought="**Looking** it up", step=2)
    assert lines(call(), running)[1:] == ["💭 Looking it up", "> I look it up"]
    assert lines(call(), running, draft("I look it up now", step=2))[1:] == ["> I look it up now"]
    assert lines(call(), running, result(call()))[1:] == ["💭 Looking it up", "> I look it up"]
    assert lines(running, thought("Looking it up", round=2)) == ["💭 Looking it up"]
    assert lines(draft("Hi"), status("busy")) == ["ℹ️ busy", "> Hi"]


def test_an_answer_is_shown_while_it_is_written_if_that_is_wanted() -> None:
    assert drawn(draft("# Hi\nthere")).text == "> # Hi\n> there"
    assert drawn(PLAN, draft("# Hi"), config=DiscordConfig(stream_answer=False)).text == drawn(PLAN).text


def test_the_end_of_a_long_answer_is_shown_with_its_code_block_open_and_closed() -> None:
    shown = lines(draft(CODE))
    assert shown[:2] == ["> …", "> ```python"]
    assert shown[-2:] == ["> print(199)", "> ```"]
    assert lines(draft("```py\n1\n```\n" + "x\n" * 40 + "end"))[-1] == "> end"


@pytest.mark.parametrize("arguments", [{}, {"path": "  "}])
def test_a_call_without_arguments_is_its_name(arguments: dict[str, Any]) -> None:
    record = placed(make.tool_call("look", arguments, provider="p", model="m"), id="call-1")
    assert lines(record) == ["🛠️ look ⏳"]


def test_of_endless_arguments_only_the_beginning_is_looked_at() -> None:
    class Lines(list[str]):
        def __iter__(self) -> Iterator[str]:
            return repeat("a line")

    shown = arguments_shown({"path": "x.txt", "lines": Lines(["a line"]), "more": Lines(["a line"])})
    assert shown.startswith('path="x.txt", lines=["a line", "a line", ')
    assert len(shown) == 300


def test_several_arguments_have_names() -> None:
    assert lines(call(tool="add", one=1, other="b c")) == ['🛠️ add: one=1, other="b c" ⏳']


HOSTILE = [
    "`x` ```\ncode\n```", "**b** ||x||", "[t](http://evil.x)", "<@1> @everyone", "_a_ ~~b~~", "\\",
    "a\nb\r\nc\x00\x1b[2J", "\u202egnp.exe", "https://u.x/*", "x" * 100_000, "🎸👨‍👩‍👧" * 500,
    "> q\n>>> all", "a" + "\u0301" * 5000, ("a" + "\u0301" * 15) * 200, "# big",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_model_writes_is_one_line_without_markup(text: str) -> None:
    (argument,) = lines(call(command=text))
    assert len(argument) < 600
    assert argument.count("`") in {0, 2}
    inside = argument.split("`")[0] + argument.split("`")[-1]
    assert not any(mark in inside for mark in ("*", "||", "~~", "<@", "@everyone", "](", "://", "\\", "\u202e"))
    (name,) = lines(call(tool=f"t{text}", command="x"))
    assert name.count("`") in {0, 2}
    (said,) = lines(thought(f"so {text}"))
    assert not any(mark in said.replace("\\\\", "") for mark in ("**", "||", "~~", "<@1", " @", "\u202e", "://"))


def test_the_newest_steps_stay_and_the_others_are_counted() -> None:
    shown = lines(*MANY, call(99))
    assert shown[0] == "-# … 8 earlier steps, 1 failed"
    assert len(shown) == 1 + live.NEWEST
    assert lines(*(call(n) for n in range(9)))[0] == "-# … 1 earlier step, 1 running"


def test_stop_stands_below_and_names_the_turn() -> None:
    (row,) = rows_of(drawn(PLAN))
    assert [(each["label"], each["custom_id"]) for each in row["components"]] == [("Stop", "stop::turn-1")]
    assert rows_of(drawn(PLAN, config=DiscordConfig(buttons=False))) == []
    assert drawn(PLAN).silent


@pytest.mark.parametrize("outcome", ["processed", "interrupted", "error"])
def test_nothing_stays_of_a_turn_that_is_over(outcome: str) -> None:
    assert live.close(folded(PLAN, call()), TurnEnd(turn_id="turn-1", outcome=outcome)) is None


anything = st.text(max_size=60) | st.sampled_from([*HOSTILE, CODE, "- a\n- b\n" * 300, "| a | b |\n|---|---|\n" * 80])
items = st.one_of(
    st.builds(lambda text, n: thought(text, number=n), anything, st.integers(1, 20)),
    st.builds(lambda text, n: call(n, command=text), anything, st.integers(1, 20)),
    st.builds(lambda n, failed: result(call(n), error=failed), st.integers(1, 20), st.sampled_from([None, "no"])),
    st.builds(lambda text, n: status(text, n), anything, st.integers(1, 20)),
    st.builds(lambda text, n: draft(text, thought=text[::-1], step=n, note=text), anything, st.integers(1, 3)),
)  # fmt: skip


@given(st.lists(items, max_size=30), st.floats(0, 1e5))
def test_it_never_outgrows_a_message_and_never_becomes_blank(given: list[Any], after: float) -> None:
    state, was_shown = None, False
    for item in given:
        state = live.fold(state, item)
        shown = live.draw(state, BEGAN + after, CONFIG)
        assert len(shown.text.encode("utf-16-le", "surrogatepass")) <= 2 * live.LIMIT
        assert bool(shown.text.strip()) == shown.says
        assert shown.says or not was_shown
        was_shown = shown.says
        assert json.dumps(asdict(shown))


def test_a_thousand_steps_are_folded_and_drawn() -> None:
    state = folded(*(each for n in range(500) for each in (call(n), result(call(n)))))
    assert live.draw(state, BEGAN, CONFIG).text.startswith("-# … 492 earlier steps\n")


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n" + f"| {'x' * 90} | y |\n" + "| x | y |\n" * 13,
        "```" + "x" * 2000 + "\n" + "code\n" * 50,
        "word " * 1000,
        "\n".join(f"- {n} {'🎸' * 60}" for n in range(40)),
    ],
)
def test_the_end_of_an_answer_of_any_form_fits(text: str) -> None:
    shown = lines(draft(text))
    assert all(line.startswith("> ") for line in shown)
    assert len("\n".join(shown).encode("utf-16-le")) <= 2 * 900


def test_very_long_steps_leave_room_for_fewer_of_them() -> None:
    shown = lines(*(call(n, tool="x\u0301" * 60, command="x\u0301" * 200) for n in range(20)), draft("# Hi", step=2))
    assert shown[0] == "-# … 14 earlier steps, 14 running"
    assert sum("🛠️" in line for line in shown) == 6


def test_what_says_nothing_and_what_is_shown_elsewhere_is_no_step() -> None:
    prompt = placed(make.user_prompt("hello", author="Ada"), id="prompt-1")
    assert not drawn(thought(" \n"), prompt, Tick(now=BEGAN)).says
