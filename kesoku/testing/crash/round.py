"""One round: some processes on one fresh database, killed some times, and checked after each kill."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from random import Random
from signal import SIGKILL

from kesoku.testing.clock import FastClock
from kesoku.testing.crash.actor import ProcessSpec, Role
from kesoku.testing.crash.audit import install
from kesoku.testing.crash.coverage import count_steps
from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.forkserver import ForkServer
from kesoku.testing.crash.invariant import check
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.observer import Observer
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.processes import Child, Processes
from kesoku.testing.crash.report import Violation
from kesoku.testing.crash.schedule import NEVER, KillSchedule, ScheduledKill
from kesoku.testing.crash.script import POISON
from kesoku.testing.crash.trace import Trace
from kesoku.testing.crash.unfinished import unfinished
from kesoku.testing.sync_store import SyncStore

_GLANCE = 0.03
"""Seconds between two looks at the traces."""
_LONG = 90.0
"""Seconds of the product's time within which a stopped worker is taken over and goes on, else it goes on anyway."""
_EARLY = 0.7
"""The part of the kills by which all poison is said."""
_ASKED_AGAIN = 2.0
"""Seconds in which a worker should have come to the place where it stops."""
_STOPS = ("halt {0}", "pause {0}", "look 1 then halt {0}", "draw 2 then pause {0}")
"""Prompts that stop the worker which gets them."""
_LOG = 2_000


class Round:
    """Plays once; then its attributes say what came of it."""

    def __init__(
        self,
        plan: Plan,
        layout: Layout,
        schedule: KillSchedule,
        forkserver: ForkServer,
        progress: Callable[[int], None],
        *,
        last: bool,
    ) -> None:
        """The `last` round goes on for a while until a process has died at every point that was seen."""
        self._plan, self._layout, self._schedule = plan, layout, schedule
        self._forkserver, self._progress = forkserver, progress
        self._last = last
        self._dice = Random(plan.seed)
        self._clock = FastClock.from_now(plan.speed)
        self._observer = Observer(layout, schedule)
        self._started = 0
        self._poison = sorted(int(self._dice.random() * _EARLY * plan.kills) for _ in range(plan.poison))
        self._asked = 0.0
        self._restless = True
        """Whether processes are still meant to die."""
        self.kills = Counter[str]()
        """By how: random, point, poison."""
        self.stops = 0
        """Workers that were stopped until another one had taken over."""
        self.steps: dict[str, int] = {}
        self.violations: list[Violation] = []

    def play(self) -> None:
        """Kill as planned, let those who live finish, and judge."""
        self._layout.prepare()
        SyncStore(self._layout.database).close()
        self._plan.wiring.prepare(self._layout.database)
        install(self._layout.database)
        with (
            closing(Trace(self._layout.traces / "harness.jsonl")) as self._trace,
            closing(Evidence(self._layout)) as self._evidence,
        ):
            with Processes(self._forkserver, self._trace) as self._processes:
                for part, role in _parts(self._plan):
                    self._spawn(part, role)
                self._kill()
                self._rest()
            if not self.violations:
                self._judge(final=True)
            self.steps = count_steps(self._evidence)

    def _kill(self) -> None:
        latest = time.monotonic()
        while not self.violations and self._wants_more:
            before = self.kills.total()
            self._step()
            if self.kills.total() > before:
                latest = time.monotonic()
                self._progress(self.kills.total())
            elif time.monotonic() - latest > self._plan.patience:
                self._complain(f"no process died within {self._plan.patience:g} s")

    @property
    def _wants_more(self) -> bool:
        """Whether something of the plan is still to be done; as many kills again are spent on it at most."""
        kills, plan = self.kills.total(), self._plan
        unseen = self.stops < plan.stops or (self._last and bool(self._schedule.missing))
        return kills < plan.kills or (unseen and kills < 2 * plan.kills)

    def _rest(self) -> None:
        """Stop the poster and all kills, and wait until everything that was begun has ended."""
        self._restless = False
        for child in self._processes:
            child.due = NEVER
            if child.spec.role is Role.POSTER:
                self._processes.kill(child)
        deadline = time.monotonic() + self._plan.patience
        while not self.violations and unfinished(self._layout, self._plan.platforms, self._observer.cursor):
            self._step()
            if time.monotonic() > deadline:
                break  # what is not finished is what the judge looks for

    def _step(self) -> None:
        dead = self._processes.reap(_GLANCE)
        self._observer.read()
        for child in dead:
            self._bury(child)
        if dead:
            self._judge()
        for child in self._processes:
            self._attend(child)
        if self._restless:
            self._make_trouble()

    def _attend(self, child: Child) -> None:
        now = time.monotonic()
        if child.stopped is None:
            if child.name in self._observer.halts:
                self._observer.halts.remove(child.name)
                self._processes.stopped(child)
            elif now >= child.due or (self._restless and self._is_spared_in_vain(child)):
                self._processes.kill(child)
        elif (over := self._observer.taken_over(child.name)) or now > child.stopped + _LONG / self._plan.speed:
            self.stops += over
            child.due = now + self._dice.uniform(0.5, 1.5) if self._restless else NEVER
            self._processes.resume(child)

    def _is_spared_in_vain(self, child: Child) -> bool:
        """Whether it was to live on, and came by a point since at which none of its like has died."""
        return child.due > NEVER and self._schedule.wants(child.spec.part, child.spec.role)

    def _bury(self, child: Child) -> None:
        point = self._observer.ends.get(child.name)
        self._schedule.over(child.spec.tripwire, point)
        if point is None and child.code != -SIGKILL:
            self._complain(f"{child.name} ended by itself with code {child.code}: {self._log(child)}")
            return
        how = "random" if point is None else "poison" if point == POISON else "point"
        self.kills[how] += 1
        where = {"point": point.name, "side": point.side} if point else {}
        self._trace.write("killed", name=child.name, role=child.spec.role, how=how, **where)
        if self._restless or child.spec.role is not Role.POSTER:
            self._spawn(child.spec.part, child.spec.role)

    def _spawn(self, part: str, role: Role) -> None:
        self._started += 1
        scheduled = self._scheduled(part, role)
        spec = ProcessSpec(
            name=f"{part}-{self._started:03}",
            part=part,
            role=role,
            layout=self._layout,
            plan=self._plan,
            clock=self._clock,
            tripwire=scheduled.tripwire,
        )
        self._processes.spawn(spec, scheduled.seconds)

    def _scheduled(self, part: str, role: Role) -> ScheduledKill:
        if not self._restless:
            return ScheduledKill(tripwire=None, seconds=NEVER)
        return self._schedule.of(part, role, self._dice, spare=self.kills.total() >= self._plan.kills)

    def _make_trouble(self) -> None:
        """Write poison when it is due, and prompts that stop a worker until enough were stopped: many die before."""
        now = time.monotonic()
        if self._poison and self.kills.total() >= self._poison[0]:
            self._poison.pop(0)
            self._say(POISON.name)
        standing = any(child.stopped for child in self._processes)
        if self.stops < self._plan.stops and not standing and now > self._asked + _ASKED_AGAIN:
            self._asked = now
            self._say(self._dice.choice(_STOPS).format(self._started))

    def _say(self, text: str) -> None:
        """Write a prompt in a channel of its own, so that none interrupts it."""
        bot = self._dice.choice(self._plan.platforms)
        bot.journal(self._layout.journal(bot)).say(f"{text} {self._started}", text, by="mallory")

    def _judge(self, *, final: bool = False) -> None:
        self.violations += check(self._evidence, final=final)

    def _complain(self, text: str) -> None:
        self.violations.append(Violation(rule="kit", text=text))

    def _log(self, child: Child) -> str:
        path = self._layout.logs / f"{child.name}.log"
        return path.read_text(encoding="utf-8", errors="replace")[-_LOG:] if path.exists() else ""


def _parts(plan: Plan) -> list[tuple[str, Role]]:
    workers = [(f"worker-{n}", Role.WORKER) for n in range(plan.workers)]
    hosts = [(str(bot), Role.HOST) for bot in plan.platforms]
    return [*workers, *hosts, ("poster", Role.POSTER), ("follower", Role.FOLLOWER)]
