"""Whether anything is lost or done twice when processes are killed; `python -m kesoku.testing.crash` says more."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figure import Figure, amount, at_most

SEED = 7
KILLS = amount(1_000, 50)


def measure(room: Path) -> Iterator[Figure]:
    """One run of the crash kit."""
    found = _killed(room)
    kills = sum(found["kills"].values())
    for violation in found["violations"]:
        print(f"{violation['rule']}: {violation['text']}", file=sys.stderr)
    yield Figure(
        name=f"broken promises in {kills:,} kills",
        samples=(len(found["violations"]),),
        unit="",
        limit=at_most(0),
        meaning="However a process dies, no message is lost, none is answered twice, and every answer arrives.",
    )
    yield Figure(
        name="different points at which a process was killed",
        samples=(sum(1 for count in found["points"].values() if count),),
        unit="points",
        meaning="Before and after every commit and every send of a turn, besides any moment in between.",
    )
    yield Figure(
        name="kills and restarts",
        samples=(kills / found["seconds"],),
        unit="kills/s",
        meaning="How fast your own change can be put to this test.",
    )


def _killed(room: Path) -> Any:
    command = [sys.executable, "-m", "kesoku.testing.crash", "--kills", str(KILLS), "--seed", str(SEED), "--json"]
    done = subprocess.run(command, cwd=room, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
