"""Frames on a real pseudo-terminal, the pace on a slow one, and Ctrl-C."""

import asyncio
import os
import pty
from collections.abc import Iterator

import pytest

from kesoku_cli.frames import BEGIN, END, FULL, INTERVAL, LEAST, SLOW_INTERVAL, TRUST, FrameOutput, Pace, reflows
from kesoku_cli.interrupt import WINDOW, Interrupts, Press


@pytest.fixture
def line() -> Iterator[tuple[int, FrameOutput]]:
    """The reading end of a pseudo-terminal, and an output on the other."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stdout:
        yield master, FrameOutput(stdout, term="xterm", color=False)
    os.close(master)


def read(fd: int) -> str:
    return os.read(fd, 1 << 20).decode()


def test_a_frame_is_one_piece(line: tuple[int, FrameOutput]) -> None:
    master, output = line
    with output.frame():
        output.write_raw("one")
        output.flush()
        with output.frame():
            output.write_raw("two")
        output.flush()
    output.flush()
    assert read(master) == f"{BEGIN}onetwo{END}"


def test_an_empty_frame_writes_nothing(line: tuple[int, FrameOutput]) -> None:
    master, output = line
    with output.frame():
        pass
    output.write_raw("x")
    output.flush()
    assert read(master) == f"{BEGIN}x{END}"


def test_bracketed_paste_stays_on_between_frames(line: tuple[int, FrameOutput]) -> None:
    master, output = line
    with output.frame():
        output.enable_bracketed_paste()
        output.disable_bracketed_paste()
    assert read(master) == f"{BEGIN}\x1b[?2004h{END}"


async def test_a_stopped_terminal_holds_nobody_up(line: tuple[int, FrameOutput]) -> None:
    master, output = line
    drained = asyncio.Event()
    with output.attached(drained.set):
        output.write_raw("x" * 500_000)
        output.flush()
        assert output.jammed
        output.write_raw("end")
        output.flush()  # behind the jam, in order
        received = ""
        while not received.endswith(f"end{END}"):
            received += await asyncio.to_thread(read, master)
        await drained.wait()
    assert received == f"{BEGIN}{'x' * 500_000}{END}{BEGIN}end{END}"


async def test_a_terminal_that_is_gone_takes_everything() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stdout:
        output = FrameOutput(stdout, term="xterm", color=False)
        with output.attached(lambda: None):
            os.close(master)
            output.write_raw("into the void")
            output.flush()
            assert not output.jammed


def test_the_pace_of_a_terminal_that_keeps_up() -> None:
    pace = Pace()
    assert (pace.budget(0), pace.interval(0), pace.is_slow(0)) == (FULL, INTERVAL, False)
    pace.blocked(1.0)
    pace.sent(100_000, 1.01)
    pace.freed(1.01)  # a hiccup
    assert not pace.is_slow(1.02)
    pace.blocked(2.0)
    pace.sent(100, 10.0)  # it was stopped
    pace.sent(100_000, 10.01)
    pace.freed(10.02)
    assert not pace.is_slow(10.03)


def test_the_pace_of_a_slow_terminal() -> None:
    pace = Pace()
    pace.blocked(1.0)
    pace.sent(60_000, 1.4)
    pace.blocked(1.5)
    pace.sent(40_000, 1.8)
    pace.freed(2.0)
    assert pace.is_slow(2.0)
    assert pace.interval(2.0) == SLOW_INTERVAL
    assert pace.budget(2.0) == pytest.approx(100_000 * 0.1 * 0.7)
    assert pace.budget(2.0 + TRUST) == pytest.approx(pace.budget(2.0))
    assert pace.budget(2.0 + TRUST + 1) == pytest.approx(2 * pace.budget(2.0), abs=2)
    assert not pace.is_slow(1e9)


def test_the_pace_never_stops() -> None:
    pace = Pace()
    pace.blocked(0.0)
    pace.freed(100.0)
    assert pace.budget(100.0) == LEAST


@pytest.mark.parametrize(
    ("environ", "answer"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x"}, True),
    ],
)
def test_who_wraps_old_rows(environ: dict[str, str], answer: bool) -> None:
    assert reflows(environ) is answer


def test_a_second_ctrl_c_in_the_window_leaves() -> None:
    interrupts = Interrupts()
    assert interrupts.press(0.0, busy=True) is Press.INTERRUPT
    assert interrupts.press(WINDOW + 0.1, busy=True) is Press.INTERRUPT
    assert interrupts.press(2 * WINDOW, busy=False) is Press.LEAVE
    assert Interrupts().press(0.0, busy=False) is Press.WARN
