"""The real processes of Kesoku, killed at every commit and at random: nothing is lost, nothing comes twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kesoku.testing.clock import FastClock
from kesoku.testing.crash import Plan, Platform, Point, Side, Tripwire, run
from kesoku.testing.crash.actor import Role
from kesoku.testing.crash.chat import kill_chats
from kesoku.testing.crash.schedule import KillSchedule
from kesoku.testing.crash.trace import Trace, Traces
from kesoku.testing.waiting import becomes

pytestmark = pytest.mark.timeout(600)

COMMITS = {
    "Claiming.claims",
    "Ledger.move",
    "Ledger.plan",
    "Ledger.sent",
    "StoreGateway.accept",
    "StoreGateway.finish",
    "StoreGateway.recover",
    "StoreGateway.respond",
    "StoreGateway.step",
    "send",
}
"""What every run passes so often that a process must die on both sides of it."""
CLI = [sys.executable, "-m", "kesoku.testing.crash", "--kills", "1000", "--seed", "1"]


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path) -> None:  # I1 to I14
    plan = Plan(seed=1, platforms=(Platform.KEYED, Platform.PLAIN))
    report = run(plan, folder=tmp_path)
    assert not report.violations, str(report)
    assert sum(report.kills.values()) >= plan.kills
    assert {"point", "random"} <= report.kills.keys()
    assert report.stops, "no worker was taken over that lived and stood still"
    points = {f"{side} {name}" for name in COMMITS for side in ("before", "after")}
    assert {point for point in points if not report.points.get(point)} == set()


@pytest.mark.slow
def test_killed_chats_go_on(tmp_path: Path) -> None:  # complaints 21 23 24
    report = kill_chats(tmp_path, seed=1, kills=3)
    assert not report.violations, str(report)
    assert report.kills["chat"], "nobody died"


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_nobody_outlives_the_harness(tmp_path: Path, how: signal.Signals, code: int) -> None:
    program = subprocess.Popen([*CLI, "--keep", str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with program:
        becomes(lambda: len(born(tmp_path)) > 5)
        program.send_signal(how)
        assert program.wait(300) == code
        assert program.stderr is not None
        assert program.stderr.read() == b""  # no progress where nobody looks on
    becomes(lambda: not any(map(lives, born(tmp_path))))


@pytest.mark.slow
def test_nobody_outlives_a_run_that_fails(tmp_path: Path) -> None:
    def progress(kills: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run(Plan(seed=1), folder=tmp_path, progress=progress)
    assert len(born(tmp_path)) > 5
    assert not any(map(lives, born(tmp_path)))


@pytest.mark.slow
def test_the_program_tells_of_a_violation(tmp_path: Path) -> None:
    command = [*CLI, "--planted", "ack before commit", "--json", "--keep", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["seed"] == 1
    assert "I1" in {each["rule"] for each in report["violations"]}


def test_the_points_where_fewest_died_come_first() -> None:
    schedule, dice, commit = KillSchedule(), random.Random(1), "StoreGateway.finish"
    before, after = Point(commit, Side.BEFORE), Point(commit, Side.AFTER)
    for point in (before, after, Point(commit, Side.ASKED)):
        schedule.passed(point, "worker-0", Role.WORKER)
    given = [tripwire for _ in range(3) if (tripwire := schedule.of("worker-1", Role.WORKER, dice).tripwire)]
    assert {tripwire.point for tripwire in given[:2]} == {before, after}, "no two at the same place"
    for tripwire in given:
        schedule.over(tripwire, None)
    schedule.over(None, before)
    assert schedule.missing == [after]
    next_ones = [schedule.of("worker-1", Role.WORKER, dice, spare=True).tripwire for _ in range(5)]
    assert next(each.point for each in next_ones if each) == after
    schedule.over(None, after)
    assert schedule.of("worker-1", Role.WORKER, dice, spare=True).tripwire is None, "it has no more to show"
    schedule.passed(late := Point("late", Side.AFTER), "worker-1", Role.WORKER)
    assert schedule.wants("worker-2", Role.WORKER)
    assert not schedule.wants("poster", Role.POSTER)
    for _ in range(3):
        schedule.over(Tripwire(point=late), None)
    assert not schedule.missing, "it is met too seldom"


def test_a_line_that_was_cut_off_is_read_once_it_is_whole(tmp_path: Path) -> None:
    trace, traces = Trace(tmp_path / "worker-1.jsonl"), Traces(tmp_path)
    trace.write("up", role="worker")
    with (tmp_path / "worker-1.jsonl").open("a") as file:
        file.write('{"t": 1, "op": "ran"')
        file.flush()
        assert [(actor, entry["op"]) for actor, entry in traces.news()] == [("worker-1", "up")]
        file.write(', "call": "c"}\n')
    trace.close()
    assert [(entry["op"], entry["call"]) for _, entry in traces.news()] == [("ran", "c")]
    assert list(traces.news()) == []


async def test_a_fast_clock_is_the_same_for_everybody() -> None:
    clock = FastClock.from_now(1000)
    other = FastClock(start=clock.start, base=clock.base, speed=clock.speed)
    before, real = clock.now(), time.monotonic()
    await clock.sleep(20)
    after = other.now()
    assert 20 <= (after - before) / 1e6 <= (time.monotonic() - real) * 1000 + 1
    low, there, high = other.now(), other.monotonic(), other.now()
    assert (low - clock.start) / 1e6 - 1 <= there <= (high - clock.start) / 1e6 + 1


def born(folder: Path) -> list[int]:
    """The processes that a harness started."""
    entries = (entry for place in folder.glob("round-*/traces") for _, entry in Traces(place).news())
    return [entry["pid"] for entry in entries if entry["op"] == "spawned"]


def lives(pid: int) -> bool:
    """Whether a process is there; one that ended and that nobody has asked about is not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
