"""One database, some processes, some kills: the harness plays one round or many."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from random import Random
from signal import SIGKILL

from kesoku.testing.crash.actor import Birth, Role
from kesoku.testing.crash.audit import install
from kesoku.testing.crash.cast import Cast, Child
from kesoku.testing.crash.chronicle import Chronicle
from kesoku.testing.crash.clock import FastClock
from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.fate import NEVER, Fate, Fates
from kesoku.testing.crash.invariant import check
from kesoku.testing.crash.nursery import Nursery
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.rest import unfinished
from kesoku.testing.crash.scene import Scene
from kesoku.testing.crash.script import POISON
from kesoku.testing.crash.tally import tally
from kesoku.testing.crash.trace import Trace
from kesoku.testing.crash.violation import Violation
from kesoku.testing.desk import Desk

_GLANCE = 0.03
"""Seconds between two looks at the traces."""
_LONG = 90.0
"""Seconds of the product's time within which a stopped worker is taken over and goes on, else it goes on anyway."""
_EARLY = 0.7
"""The part of the kills by which all poison is said."""
_ASKED_AGAIN = 2.0
"""Seconds in which a worker should have come to the place where it stops."""
_STOPS = ("halt {0}", "pause {0}", "look 1 then halt {0}", "draw 2 then pause {0}")
"""What a worker is told that is to stop."""
_LOG = 2_000


class Round:
    """Plays once; then its attributes say what came of it."""

    def __init__(
        self, plan: Plan, scene: Scene, fates: Fates, nursery: Nursery, told: Callable[[int], None], *, last: bool
    ) -> None:
        """The `last` round goes on for a while until a process has died at every point that was seen."""
        self._plan, self._scene, self._fates, self._nursery, self._told = plan, scene, fates, nursery, told
        self._last, self._most = last, plan.kills * 2
        self._dice = Random(plan.seed)
        self._clock = FastClock.from_now(plan.speed)
        self._chronicle = Chronicle(scene, fates)
        self._births = 0
        self._poison = sorted(int(self._dice.random() * _EARLY * plan.kills) for _ in range(plan.poison))
        self._asked = 0.0
        self._restless = True
        """Whether processes are still meant to die."""
        self.kills = Counter[str]()
        """By how: random, point, poison."""
        self.stops = 0
        """Workers that were stopped until another one had taken over."""
        self.tally: dict[str, int] = {}
        self.violations: list[Violation] = []

    def play(self) -> None:
        """Kill as planned, let those who live finish, and judge."""
        self._scene.prepare()
        Desk(self._scene.database).close()
        self._plan.wiring.prepare(self._scene.database)
        install(self._scene.database)
        with (
            closing(Trace(self._scene.traces / "harness.jsonl")) as self._trace,
            closing(Evidence(self._scene)) as self._evidence,
        ):
            with Cast(self._nursery, self._trace) as self._cast:
                for part, role in _parts(self._plan):
                    self._spawn(part, role)
                self._kill()
                self._rest()
            if not self.violations:
                self._judge(final=True)
            self.tally = tally(self._evidence)

    def _kill(self) -> None:
        latest = time.monotonic()
        while not self.violations and self._wants_more:
            before = self.kills.total()
            self._step()
            if self.kills.total() > before:
                latest = time.monotonic()
                self._told(self.kills.total())
            elif time.monotonic() - latest > self._plan.patience:
                self._complain(f"no process died within {self._plan.patience:g} s")

    @property
    def _wants_more(self) -> bool:
        """Whether something of the plan is still to be done; as many kills again are spent on it at most."""
        kills, plan = self.kills.total(), self._plan
        unseen = self.stops < plan.stops or (self._last and bool(self._fates.missing))
        return kills < plan.kills or (unseen and kills < self._most)

    def _rest(self) -> None:
        """Nobody speaks and nobody is killed any more: everything that was begun must end."""
        self._restless = False
        for child in self._cast:
            child.due = NEVER
            if child.birth.role is Role.POSTER:
                self._cast.kill(child)
        deadline = time.monotonic() + self._plan.patience
        while not self.violations and unfinished(self._scene, self._plan.platforms, self._chronicle.cursor):
            self._step()
            if time.monotonic() > deadline:
                break  # what is not finished is what the judge looks for

    def _step(self) -> None:
        dead = self._cast.dead(_GLANCE)
        self._chronicle.read()
        for child in dead:
            self._bury(child)
        if dead:
            self._judge()
        for child in self._cast:
            self._attend(child)
        if self._restless:
            self._make_trouble()

    def _attend(self, child: Child) -> None:
        now = time.monotonic()
        if child.stopped is None:
            if child.name in self._chronicle.halts:
                self._chronicle.halts.remove(child.name)
                self._cast.stopped(child)
            elif now >= child.due:
                self._cast.kill(child)
        elif (over := self._chronicle.taken_over(child.name)) or now > child.stopped + _LONG / self._plan.speed:
            self.stops += over
            child.due = now + self._dice.uniform(0.5, 1.5) if self._restless else NEVER
            self._cast.resume(child)

    def _bury(self, child: Child) -> None:
        self._fates.over(child.birth.tripwire)
        point = self._chronicle.ends.get(child.name)
        if point is None and child.code != -SIGKILL:
            self._complain(f"{child.name} ended by itself with code {child.code}: {self._log(child)}")
            return
        how = "random" if point is None else "poison" if point == POISON else "point"
        if point is not None:
            self._fates.died[point] += 1
        self.kills[how] += 1
        where = {"point": point.name, "when": point.when} if point else {}
        self._trace.write("killed", name=child.name, role=child.birth.role, how=how, **where)
        if self._restless or child.birth.role is not Role.POSTER:
            self._spawn(child.birth.part, child.birth.role)

    def _spawn(self, part: str, role: Role) -> None:
        self._births += 1
        fate = self._fate(part, role)
        birth = Birth(
            name=f"{part}-{self._births:03}",
            part=part,
            role=role,
            scene=self._scene,
            plan=self._plan,
            clock=self._clock,
            tripwire=fate.tripwire,
        )
        self._cast.spawn(birth, fate.seconds)

    def _fate(self, part: str, role: Role) -> Fate:
        if not self._restless:
            return Fate(tripwire=None, seconds=NEVER)
        return self._fates.of(part, role, self._dice, spare=self.kills.total() >= self._plan.kills)

    def _make_trouble(self) -> None:
        """Poison at its moments; one stop after the other until there were enough, for many die before they stop."""
        now = time.monotonic()
        if self._poison and self.kills.total() >= self._poison[0]:
            self._poison.pop(0)
            self._say(POISON.name)
        standing = any(child.stopped for child in self._cast)
        if self.stops < self._plan.stops and not standing and now > self._asked + _ASKED_AGAIN:
            self._asked = now
            self._say(self._dice.choice(_STOPS).format(self._births))

    def _say(self, text: str) -> None:
        """In a channel of its own, so that nobody interrupts it."""
        bot = self._dice.choice(self._plan.platforms)
        bot.journal(self._scene.journal(bot)).say(f"{text} {self._births}", text, by="mallory")

    def _judge(self, *, final: bool = False) -> None:
        self.violations += check(self._evidence, final=final)

    def _complain(self, text: str) -> None:
        self.violations.append(Violation(rule="kit", text=text))

    def _log(self, child: Child) -> str:
        path = self._scene.logs / f"{child.name}.log"
        return path.read_text(encoding="utf-8", errors="replace")[-_LOG:] if path.exists() else ""


def _parts(plan: Plan) -> list[tuple[str, Role]]:
    workers = [(f"worker-{n}", Role.WORKER) for n in range(plan.workers)]
    hosts = [(str(bot), Role.HOST) for bot in plan.platforms]
    return [*workers, *hosts, ("poster", Role.POSTER), ("follower", Role.FOLLOWER)]
