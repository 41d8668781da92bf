"""Every end of a call is an Outcome; a cancellation comes through, after the tool is over."""

import asyncio
import gc
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kesoku.errors import ToolRefused
from kesoku.messages.turn import MediaBlock
from kesoku.testing.waiting import PATIENCE
from kesoku.tools import Output, Toolbox, ToolContext, call, run, tool
from kesoku.tools.patience import within
from kesoku.tools.runner import Outcome

from .conftest import SECRET


async def _outcome(function: Callable[..., Any], context: ToolContext, **options: Any) -> Outcome:
    return await run(tool(name="probe")(function), {}, context, **options)


@pytest.mark.parametrize(
    ("value", "output", "summary"),
    [
        ("x" * 300, "x" * 300, "x" * 200),
        ({"b": [1, 2.5, None, "é"]}, {"b": [1, 2.5, None, "é"]}, '{"b": [1, 2.5, null, "é"]}'),
        ((1, 2), [1, 2], "[1, 2]"),
        (None, None, "null"),
        ("", "", ""),
        ("a\0b\ud800", "a\ufffdb?", "a\ufffdb?"),
        (Output(output=[1], summary="one"), [1], "one"),
    ],
)
async def test_text_and_json_come_back_with_a_summary(
    context: ToolContext, value: Any, output: Any, summary: str
) -> None:
    outcome = await _outcome(lambda: value, context)
    assert (outcome.output, outcome.summary, outcome.error) == (output, summary, None)
    assert 0 < outcome.seconds < 60


async def test_media_and_a_failure_with_output_come_through(context: ToolContext) -> None:
    media = (MediaBlock(path="p", mime_type="image/png", name="n"),)
    outcome = await _outcome(lambda: Output(output="so far", error="it broke", media=media), context)
    assert (outcome.output, outcome.error, outcome.media) == ("so far", "it broke", media)


async def test_an_exception_becomes_an_outcome_with_its_trace(context: ToolContext) -> None:
    def deep(level: int) -> None:
        if level:
            deep(level - 1)
        raise ValueError("no such thing")

    outcome = await _outcome(lambda: deep(50), context)
    assert outcome.error is not None  # K-012
    assert outcome.error.startswith("ValueError: no such thing\n")
    assert "Traceback" in outcome.error
    assert "in deep" in outcome.error
    assert outcome.error.count("\n") < 20
    assert outcome.summary.startswith("ValueError: no such thing")
    assert outcome.output == ""


async def test_a_refusal_says_what_to_do_and_shows_no_trace(context: ToolContext) -> None:
    def refuse() -> None:
        raise ToolRefused(what="x", reason="it is blue", advice="make it red")

    assert (await _outcome(refuse, context)).error == "x: it is blue; make it red"


class _Panic(BaseException):
    """How the panic of an extension in Rust arrives."""


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


def _recurse() -> Any:
    return _recurse()


def _deep() -> Any:
    value: Any = 1
    for _ in range(600):
        value = {"a": value}
    return value


def _raise(error: BaseException) -> Callable[[], Any]:
    def body() -> None:
        raise error

    return body


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_raise(_Unspeakable()), "_Unspeakable: <exception str() failed>"),
        (_raise(SystemExit(3)), "tried to end the process"),
        (lambda: sys.exit("bye"), "tried to end the process"),
        (_raise(_Panic("index out of bounds")), "index out of bounds"),
        (lambda: Output(output="x", media=("junk",)), "MediaBlock"),  # type: ignore[arg-type]
        (lambda: Output(output="x", media=5), "not iterable"),  # type: ignore[arg-type]
        (_raise(StopIteration(1)), "StopIteration"),
        (_raise(asyncio.CancelledError()), "cancelled itself"),
        (_raise(TimeoutError("upstream")), "TimeoutError: upstream"),
        (_recurse, "RecursionError"),
        (lambda: object(), "no text and no JSON value"),
        (_deep, "no text and no JSON value"),
        (_circle, "no text and no JSON value"),
        (lambda: float("nan"), "no text and no JSON value"),
        (lambda: b"\xff", "no text and no JSON value"),
    ],
)
async def test_nothing_that_a_tool_does_gets_out(context: ToolContext, function: Callable[[], Any], said: str) -> None:
    async def awaited() -> Any:
        return function()

    for form in (function, awaited):
        outcome = await _outcome(form, context)
        assert outcome.error is not None
        assert said in outcome.error


async def test_no_secret_is_in_any_part_of_an_outcome(context: ToolContext) -> None:
    def leak() -> Output:
        return Output(output={SECRET: [f"a{SECRET}b"]}, summary=SECRET, error=SECRET)

    def fail() -> None:
        raise ValueError(f"bad key {SECRET}")

    for function in (leak, fail):
        outcome = await _outcome(function, context)
        assert SECRET not in repr(outcome)
        assert "[secret]" in repr(outcome)


async def test_a_secret_at_a_cut_leaves_no_half(context: ToolContext) -> None:
    outcome = await _outcome(lambda: "x" * 45 + SECRET + "y" * 500, context, limit=100)
    assert SECRET[:4] not in outcome.output


async def test_output_is_bounded_in_text_and_in_json(context: ToolContext) -> None:
    text = await _outcome(lambda: "é" * 3_000_000, context)
    assert len(text.output.encode()) < 1024 * 1024 + 100
    assert "4,951,424 of 6,000,000 bytes are left out" in text.output
    listed = await _outcome(lambda: list(range(1000)), context, limit=100)
    assert listed.output.startswith("[0, 1, 2")
    assert listed.output.endswith(" 999]")
    assert len(listed.output) < 200
    failed = await _outcome(_raise(ValueError("x" * 1_000_000)), context)
    assert len(failed.error or "") < 10_000


async def test_an_unknown_tool_and_wrong_arguments_are_outcomes(context: ToolContext) -> None:
    @tool
    def known(number: int) -> int:
        return number

    box = Toolbox([known])
    unknown = await call(box, "knwon", {}, context)
    assert unknown.error == "there is no tool 'knwon'; known are known"
    assert (await call(box, "known", {"number": "x"}, context)).error == (
        "known was not run, its arguments are wrong: `number`: Input should be a valid integer, "
        "unable to parse string as an integer (given: 'x')"
    )
    assert (await call(box, "known", {"number": 3}, context)).output == 3


async def test_a_coroutine_is_cancelled_when_its_time_is_over(context: ToolContext) -> None:
    ended = asyncio.Event()

    async def sleep() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    outcome = await run(replace(tool(sleep), timeout=0.02), {}, context)
    assert ended.is_set()
    assert outcome.error == "sleep did not end within 0.02 s and was stopped"


async def test_a_cancellation_comes_through_after_the_tool_has_cleaned_up(context: ToolContext) -> None:
    begun, clean, cleaned = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def sleep() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await clean.wait()
            cleaned.set()

    running = asyncio.create_task(run(tool(sleep), {}, context))
    await begun.wait()
    for _ in range(3):  # an impatient canceller does not get past the cleaning up
        running.cancel()
        await asyncio.sleep(0)
        assert not running.done()
    clean.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cleaned.is_set()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_a_thread_that_hangs_is_left_behind_and_its_late_result_dropped(
    context: ToolContext, gate: threading.Event
) -> None:
    late = threading.Event()

    def hang() -> str:
        gate.wait()
        late.set()
        raise ValueError("late")

    outcome = await run(replace(tool(hang), timeout=0.02), {}, context)
    assert outcome.error == "hang did not end within 0.02 s and was stopped"
    gate.set()
    assert await asyncio.to_thread(late.wait, PATIENCE)
    assert outcome.output == ""


async def test_threads_that_hang_do_not_keep_others_from_running(context: ToolContext, gate: threading.Event) -> None:
    hanging = [asyncio.create_task(_outcome(lambda: gate.wait(), context)) for _ in range(40)]
    assert (await _outcome(lambda: "ran", context)).output == "ran"
    gate.set()
    assert all([(await task).output for task in hanging])


async def test_tools_run_at_the_same_time(context: ToolContext) -> None:
    barrier = threading.Barrier(3)
    outcomes = await asyncio.gather(*(_outcome(lambda: barrier.wait(PATIENCE) >= 0, context) for _ in range(3)))
    assert [outcome.output for outcome in outcomes] == [True] * 3


async def test_an_outcome_can_be_stored(context: ToolContext) -> None:
    outcome = await _outcome(lambda: {"a": {1}, "b": b"x", "c": 1.0}, context)
    assert json.dumps(outcome.output) == '{"a": [1], "b": "x", "c": 1.0}'


async def test_a_thread_that_is_about_to_end_is_waited_for(context: ToolContext) -> None:
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.05)
        ended.set()

    running = asyncio.create_task(_outcome(lambda: work(), context))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()


def test_a_thread_that_outlives_the_loop_disturbs_nobody(
    context: ToolContext, gate: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    hang = replace(tool(name="hang")(lambda: gate.wait()), timeout=0.02)
    assert asyncio.run(run(hang, {}, context)).error
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "kesoku-tool")
    gate.set()
    thread.join(PATIENCE)
    assert not caplog.records


async def test_the_late_exception_of_a_stopped_tool_is_nobodys(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("while cleaning up")

    outcome = await run(replace(tool(stubborn), timeout=0.02), {}, context)
    assert outcome.error == "stubborn did not end within 0.02 s and was stopped"
    gc.collect()
    assert not caplog.records


async def test_an_exception_in_the_moment_of_a_cancellation_is_nobodys(caplog: pytest.LogCaptureFixture) -> None:
    async def failing() -> None:
        waiters[0].cancel()
        raise ValueError("at the same time")

    waiters = [asyncio.create_task(within(failing(), 60))]
    await asyncio.wait(waiters)
    assert waiters.pop().cancelled()
    gc.collect()
    assert not caplog.records


async def test_a_thread_that_hangs_does_not_keep_the_process(workspace: Path) -> None:
    program = (
        "import asyncio, threading\n"
        "from kesoku.tools import patience, runner, tool\n"
        "hang = tool(timeout=0.02, name='hang')(lambda: threading.Event().wait())\n"
        "asyncio.run(patience.within(runner._invoke(hang, {}, None), hang.timeout))\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stderr=asyncio.subprocess.PIPE, cwd=workspace
    )
    async with asyncio.timeout(PATIENCE):
        _, stderr = await process.communicate()
    assert b"Late" in stderr
