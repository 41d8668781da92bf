"""The front ends that redraw nothing, on real pipes and a real pseudo-terminal."""

import asyncio
import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter import Address, Draft
from kesoku.testing.waiting import PATIENCE
from kesoku_cli.adapter import CliAdapter
from kesoku_cli.config import CliConfig
from kesoku_cli.frontend import Choice, FrontEnd, can_redraw
from kesoku_cli.machine import Machine
from kesoku_cli.plain import Plain

CHOICES = (Choice(key="y", label="yes", value="yes"), Choice(key="n", label="no", value="no"))


class Reports:
    """A listener that keeps what was reported and wakes who waits for it."""

    def __init__(self) -> None:
        self.all: list[tuple[str, ...]] = []
        self.changed = asyncio.Event()

    def _add(self, *report: str) -> None:
        self.all.append(report)
        self.changed.set()

    def submitted(self, text: str) -> None:
        self._add("submitted", text)

    def answered(self, question: str, value: str) -> None:
        self._add("answered", question, value)

    def interrupted(self) -> None:
        self._add("interrupted")

    def gone(self) -> None:
        self.left()

    def left(self) -> None:
        self._add("left")

    def ended(self) -> None:
        self._add("ended")

    async def wait(self, *report: str) -> None:
        while report not in self.all:
            self.changed.clear()
            async with asyncio.timeout(PATIENCE):
                await self.changed.wait()


@contextlib.asynccontextmanager
async def running(front: FrontEnd) -> AsyncIterator[Reports]:
    reports = Reports()
    task = asyncio.create_task(front.run(reports))
    yield reports
    front.close()
    async with asyncio.timeout(PATIENCE):
        await task


@pytest.fixture
def pipe() -> Iterator[Callable[[bytes], object]]:
    """Make a stdin that is a pipe with this in it, at its end."""
    with contextlib.ExitStack() as stack:

        def make(content: bytes) -> object:
            reading, writing = os.pipe()
            os.write(writing, content)
            os.close(writing)
            return stack.enter_context(os.fdopen(reading))

        yield make


def plain() -> tuple[Plain, BytesIO]:
    out = BytesIO()
    return Plain(out=out), out


def test_an_answer_streams_and_is_written_once() -> None:
    front, out = plain()
    for piece in ("# Hel", "lo\r", "\n\nyou"):
        front.answer_delta(piece)
    assert out.getvalue().decode() == "# Hello\n\nyou"
    front.answer("# Hello\r\n\nyou too\n")
    assert out.getvalue().decode() == "# Hello\n\nyou too\n"


@given(st.text(max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_an_answer_is_what_was_written(text: str, cuts: list[int]) -> None:
    """However it was cut into deltas, the whole text stands there once."""
    front, out = plain()
    at = 0
    for cut in sorted(cuts):
        front.answer_delta(text[at:cut])
        at = max(at, cut)
    front.answer(text)
    once, single = plain()
    once.answer(text)
    assert out.getvalue().decode().split() == single.getvalue().decode().split()


def test_an_answer_that_is_cut_at_a_space_is_written_once() -> None:
    front, out = plain()
    front.answer_delta("one two \n")
    front.answer("one two\n\n*[cut]*")
    assert out.getvalue().decode().split() == ["one", "two", "*[cut]*"]


def test_another_answer_is_marked() -> None:
    front, out = plain()
    front.answer_delta("one two")
    front.answer("three")
    assert out.getvalue().decode() == "one two\n[notice] the answer differs from what is written above:\nthree\n"


def test_what_is_said_beside_a_call_is_no_thought_twice() -> None:
    front, out = plain()
    front.answer_delta("I look.")
    front.thought("I look.")
    front.call("1", "read_file", "read_file('x')\nand more")
    front.result("1", "read_file", "text\n" * 50)
    front.result("1", "read_file", "broken", failed=True)
    front.answer("done")
    lines = out.getvalue().decode().split("\n")
    assert lines[:3] == ["I look.", "[call read_file] read_file('x')", "[call read_file] and more"]
    assert lines.count("[result read_file] text") == 40
    assert "[result read_file] ... 10 more lines" in lines
    assert lines[-3:] == ["[failed read_file] broken", "done", ""]


def test_nothing_acts_on_the_terminal() -> None:
    evil = "\x1b[2J\x9b1m\u202e\x07"
    front, out = plain()
    front.answer_delta(evil)
    front.thought(evil)
    front.call("1", evil, evil)
    front.result("1", evil, evil)
    front.error(evil)
    front.notice(evil)
    front.prompt_shown(evil, evil)
    front.file(evil, evil)
    front.answer(evil)
    written = out.getvalue().decode()
    assert not set(evil) & set(written) - set("[2J1m")


def test_all_but_the_answer_may_go_elsewhere() -> None:
    out, side = BytesIO(), BytesIO()
    front = Plain(out=out, side=side)
    front.thought("hm")
    front.answer_delta("yes")
    front.notice("by the way")
    front.answer("yes, indeed")
    assert out.getvalue() == b"yes, indeed\n"
    assert side.getvalue() == b"[thought] hm\n[notice] by the way\n"


def test_a_wait_is_one_line_beside_the_answer() -> None:
    # complaint 153
    out, side = BytesIO(), BytesIO()
    front = Plain(out=out, side=side)
    front.retry("rate limit; asking again", wait=30.2, thought=True)
    front.retry("overloaded; asking again")
    front.answer_delta("yes")
    front.retry("", answer=True)
    front.answer_delta("no")
    front.answer("no")
    assert side.getvalue() == (
        b"[waiting] rate limit; asking again in 31 s\n[waiting] overloaded; asking again\n"
        b"[notice] the answer written above is void\n"
    )
    assert out.getvalue() == b"yes\nno\n"


def test_thoughts_do_not_break_an_answer_that_goes_on() -> None:
    front, out = plain()
    front.answer_delta("one, two, th")
    front.thought("I count.")
    front.answer_delta("ree")
    front.answer("one, two, three")
    assert out.getvalue() == b"one, two, three\n[thought] I count.\n"


def test_an_error_in_the_place_of_an_answer_says_that_what_was_written_is_void() -> None:
    # complaint 69
    out, side = BytesIO(), BytesIO()
    front = Plain(out=out, side=side)
    front.answer_delta("never mi")
    front.error("it was blocked")
    front.error("it broke")
    assert out.getvalue() == b"never mi\n"
    assert side.getvalue() == b"[notice] the answer written above is void\n[error] it was blocked\n[error] it broke\n"


def drawn(thought: str, text: str, note: str = "", wait: float | None = None, step: int = 1) -> Draft:
    return Draft(turn_id="t", step=step, thought=thought, text=text, note=note, wait=wait)


@pytest.mark.parametrize(
    ("drafts", "told"),
    [
        (
            [
                drawn("h", ""),
                drawn("hm", "one, two, th"),
                drawn("hm\n\nmore", "one, two, th"),
                drawn("hm", "one, two, three"),
            ],
            [
                ("thought_delta", "h"),
                ("thought_delta", "m"),
                ("answer_delta", "one, two, th"),
                ("thought_delta", "\n\nmore"),
                ("retry", "", None, ["thought"]),
                ("answer_delta", "ree"),
            ],
        ),
        (
            [drawn("hm", ""), drawn("", "", "overloaded; asking again", 2.5), drawn("oh", "yes")],
            [
                ("thought_delta", "hm"),
                ("retry", "overloaded; asking again", 2.5, ["thought"]),
                ("thought_delta", "oh"),
                ("answer_delta", "yes"),
            ],
        ),
        (
            [drawn("", "", "a"), drawn("", "", "b"), drawn("", "yes"), drawn("", "no"), drawn("", "nothing", step=2)],
            [
                ("retry", "a", None, []),
                ("retry", "b", None, []),
                ("answer_delta", "yes"),
                ("retry", "", None, ["answer"]),
                ("answer_delta", "no"),
                ("answer_delta", "nothing"),
            ],
        ),
    ],
    ids=["goes-on", "begins-anew", "replaced"],
)
async def test_drafts_become_deltas_and_say_what_is_void(drafts: list[Draft], told: list[tuple[object, ...]]) -> None:
    out = BytesIO()
    adapter = CliAdapter("cli", CliConfig())
    adapter._front = Machine(out=out)
    for draft in drafts:
        await adapter.draft(Address(chatbot_id="cli", channel_id="cli"), draft)
    assert [tuple(event.values()) for event in events(out)] == told


async def test_piped_lines_are_messages(pipe: Callable[[bytes], object]) -> None:
    front = Plain(out=BytesIO(), stdin=pipe("one\r\n\nzwölf 漢\n".encode() + b"bro\xffken"))  # type: ignore[arg-type]
    async with running(front) as reports:
        await reports.wait("ended")
    assert reports.all == [("submitted", "one"), ("submitted", "zwölf 漢"), ("submitted", "bro\ufffdken"), ("ended",)]


async def test_a_large_pipe_is_read_whole(tmp_path: Path) -> None:
    lines = [f"line {number} 漢字" for number in range(20_000)]
    (tmp_path / "stdin").write_text("\n".join(lines))
    with (tmp_path / "stdin").open() as stdin:
        async with running(Plain(out=BytesIO(), stdin=stdin)) as reports:
            await reports.wait("ended")
    assert [report[1] for report in reports.all[:-1]] == lines


async def test_without_a_terminal_a_question_gets_its_default() -> None:
    front, out = plain()
    async with running(front) as reports:
        await asyncio.sleep(0)
        front.question("q", "Run it?", CHOICES, "no")
        await reports.wait("answered", "q", "no")
    assert "nobody can answer here: no" in out.getvalue().decode()


async def test_a_question_is_answered_by_a_line() -> None:
    master, slave = pty.openpty()
    out = BytesIO()
    with os.fdopen(slave) as stdin:
        front = Plain(out=out, stdin=stdin)
        async with running(front) as reports:
            front.question("q1", "Run it?", CHOICES, "no")
            front.question("q2", "And this?", CHOICES, "no")
            os.write(master, b"what is it?\nYES\nn\ny\n")
            await reports.wait("submitted", "y")
            os.write(master, b"\x04")
            await reports.wait("left")
        os.close(master)
    assert reports.all == [
        ("submitted", "what is it?"),
        ("answered", "q1", "yes"),
        ("answered", "q2", "no"),
        ("submitted", "y"),
        ("left",),
    ]
    assert "[question] y) yes  n) no" in out.getvalue().decode()


async def test_ctrl_c_interrupts_then_leaves() -> None:
    front, _ = plain()
    async with running(front) as reports:
        await asyncio.sleep(0)
        front.turn_started()
        os.kill(os.getpid(), signal.SIGINT)
        await reports.wait("interrupted")
        os.kill(os.getpid(), signal.SIGINT)
        await reports.wait("left")
    assert reports.all == [("interrupted",), ("left",)]


def test_a_reader_that_went_away_is_noticed() -> None:
    program = (
        "import asyncio, sys\n"
        "from kesoku_cli.plain import Plain\n"
        "front = Plain(out=sys.stdout.buffer)\n"
        "class Reports:\n"
        "    def left(self): front.close()\n"
        "    def gone(self): front.close()\n"
        "async def main():\n"
        "    running = asyncio.ensure_future(front.run(Reports()))\n"
        "    while not running.done():\n"
        "        front.notice('x' * 1000)\n"
        "        await asyncio.sleep(0)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1" | head -c 10', sys.executable, program],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == (b"[notice] x", b"")


@pytest.mark.parametrize(
    ("environ", "able"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "KESOKU_PLAIN": "0"}, True),
        ({"TERM": "xterm", "KESOKU_PLAIN": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_who_can_redraw(environ: dict[str, str], able: bool) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave) as tty, os.fdopen(master, "w") as other, Path(os.devnull).open() as nothing:
        assert can_redraw(tty, other, environ) is able
        assert not can_redraw(nothing, other, environ)


def events(out: BytesIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().decode().split("\n")[:-1]]


async def test_each_event_is_a_line_of_json() -> None:
    out = BytesIO()
    front = Machine(out=out)
    async with running(front) as reports:
        await asyncio.sleep(0)
        front.turn_started()
        front.prompt_shown("hi\nthere", "Ann")
        front.thought_delta("h")
        front.thought("hm \x1b")
        front.call("1", "tool", "tool()")
        front.result("1", "tool", "boom", failed=True)
        front.question("q", "Run it?", CHOICES, "no")
        await reports.wait("answered", "q", "no")
        front.answer_delta("漢")
        front.answer("漢字 \ud83d", {"turn_time": 2.1})
        front.file("a.txt", "/x/a.txt")
        front.notice("n")
        front.error("e")
        front.turn_ended("processed")
    told = events(out)
    assert [event["type"] for event in told[:7]] == [
        *("turn_started", "prompt", "thought_delta", "thought", "call", "result", "question")
    ]
    assert [event["type"] for event in told[7:]] == ["answer_delta", "answer", "file", "notice", "error", "turn_ended"]
    assert told[1] == {"type": "prompt", "text": "hi\nthere", "author": "Ann"}
    assert told[5] == {"type": "result", "id": "1", "name": "tool", "text": "boom", "failed": True}
    assert told[6]["choices"] == [
        {"key": "y", "label": "yes", "value": "yes"},
        {"key": "n", "label": "no", "value": "no"},
    ]
    assert told[8] == {"type": "answer", "text": "漢字 \ud83d", "metrics": {"turn_time": 2.1}}
    assert "漢字" in out.getvalue().decode()


@given(st.text(st.characters()))
def test_any_text_comes_back_from_json(text: str) -> None:
    """Also with lone surrogates, line feeds and separators."""
    out = BytesIO()
    Machine(out=out).answer_delta(text)
    assert events(out) == [{"type": "answer_delta", "text": text}]


@pytest.mark.parametrize("module", ["frontend", "plain", "machine"])
def test_simple_front_ends_do_not_import_the_terminal(module: str) -> None:
    program = (
        f"import sys, kesoku_cli.{module}; "
        "print([name for name in ('prompt_toolkit', 'rich', 'pygments') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout == "[]\n"
