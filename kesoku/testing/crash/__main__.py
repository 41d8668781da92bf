"""Kills Kesoku for as long as it takes: `python -m kesoku.testing.crash --kills 1000 --seed 7`."""

import argparse
import json
import random
import sys
from pathlib import Path

from kesoku.testing.crash.harness import run
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.planted import PLANTED

_INTERRUPTED = 130
_FOR_EACH_CHAT = 50
"""Kills for each one of the real `kesoku chat`, which takes a second to start."""


def main() -> int:
    """0 if nothing was violated, 1 if something was, 130 after Ctrl-C."""
    options = _options()
    chats = options.kills // _FOR_EACH_CHAT
    plan = Plan(seed=options.seed, kills=options.kills, workers=options.workers, chats=chats)
    if options.planted:
        plan = PLANTED[options.planted].plan(options.seed)
    try:
        report = run(plan, folder=options.keep, progress=_show if sys.stderr.isatty() else None)
    except KeyboardInterrupt:
        _say(f"stopped; the seed was {plan.seed}")
        return _INTERRUPTED
    _say("")
    print(json.dumps(report.to_dict(), indent=2) if options.json else report)  # noqa: T201 - it is a program
    return 1 if report.violations else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kesoku.testing.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="how many processes die (default: 1000)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="repeats the decisions of a run")
    parser.add_argument("--workers", type=int, default=3, choices=(2, 3, 4), help="processes that claim prompts")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    planted = "; ".join(sorted(PLANTED))
    parser.add_argument(
        "--planted", choices=PLANTED, metavar="FAULT", help=f"plant a fault, to see it found; one of: {planted}"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the databases and traces there")
    return parser.parse_args()


def _say(text: str) -> None:
    """To people at a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _show(kills: int) -> None:
    _say(f"{kills} kills")


if __name__ == "__main__":
    sys.exit(main())
