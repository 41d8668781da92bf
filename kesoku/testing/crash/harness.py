"""Kills the processes of Kesoku on one database, again and again, and judges after every kill what became of it."""

import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kesoku.testing.crash.chat import kill_chats
from kesoku.testing.crash.fate import Fates
from kesoku.testing.crash.nursery import Nursery
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.report import Report
from kesoku.testing.crash.round import Round
from kesoku.testing.crash.scene import Scene
from kesoku.testing.crash.tally import too_rare
from kesoku.testing.crash.violation import Violation

ROUND = 50
"""Kills on one database; then a fresh one is begun, so that judging stays fast."""


def run(
    plan: Plan,
    *,
    folder: Path | None = None,
    nursery: Nursery | None = None,
    told: Callable[[int], None] | None = None,
) -> Report:
    """Do what the plan says, up to the first violation; `told` hears the number of kills so far.

    `folder` keeps all that was written, a folder a round; without it, nothing stays. An open `nursery`
    saves the half second that one takes to start.
    """
    began, fates = time.monotonic(), Fates(plan.tripwires)
    kills, tally, stops = Counter[str](), Counter[str](), 0
    violations: list[Violation] = []
    with ExitStack() as stack:
        born = nursery or stack.enter_context(Nursery())
        place = folder or Path(stack.enter_context(TemporaryDirectory(prefix="kesoku-crash-")))
        shares = _shares(plan.kills)
        for number, share in enumerate(shares):
            scene = Scene(place / f"round-{number}")
            part = replace(plan, seed=plan.seed + number, kills=share)
            done = Round(part, scene, fates, born, _from(kills.total(), told), last=number == len(shares) - 1)
            done.play()
            kills, stops = kills + done.kills, stops + done.stops
            tally.update(done.tally)
            violations += done.violations
            if violations:
                break
            if folder is None:
                shutil.rmtree(scene.folder)
        if not violations and not plan.tripwires:
            violations += too_rare(tally, plan.kills)
        points = {str(point): fates.died[point] for point in fates.places}
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
        tally=dict(tally),
        violations=tuple(violations),
    )


def _from(before: int, told: Callable[[int], None] | None) -> Callable[[int], None]:
    return lambda count: told(before + count) if told else None


def _shares(kills: int) -> list[int]:
    """The kills of each round."""
    rounds = max(1, -(-kills // ROUND))
    return [kills // rounds + (number < kills % rounds) for number in range(rounds)]
