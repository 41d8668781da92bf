"""Runs a plan: rounds of kills, then kills of the real `kesoku chat`, up to the first violation."""

import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kesoku.testing.crash.chat import kill_chats
from kesoku.testing.crash.coverage import too_rare
from kesoku.testing.crash.forkserver import ForkServer
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.report import Report, Violation
from kesoku.testing.crash.round import Round
from kesoku.testing.crash.schedule import KillSchedule

ROUND = 50
"""Kills on one database; then a fresh one is begun, so that judging stays fast."""


def run(
    plan: Plan,
    *,
    folder: Path | None = None,
    forkserver: ForkServer | None = None,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Do what the plan says, up to the first violation; `progress` hears the number of kills so far.

    `folder` keeps all that was written, a folder a round; without it, nothing stays. An open `forkserver`
    saves the half second that one takes to start.
    """
    began, schedule = time.monotonic(), KillSchedule(plan.tripwires)
    kills, steps, stops = Counter[str](), Counter[str](), 0
    violations: list[Violation] = []
    with ExitStack() as stack:
        born = forkserver or stack.enter_context(ForkServer())
        place = folder or Path(stack.enter_context(TemporaryDirectory(prefix="kesoku-crash-")))
        shares = _shares(plan.kills)
        for number, share in enumerate(shares):
            layout = Layout(place / f"round-{number}")
            part = replace(plan, seed=plan.seed + number, kills=share)
            done = Round(part, layout, schedule, born, _from(kills.total(), progress), last=number == len(shares) - 1)
            done.play()
            kills, stops = kills + done.kills, stops + done.stops
            steps.update(done.steps)
            violations += done.violations
            if violations:
                break
            if folder is None:
                shutil.rmtree(layout.folder)
        if not violations and not plan.tripwires:
            violations += too_rare(steps, plan.kills)
        points = {str(point): schedule.died[point] for point in schedule.places}
        if plan.chats and not violations:
            sat = kill_chats(place / "chat", seed=plan.seed, kills=plan.chats)
            kills.update(sat.kills)
            points |= sat.points
            violations += sat.violations
    return Report(
        seed=plan.seed,
        seconds=time.monotonic() - began,
        kills=dict(kills),
        points=points,
        stops=stops,
        steps=dict(steps),
        violations=tuple(violations),
    )


def _from(before: int, progress: Callable[[int], None] | None) -> Callable[[int], None]:
    return lambda count: progress(before + count) if progress else None


def _shares(kills: int) -> list[int]:
    """The kills of each round."""
    rounds = max(1, -(-kills // ROUND))
    return [kills // rounds + (number < kills % rounds) for number in range(rounds)]
