"""What every benchmark measures: a `Figure`.

A module of this folder is a benchmark when it has `def measure(room: Path) -> Iterator[Figure]`: it works in the empty
folder `room`, which is removed afterwards, and yields each figure as soon as it is known. `run.py` runs all of them.
"""

import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What a figure must keep to. Made by `at_most` and `at_least`."""

    value: float
    is_ceiling: bool

    def __str__(self) -> str:
        return f"{'<=' if self.is_ceiling else '>='} {self.value:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Physical:
    """What the machine itself needs for the same work, such as an fsync or `python -c pass`; in the figure's unit."""

    name: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table. Its value is the median of the samples, one sample a round."""

    name: str
    samples: tuple[float, ...]
    unit: str
    """Such as ms, MB, posts/s; `x` for a ratio."""
    meaning: str
    """What it means for somebody who runs a bot, in one sentence."""
    limit: Limit | None = None
    physical: Physical | None = None
    obstacle: str = ""
    """Where the limit is known to be missed: what stands in the way, in one sentence."""

    @property
    def value(self) -> float:
        """The median."""
        return statistics.median(self.samples)

    @property
    def ratio(self) -> float | None:
        """How many times the physical limit the value is."""
        return self.value / self.physical.value if self.physical else None

    @property
    def met(self) -> bool:
        """Whether the limit holds; without one it does."""
        if self.limit is None:
            return True
        return self.value <= self.limit.value if self.limit.is_ceiling else self.value >= self.limit.value

    @property
    def less_is_better(self) -> bool:
        """What the limit says; without one, all but rates."""
        return self.limit.is_ceiling if self.limit else not self.unit.endswith("/s")


def at_most(value: float) -> Limit:
    """A limit that the value may reach but not pass."""
    return Limit(value=value, is_ceiling=True)


def at_least(value: float) -> Limit:
    """A limit that the value must reach."""
    return Limit(value=value, is_ceiling=False)


def amount(full: int, quick: int) -> int:
    """How much to do: `quick` when `run.py --quick` asks only whether every benchmark works."""
    return quick if os.environ.get("KESOKU_BENCHMARKS_QUICK") else full


def samples(measured: Callable[[], float]) -> tuple[float, ...]:
    """What five calls return, one when `run.py --quick`."""
    return tuple(measured() for _ in range(amount(5, 1)))
