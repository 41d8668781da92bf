"""The crash kit: real processes on one database, killed at every commit and at random, and judged after every kill."""

from kesoku.testing.crash.harness import run
from kesoku.testing.crash.nursery import Nursery
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.report import Report
from kesoku.testing.crash.violation import Violation
from kesoku.testing.crash.watch import How, Point, Tripwire, When
from kesoku.testing.crash.wiring import Wiring

__all__ = [
    "How",
    "Nursery",
    "Plan",
    "Platform",
    "Point",
    "Report",
    "Tripwire",
    "Violation",
    "When",
    "Wiring",
    "run",
]
