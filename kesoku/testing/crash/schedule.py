"""Decides where and when each process is killed: at every point that was seen, the least hit first, or at random."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from kesoku.testing.crash.actor import Role
from kesoku.testing.crash.watch import Point, Side, Tripwire

_OFTEN = 0.9
"""The share of processes that get a tripwire."""
_PATIENCE = 5.0
"""Seconds that it is waited for."""
_HOPELESS = 3
"""Tripwires at one point that came to nothing: it is met too seldom to wait for."""
NEVER = 1e9
"""Seconds that no run lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledKill:
    """How one process ends: at its tripwire, or after `seconds` if it did not get there."""

    tripwire: Tripwire | None
    seconds: float


@dataclass(slots=True)
class KillSchedule:
    """Knows which parts passed each point, and how many processes died there. All workers count as one part.

    With `given` tripwires, processes die and stop at those only, each in its part.
    """

    given: tuple[Tripwire, ...] = ()
    seen: dict[Point, set[str]] = field(default_factory=dict)
    died: Counter[Point] = field(default_factory=Counter)
    _armed: Counter[Point] = field(default_factory=Counter)
    _vain: Counter[Point] = field(default_factory=Counter)

    def passed(self, point: Point, part: str, role: Role) -> None:
        """A process came by a point."""
        self.seen.setdefault(point, set()).add(_group(part, role))

    def of(self, part: str, role: Role, dice: Random, *, spare: bool = False) -> ScheduledKill:
        """The end of a new process. With `spare` only parts that are wanted get one."""
        if self.given:
            mine = [each for each in self.given if each.part == part]
            least = min(mine, key=lambda each: self.died[each.point], default=None)
            return ScheduledKill(tripwire=least, seconds=NEVER)
        if spare and not self.wants(part, role):
            return ScheduledKill(tripwire=None, seconds=NEVER)
        if tripwire := self._tripwire(_group(part, role), dice):
            self._armed[tripwire.point] += 1
            return ScheduledKill(tripwire=tripwire, seconds=_PATIENCE)
        return ScheduledKill(tripwire=None, seconds=dice.uniform(0.1, 1.5 if role is Role.WORKER else 5.0))

    @property
    def places(self) -> list[Point]:
        """Points that were seen, but for those before a write: there everything is as it was after the last one."""
        return sorted(point for point in self.seen if point.side is not Side.ASKED or self.died[point])

    @property
    def missing(self) -> list[Point]:
        """Points that were seen, at which no process died, and of which that can be hoped for."""
        if self.given:
            return []
        return [point for point in self.places if not self.died[point] and self._vain[point] < _HOPELESS]

    def wants(self, part: str, role: Role) -> bool:
        """Whether a process of this part could die where none has died."""
        return any(_group(part, role) in self.seen[point] for point in self.missing)

    def over(self, tripwire: Tripwire | None, point: Point | None) -> None:
        """The process that had this tripwire died, at this point if at any."""
        if tripwire:
            self._armed[tripwire.point] -= 1
            self._vain[tripwire.point] += tripwire.point != point
        if point:
            self.died[point] += 1

    def _tripwire(self, group: str, dice: Random) -> Tripwire | None:
        points = [point for point in self.places if group in self.seen[point]]
        if not points or dice.random() > _OFTEN:
            return None
        least = min(map(self._weight, points))
        point = dice.choice([each for each in points if self._weight(each) == least])
        return Tripwire(point=point, nth=dice.randint(1, 3 if group == Role.WORKER else 12) if least else 1)

    def _weight(self, point: Point) -> int:
        return self.died[point] + self._armed[point]


def _group(part: str, role: Role) -> str:
    return role if role is Role.WORKER else part
