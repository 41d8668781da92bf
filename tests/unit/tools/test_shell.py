"""Real commands, real processes: what they print, what they may not, and that nothing of them is left."""

import asyncio
import os
import signal
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kesoku.testing.waiting import PATIENCE
from kesoku.tools import Outcome, ToolContext, run
from kesoku.tools.builtin import run_shell_command
from kesoku.tools.process import execute, minimal

from .conftest import SECRET


async def shell(context: ToolContext, command: str, **arguments: Any) -> Outcome:
    return await run(run_shell_command, {"command": command, **arguments}, context)


def alive(marker: str) -> list[str]:
    """Command lines that hold `marker`, of all processes; a zombie has none."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if marker in line]


@pytest.fixture
def nap() -> str:
    """`sleep` for a time that no other process sleeps: the argument finds it again."""
    return f"sleep 300.{uuid4().int}"


@pytest.fixture
async def fifo(workspace: Path) -> AsyncIterator[asyncio.StreamReader]:
    """What commands write into the file `fifo`: a sign of life, and an end of file once the last holder is gone."""
    os.mkfifo(workspace / "fifo")
    reader = asyncio.StreamReader()
    end = os.fdopen(os.open(workspace / "fifo", os.O_RDONLY | os.O_NONBLOCK), "rb")
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), end)
    yield reader
    transport.close()


async def test_both_streams_stand_under_their_headings(context: ToolContext) -> None:
    outcome = await shell(context, "echo out; echo err >&2; printf rest")
    assert outcome.output == "=== STDOUT ===\nout\nrest\n=== STDERR ===\nerr\n"
    assert (outcome.summary, outcome.error) == ("rest", None)


async def test_the_example_of_the_specification(context: ToolContext) -> None:
    rule = "=" * 30
    printed = f"{rule} test session starts {rule}\ncollected 5 items\n{rule} 5 passed in 0.42s {rule}\n"
    (context.workspace / "printed").write_text(printed)
    outcome = await shell(context, "cat printed")
    assert outcome.output == f"=== STDOUT ===\n{printed}=== STDERR ===\n"
    assert outcome.summary == "5 passed in 0.42s"  # K-234


@pytest.mark.parametrize(
    ("printed", "summary"),
    [
        ("a\n\n  b  \n\n", "b"),
        ("-5", "-5"),
        ("# title", "# title"),
        ("--- done ---\n-----\n", "done"),
        ("=====", "no output"),
        ("", "no output"),
        ("10%\r20%\r", "20%"),
    ],
)
async def test_the_summary_is_the_last_line_that_says_something(
    context: ToolContext, printed: str, summary: str
) -> None:
    (context.workspace / "printed").write_bytes(printed.encode())
    assert (await shell(context, "cat printed")).summary == summary


async def test_a_failure_is_an_error_that_shows_its_output(context: ToolContext) -> None:
    outcome = await shell(context, "echo before; nowhere_to_be_found")
    assert outcome.error == "exit code 127"
    assert outcome.output.startswith("=== STDOUT ===\nbefore\n=== STDERR ===\n")
    assert "nowhere_to_be_found" in outcome.output
    assert outcome.output.endswith("\n=== exit code 127 ===\n")
    silent = await shell(context, "echo why >&2; exit 3")
    assert (silent.error, silent.summary) == ("exit code 3", "why")
    killed = await shell(context, "kill -9 $$")
    assert killed.error == "exit code 137"


async def test_a_background_process_does_not_hold_the_turn(context: ToolContext, nap: str) -> None:
    outcome = await shell(context, f"{nap} & echo hi")
    assert outcome.output == "=== STDOUT ===\nhi\n=== STDERR ===\n"
    assert outcome.seconds < 1
    assert not alive(nap)


@pytest.mark.parametrize(
    "command",
    [
        "setsid -f {nap}",
        "env -i setsid -f {nap}",
        "trap '' TERM HUP INT; (trap '' TERM HUP INT; {nap}) & disown -a",
        "for n in $(seq 20); do {nap} & done",
        "for n in $(seq 5); do setsid -f bash -c 'for n in $(seq 4); do {nap} & done; wait'; done",
        "nohup {nap} >/dev/null 2>&1 </dev/null &",
        "({nap} & kill -STOP $!) ",
    ],
)
async def test_no_descendant_outlives_the_command(context: ToolContext, nap: str, command: str) -> None:
    outcome = await shell(context, f"{command.format(nap=nap)}\ncat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert nap in outcome.output  # it ran
    assert not alive(nap)


async def test_a_chain_of_processes_that_never_stands_still_is_ended(context: ToolContext) -> None:
    marker = f"chain{uuid4().hex}"
    program = f"import os # {marker}\nwhile True:\n    if os.fork(): os._exit(0)"
    outcome = await shell(context, f"{sys.executable} -I -S -c '{program}'; echo begun")
    assert outcome.summary == "begun"
    assert not alive(marker)


async def test_a_timeout_ends_everything_and_keeps_what_was_printed(context: ToolContext, nap: str) -> None:
    outcome = await shell(context, f"echo begun; setsid -f {nap}; {nap} & {nap}; echo never", timeout=0.3)
    assert outcome.error == "stopped after 0.3 s, with everything that it had started"
    assert "begun\n" in outcome.output
    assert "never" not in outcome.output
    assert not alive(nap)


async def test_a_cancellation_ends_everything_before_it_comes_through(
    context: ToolContext, nap: str, fifo: asyncio.StreamReader
) -> None:
    running = asyncio.create_task(shell(context, f"setsid -f {nap}; {nap} & echo ready > fifo; {nap}"))
    assert await fifo.readline() == b"ready\n"
    assert alive(nap)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not alive(nap)


async def test_the_runners_own_timeout_ends_everything_too(context: ToolContext, nap: str) -> None:
    short = replace(run_shell_command, timeout=0.3)
    outcome = await run(short, {"command": f"setsid -f {nap}; {nap}"}, context)
    assert outcome.error == "run_shell_command did not end within 0.3 s and was stopped"
    assert not alive(nap)


@pytest.mark.parametrize("ticks", range(10))
async def test_a_cancellation_may_come_at_any_moment(context: ToolContext, nap: str, ticks: int) -> None:
    running = asyncio.create_task(shell(context, f"setsid -f {nap}; {nap}"))
    for _ in range(ticks):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not alive(nap)


async def test_nothing_outlives_kesoku_itself(workspace: Path, nap: str, fifo: asyncio.StreamReader) -> None:
    program = (
        "import asyncio, os, pathlib; from kesoku.tools.process import execute\n"
        f"asyncio.run(execute(['bash', '-c', 'exec 3> fifo; setsid -f {nap}; echo ready >&3; {nap}'],"
        " cwd=pathlib.Path(), environment=os.environ, timeout=60))"
    )
    kesoku = await asyncio.create_subprocess_exec(sys.executable, "-c", program, cwd=workspace)
    assert await fifo.readline() == b"ready\n"
    assert alive(nap)
    kesoku.send_signal(signal.SIGKILL)
    assert await fifo.read() == b""  # an end of file: no holder is left
    assert await kesoku.wait() == -signal.SIGKILL


async def test_a_supervisor_that_was_killed_takes_the_command_along(context: ToolContext, nap: str) -> None:
    outcome = await shell(context, f"echo before; kill -9 $PPID; {nap}")
    assert outcome.error == "exit code 137"
    assert outcome.seconds < 3
    assert not alive(nap)


async def test_a_command_cannot_signal_its_supervisor_by_its_group(context: ToolContext, nap: str) -> None:
    outcome = await shell(context, f"setsid -f {nap}; kill -KILL 0")
    assert outcome.error == "exit code 137"
    assert not alive(nap)


async def test_an_impatient_canceller_waits_all_the_same(
    context: ToolContext, nap: str, fifo: asyncio.StreamReader
) -> None:
    command = ["bash", "-c", f"for n in $(seq 20); do setsid -f {nap}; done; echo ready > fifo; {nap}"]
    running = asyncio.create_task(execute(command, cwd=context.workspace, environment=minimal(os.environ), timeout=60))
    assert await fifo.readline() == b"ready\n"
    while not running.done():
        running.cancel()
        await asyncio.sleep(0)
    assert running.cancelled()
    assert not alive(nap)


async def test_fifty_megabytes_take_no_more_memory_than_the_bound(context: ToolContext) -> None:
    tracemalloc.start()
    try:
        outcome = await shell(context, "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000
    assert len(outcome.output) < 1024 * 1024
    assert outcome.output.startswith("=== STDOUT ===\nfirst\nxxx")
    assert " of 50,000,012 bytes are left out here ...]" in outcome.output
    assert outcome.summary == "last"


async def test_a_flood_ends_with_its_time(context: ToolContext) -> None:
    outcome = await shell(context, "yes", timeout=0.3)
    assert outcome.error == "stopped after 0.3 s, with everything that it had started"
    assert len(outcome.output) < 1024 * 1024


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("read x; echo $?", "1\n"),
        ("cat; echo done", "done\n"),
        ("cat /dev/tty || echo none", "none\n"),
        (f"{sys.executable} -c 'input()' || echo end", "end\n"),
        ("[ -t 0 ] || echo no terminal", "no terminal\n"),
    ],
)
async def test_nobody_is_waited_for(context: ToolContext, command: str, said: str) -> None:
    outcome = await shell(context, command)
    assert outcome.output.startswith(f"=== STDOUT ===\n{said}")
    assert outcome.seconds < 5


async def test_bytes_that_are_no_text_are_replaced(context: ToolContext) -> None:
    outcome = await shell(context, r"printf 'a\xff\xfeb\0c\n'")
    assert outcome.output == "=== STDOUT ===\na\ufffd\ufffdb\ufffdc\n=== STDERR ===\n"


async def test_no_secret_is_in_the_environment(context: ToolContext) -> None:
    outcome = await shell(context, "env; cat /proc/$PPID/environ")
    assert "PATH=" in outcome.output
    for absent in ("GEMINI_API_KEY", "MY_TOKEN", "LC_NOTE", SECRET, "[secret]"):
        assert absent not in outcome.output
    assert minimal({"HOME": "/h", "LC_ALL": "C", "X": "1", "AWS_SECRET_ACCESS_KEY": "k"}) == {
        **minimal({}),
        "HOME": "/h",
        "LC_ALL": "C",
    }


async def test_a_secret_from_a_file_is_masked(context: ToolContext) -> None:
    (context.workspace / ".env").write_text(f"KEY={SECRET}\n")
    assert (await shell(context, "cat .env .env >&2; cat .env")).output == (
        "=== STDOUT ===\nKEY=[secret]\n=== STDERR ===\nKEY=[secret]\nKEY=[secret]\n"
    )


async def test_signals_have_their_usual_meaning(context: ToolContext) -> None:
    assert (await shell(context, "yes | head -1; echo ${PIPESTATUS[0]}")).summary == "141"


async def test_where_a_command_runs(context: ToolContext) -> None:
    (context.workspace / "sub").mkdir()
    assert (await shell(context, "pwd")).summary == str(context.workspace.resolve())
    assert (await shell(context, "pwd", cwd="sub")).summary == str((context.workspace / "sub").resolve())
    for wrong in ("..", "/", "missing"):
        outcome = await shell(context, "pwd", cwd=wrong)
        assert outcome.error
        assert wrong in outcome.error
        assert "Traceback" not in outcome.error


@pytest.mark.parametrize("arguments", [{"timeout": 0}, {"timeout": 1e9}, {"timeout": "soon"}, {"timeout": None}])
async def test_a_timeout_without_sense_is_refused(context: ToolContext, arguments: dict[str, Any]) -> None:
    assert "`timeout`" in ((await shell(context, "echo", **arguments)).error or "")


async def test_what_no_system_can_run_is_an_outcome(context: ToolContext) -> None:
    assert "NUL" in ((await shell(context, "echo \0")).error or "")
    assert "too long" in ((await shell(context, "#" * 3_000_000)).error or "")


async def test_commands_run_at_the_same_time_and_end_apart(
    context: ToolContext, nap: str, fifo: asyncio.StreamReader
) -> None:
    long = asyncio.create_task(shell(context, f"echo ready > fifo; {nap}"))
    assert await fifo.readline() == b"ready\n"
    outcomes = await asyncio.gather(*(shell(context, f"sleep 0.01 & echo {n}") for n in range(8)))
    assert [outcome.summary for outcome in outcomes] == [str(n) for n in range(8)]
    assert alive(nap)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long


def test_a_command_can_run_in_a_loop_of_another_thread(tmp_path: Path) -> None:
    codes: list[int | None] = []

    def body() -> None:
        work = execute(["sh", "-c", "exit 4"], cwd=tmp_path, environment=minimal(os.environ), timeout=30)
        codes.append(asyncio.run(work).code)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(PATIENCE)
    assert codes == [4]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_descriptors_do_not_pile_up(context: ToolContext) -> None:
    await shell(context, "true")
    before = descriptors()
    for _ in range(5):
        await shell(context, "sleep 30 &")
    assert descriptors() <= before
