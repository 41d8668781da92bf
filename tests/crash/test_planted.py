"""Each planted fault is found by a short run, by the promise that it breaks; without one, such runs find nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kesoku.testing.crash import ForkServer, Wiring, run
from kesoku.testing.crash.fault import Slow, UnfencedFinish, some_prompts
from kesoku.testing.crash.planted import PLANTED

pytestmark = pytest.mark.slow

TRIES = 3
"""Runs in one of which the fault must be met: a machine that stands still may let the moment pass."""


@pytest.fixture(scope="module")
def crash_forkserver() -> Iterator[ForkServer]:
    with ForkServer() as opened:
        yield opened


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(crash_forkserver: ForkServer, tmp_path: Path, name: str) -> None:
    fault = PLANTED[name]
    for number in range(TRIES):
        report = run(fault.plan(seed=1), folder=tmp_path / str(number), forkserver=crash_forkserver)
        if fault.rule in {each.rule for each in report.violations}:
            return
    pytest.fail(str(report))


def test_nothing_is_found_where_nothing_is_planted(crash_forkserver: ForkServer, tmp_path: Path) -> None:
    """The same deaths, one after the other; two of those points are only there with their faults."""
    faults = [fault for fault in PLANTED.values() if fault.kills]
    deaths = [
        each.tripwire for each in faults if each.tripwire.point.name not in {"CursorFirst.accept", "StoreGateway.move"}
    ]
    plan = replace(faults[0].plan(seed=1), wiring=Wiring(), tripwires=tuple(deaths), kills=len(deaths))
    report = run(plan, folder=tmp_path, forkserver=crash_forkserver)
    assert not report.violations, str(report)


@pytest.mark.parametrize("name", ["no fence", "no fence at the end, and no index"])
def test_a_worker_that_stood_still_does_no_harm(crash_forkserver: ForkServer, tmp_path: Path, name: str) -> None:
    """Its turn was taken over, and then it goes on; with all that holds it, nothing is found."""
    plan = replace(PLANTED[name].plan(seed=1), wiring=Wiring(model=Slow, prepare=some_prompts))
    report = run(plan, folder=tmp_path, forkserver=crash_forkserver)
    assert not report.violations, str(report)
    assert report.steps["turns taken from stopped workers"]


def test_the_index_alone_keeps_a_turn_from_two_answers(crash_forkserver: ForkServer, tmp_path: Path) -> None:
    """Without the fence somebody else may give the answer, but nobody can give a second one."""
    wiring = Wiring(gateway=UnfencedFinish, model=Slow, prepare=some_prompts)
    plan = replace(PLANTED["no fence at the end, and no index"].plan(seed=1), wiring=wiring, patience=3.0)
    for number in range(TRIES):
        report = run(plan, folder=tmp_path / str(number), forkserver=crash_forkserver)
        assert "I3" not in {each.rule for each in report.violations}, str(report)
        if report.steps["turns taken from stopped workers"]:
            return
    pytest.fail(str(report))
