"""What the harness knows of its processes: it reads their traces as they grow."""

from collections import defaultdict

from kesoku.testing.crash.actor import Role
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.schedule import KillSchedule
from kesoku.testing.crash.trace import Entry, Traces
from kesoku.testing.crash.watch import Action, Point, Side


class Observer:
    """Which process died or stopped where, and which turns each works on. Points that are seen go to `schedule`."""

    def __init__(self, layout: Layout, schedule: KillSchedule) -> None:
        self._traces, self._schedule = Traces(layout.traces), schedule
        self._roles: dict[str, Role] = {}
        self._working: defaultdict[str, set[str]] = defaultdict(set)
        self._holders: dict[str, str] = {}
        self.ends: dict[str, Point] = {}
        """Where an actor killed itself."""
        self.halts: set[str] = set()
        """Actors that stopped themselves, until somebody takes note."""
        self.cursor = 0
        """The last change that a follower was handed."""

    def read(self) -> None:
        """Read on."""
        for actor, entry in self._traces.news():
            match entry["op"]:
                case "up":
                    self._roles[actor] = Role(entry["role"])
                case "passed":
                    self._schedule.passed(_point(entry), actor.rpartition("-")[0], self._roles[actor])
                case "point" if entry["how"] == Action.STOP:
                    self.halts.add(actor)
                case "point":
                    self.ends[actor] = _point(entry)
                case "claimed":
                    self._holders[entry["prompt"]] = actor
                case "working":
                    self._working[actor].add(entry["turn"])
                case "worked":
                    self._working[actor].discard(entry["turn"])
                case "seen":
                    self.cursor = max(self.cursor, entry["cursor"])

    def taken_over(self, actor: str) -> bool:
        """Whether somebody else claimed a turn on which this actor still believes to work."""
        return any(self._holders.get(turn) != actor for turn in self._working[actor])


def _point(entry: Entry) -> Point:
    return Point(entry["name"], Side(entry["side"]))
