"""The crash kit: real processes on one database, killed at every commit and at random, and checked after every kill."""

from kesoku.testing.crash.forkserver import ForkServer
from kesoku.testing.crash.harness import run
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.report import Report, Violation
from kesoku.testing.crash.watch import Action, Point, Side, Tripwire
from kesoku.testing.crash.wiring import Wiring

__all__ = [
    "Action",
    "ForkServer",
    "Plan",
    "Platform",
    "Point",
    "Report",
    "Side",
    "Tripwire",
    "Violation",
    "Wiring",
    "run",
]
