"""Where and when each process is to die: every point that turned up, the seldom hit ones first, and at random."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from kesoku.testing.crash.actor import Role
from kesoku.testing.crash.watch import Point, Tripwire, When

_OFTEN = 0.9
"""The share of processes that get a tripwire."""
_PATIENCE = 5.0
"""Seconds that it is waited for."""
NEVER = 1e9
"""Seconds after which nobody is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """A process is killed after `seconds` if no tripwire ended it before."""

    tripwire: Tripwire | None
    seconds: float


@dataclass(slots=True)
class Fates:
    """Chooses; remembers which points were seen by whom, and how many processes died there. Workers are all alike here.

    With `given` tripwires, nobody dies or stops but at those, each in its part.
    """

    given: tuple[Tripwire, ...] = ()
    seen: dict[Point, set[str]] = field(default_factory=dict)
    died: Counter[Point] = field(default_factory=Counter)
    _armed: Counter[Point] = field(default_factory=Counter)

    def passed(self, point: Point, part: str, role: Role) -> None:
        """A process came by a point."""
        self.seen.setdefault(point, set()).add(_kin(part, role))

    def of(self, part: str, role: Role, dice: Random, *, spare: bool = False) -> Fate:
        """For a new process. With `spare` only those die whose like still have a point at which nobody has died."""
        if self.given:
            mine = [each for each in self.given if each.part == part]
            return Fate(tripwire=min(mine, key=lambda each: self.died[each.point], default=None), seconds=NEVER)
        kin = _kin(part, role)
        if spare and not any(kin in self.seen[point] for point in self.missing):
            return Fate(tripwire=None, seconds=NEVER)
        if tripwire := self._tripwire(kin, dice):
            self._armed[tripwire.point] += 1
            return Fate(tripwire=tripwire, seconds=_PATIENCE)
        return Fate(tripwire=None, seconds=dice.uniform(0.1, 1.5 if role is Role.WORKER else 5.0))

    @property
    def places(self) -> list[Point]:
        """Points that were seen, but for those before a write: there everything is as it was after the last one."""
        return sorted(point for point in self.seen if point.when is not When.ASKED or self.died[point])

    @property
    def missing(self) -> list[Point]:
        """Points that were seen, at which no process died."""
        if self.given:
            return []
        return [point for point in self.places if not self.died[point]]

    def over(self, tripwire: Tripwire | None) -> None:
        """The process that had this tripwire is gone."""
        if tripwire:
            self._armed[tripwire.point] -= 1

    def _tripwire(self, kin: str, dice: Random) -> Tripwire | None:
        points = [point for point in self.places if kin in self.seen[point]]
        if not points or dice.random() > _OFTEN:
            return None
        least = min(map(self._weight, points))
        point = dice.choice([each for each in points if self._weight(each) == least])
        return Tripwire(point=point, nth=dice.randint(1, 3 if kin == Role.WORKER else 12) if least else 1)

    def _weight(self, point: Point) -> int:
        return self.died[point] + self._armed[point]


def _kin(part: str, role: Role) -> str:
    return role if role is Role.WORKER else part
