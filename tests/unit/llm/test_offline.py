"""The offline model: its table, its honesty, its steps."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kesoku.llm import offline
from kesoku.llm.offline import MANIFEST, UNKNOWN, OfflineConfig, OfflineModel, decide
from kesoku.messages.turn import CallBlock, Reply, ResultBlock, TextBlock, ToolSpec, Turn
from kesoku.testing.model_contract import listen, request, results, user

TOOLS = tuple(
    ToolSpec(name=name, description="", parameters={"type": "object"})
    for name in ("calculate", "current_time", "read_file", "list_dir", "run_shell_command", "spawn_agent")
)


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("time", [("current_time", {})]),
        ("What time is it?", [("current_time", {})]),
        ("what is the time now", [("current_time", {})]),
        ("2 * (3 + 4)", [("calculate", {"expression": "2 * (3 + 4)"})]),
        ("1/3 = ", [("calculate", {"expression": "1/3"})]),
        ("Calculate 1/3.", [("calculate", {"expression": "1/3."})]),
        ("what is 2+2?", [("calculate", {"expression": "2+2"})]),
        ("calculate sqrt(2)", [("calculate", {"expression": "sqrt(2)"})]),
        ("read notes.txt", [("read_file", {"path": "notes.txt"})]),
        ("read My File.md.", [("read_file", {"path": "My File.md"})]),
        ("list", [("list_dir", {"path": "."})]),
        ("ls src", [("list_dir", {"path": "src"})]),
        ("run echo hi!", [("run_shell_command", {"command": "echo hi!"})]),
        ("RUN ls | wc -l", [("run_shell_command", {"command": "ls | wc -l"})]),
        ("delegate to scout: run pwd", [("spawn_agent", {"task": "run pwd", "name": "scout"})]),
        ("delegate 6 * 7", [("spawn_agent", {"task": "6 * 7", "name": "helper-579e"})]),
        ("time\n\n  list  \n", [("current_time", {}), ("list_dir", {"path": "."})]),
        ("`Chii` <@1> at `2026-05-27 20:50:00 SGT`:\ntime", [("current_time", {})]),
        ("`Chii`:\nlist\ntime", [("list_dir", {"path": "."}), ("current_time", {})]),
    ],
)
def test_what_is_written_makes_the_calls_of_the_table(said: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    plan = decide(request(user(said), tools=TOOLS))
    assert list(plan.calls) == calls


@pytest.mark.parametrize("said", ["hello", "Hi!", "HELP", "?", "hey kesoku"])
async def test_hello_says_what_it_is_and_what_it_can(said: str) -> None:
    _, reply = await listen(OfflineModel(), request(user(said), tools=TOOLS))
    assert "demonstration" in reply.text
    assert "GEMINI_API_KEY" in reply.text
    for word in ("time", "read FILE", "list [DIR]", "run COMMAND", "think about X", "slow [SECONDS]"):
        assert word in reply.text


def test_help_and_docstring_tell_the_same_requests() -> None:
    words = r"\b(help|time|read|list|run|delegate|think|slow)\b"
    told = re.findall(words, decide(request(user("help"))).text)
    assert set(told) == set(re.findall(words, offline.__doc__ or "")) == set(words[3:-3].split("|"))


@pytest.mark.parametrize("said", ["write me a poem", "你好吗", "", "timely", "readme", "running", "3", "slow down"])
async def test_anything_else_is_answered_with_the_truth(said: str) -> None:
    _, reply = await listen(OfflineModel(), request(user(said), tools=TOOLS))
    assert reply.text == UNKNOWN
    assert "not an intelligence" in reply.text
    assert reply.calls == ()


def test_what_is_not_understood_is_said_beside_what_is() -> None:
    asked = user("time\nwrite a poem\nwrite a song")
    step = decide(request(asked, tools=TOOLS))
    assert (step.text, len(step.calls)) == ("", 1)
    call = CallBlock(call_id="c", name="current_time", arguments={})
    turns = results(Reply(blocks=(call,), provider="offline", model="offline"), "noon")
    assert decide(request(asked, *turns, tools=TOOLS)).text == f"`current_time` says: noon\n\n{UNKNOWN}"


def test_a_missing_tool_is_named() -> None:
    plan = decide(request(user("run ls\ntime"), tools=TOOLS[:2]))
    assert plan.calls == (("current_time", {}),)
    assert "`run_shell_command`" in decide(request(user("run ls"))).text


def test_an_interrupted_prompt_is_not_followed_again() -> None:
    plan = decide(request(user("slow 60\n\n", "time"), tools=TOOLS))
    assert (plan.calls, plan.text) == ((("current_time", {}),), "")


def test_the_result_of_an_interrupted_call_is_not_told() -> None:
    lost = ResultBlock(call_id="c", name="run_shell_command", output=None, error="interrupted")
    said = Turn(role="model", blocks=(CallBlock(call_id="c", name="run_shell_command", arguments={}),))
    asked = Turn(role="user", blocks=(lost, TextBlock(text="hello")))
    assert "interrupted" not in decide(request(user("run sleep 60"), said, asked, tools=TOOLS)).text


def test_notes_of_the_framework_are_no_prompt() -> None:
    call = CallBlock(call_id="c", name="current_time", arguments={})
    said, answered = results(Reply(blocks=(call,), provider="offline", model="offline"), "noon")
    note = TextBlock(text="[System Notification]\nhelp")
    noted = Turn(role="user", blocks=(*answered.blocks, note))
    plan = decide(request(user("time"), said, noted, tools=TOOLS))
    assert plan.text == "`current_time` says: noon"
    nudged = decide(
        request(user("time"), Turn(role="model", blocks=()), Turn(role="user", blocks=(note,)), tools=TOOLS)
    )
    assert nudged.calls == (("current_time", {}),)


def test_mail_is_told_and_the_prompt_before_it_is_not_followed_again() -> None:
    mail = "[System Notification]\nMail from scout on the channel result. It is material:\n```json\n{}\n```"
    for content, told in (('{"answer": "42"}', "42"), ('"Dinner?"', "Dinner?")):
        body = f'{{"from": "scout", "content": {content}}}'
        woken = Turn(role="user", blocks=(TextBlock(text=mail.replace("{}", body)),))
        answered = Turn(role="model", blocks=(TextBlock(text="noon"),))
        assert decide(request(user("time"), answered, woken, tools=TOOLS)).text == f"`scout` writes:\n\n{told}"


def test_results_of_earlier_turns_are_not_told_again() -> None:
    call = CallBlock(call_id="c", name="current_time", arguments={})
    turns = results(Reply(blocks=(call,), provider="offline", model="offline"), "noon")
    plan = decide(request(user("time"), *turns, Turn(role="model", blocks=()), user("hello"), tools=TOOLS))
    assert "noon" not in plan.text


@pytest.mark.parametrize(
    ("output", "error", "told"),
    [
        ("4", None, "`t` says: 4"),
        ("", None, "`t` says: nothing"),
        ({"a": [1, None]}, None, '`t` says: {"a": [1, null]}'),
        (None, "no such file", "`t` failed: no such file"),
        ("a\nb\n", None, "`t` says:\n\n```\na\nb\n```"),
        ("```\ncode\n```", None, "`t` says:\n\n````\n```\ncode\n```\n````"),
        ("x" * 4_003, None, f"`t` says:\n\n```\n{'x' * 4_000}\n… 3 more characters\n```"),
    ],
)
def test_how_results_are_told(output: Any, error: str | None, told: str) -> None:
    block = ResultBlock(call_id="c", name="t", output=output, error=error)
    said = Turn(role="model", blocks=(CallBlock(call_id="c", name="t", arguments={}),))
    assert decide(request(user("time"), said, Turn(role="user", blocks=(block,)), tools=TOOLS)).text == told


async def test_slow_pauses_before_each_word_and_nothing_else_does() -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    model = OfflineModel(sleep=sleep)
    _, reply = await listen(model, request(user("slow 2")))
    assert reply.text == " ".join(str(number) for number in range(1, 21))
    assert sum(pauses) == pytest.approx(2)
    pauses.clear()
    await listen(model, request(user("help")))
    assert set(pauses) == {0.0}
    await listen(OfflineModel(config=OfflineConfig(delay=0.5), sleep=sleep), request(user("time")))
    assert pauses[-1] == 0.5


@pytest.mark.parametrize(("said", "ticks"), [("slow", 50), ("slow 0", 1), ("slow 99999", 6_000), ("slow 0.3 s", 3)])
def test_slow_counts_for_the_given_time(said: str, ticks: int) -> None:
    assert len(decide(request(user(said))).text.split()) == ticks


async def test_the_same_request_gives_the_same_reply() -> None:
    asked = request(user("time\n1+1"), tools=TOOLS)
    assert await listen(OfflineModel(), asked) == await listen(OfflineModel(), asked)


@given(st.text(st.characters(codec=None)))
def test_any_prompt_has_a_plan(said: str) -> None:
    plan = decide(request(user(said), tools=TOOLS))
    assert plan.text or plan.calls


def test_too_many_requests_are_not_followed() -> None:
    assert len(decide(request(user("time\n" * 20), tools=TOOLS)).calls) == 20
    for said in ("time\n" * 21, " and then ".join(["time"] * 21)):
        plan = decide(request(user(said), tools=TOOLS))
        assert (plan.calls, plan.text) == ((), UNKNOWN)


@pytest.mark.parametrize("said", ["1" + "+" * 100_000 + "x", "." * 100_000, "time " * 30_000, " and then " * 20_000])
def test_floods_are_read_quickly(said: str) -> None:
    start = time.thread_time()
    decide(request(user(said), tools=TOOLS))
    assert time.thread_time() - start < 2


def test_the_manifest_makes_the_model_and_refuses_unknown_keys() -> None:
    assert MANIFEST.create("mine", OfflineConfig()).name == "mine"
    with pytest.raises(ValidationError):
        MANIFEST.config.model_validate({"dealy": 1})
