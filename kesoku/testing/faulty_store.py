"""A store that fails when it is told to, over any store: before a commit, after one, for a while, or silently.

    store = FaultyStore(MemoryStore(), clock)
    store.script("StoreGateway.finish", AFTER)  # the next one is durable, and its caller sees an error
    store.outage(LOCKED, 3.0)  # nothing works for three seconds of the clock
    store = FaultyStore(MemoryStore(), clock, plan=random_faults(seed=7, chance=0.1), hints=Hints.DROPPED)

Operations go by the names of the functions that make them, such as `StoreGateway.claim`, `Claiming.claims`,
`Ledger.sent`, `Backlog.snapshot`; see `name_of`. Time is that of the clock, so a virtual one makes every test fast.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any, TypeVar, cast

from kesoku.errors import StoreError, StoreFailed, StoreFull, StoreLocked, StoreReadOnly
from kesoku.ports import Clock, Store, Transaction

T = TypeVar("T")

_PATH = "faulty"
"""What errors name as the database."""
_HOPS = 30
"""How many rounds of the event loop a shuffled wake-up may be late."""


class When(StrEnum):
    """The moment at which an operation fails."""

    REFUSED = "refused"
    """It does not run at all, as with a database that is locked."""
    BEFORE = "before"
    """It runs, and is rolled back."""
    AFTER = "after"
    """It is durable; only its caller does not know. A read just fails."""
    NEVER = "never"
    """It works, after the `seconds` of its fault."""


class Hints(StrEnum):
    """What becomes of wake-ups."""

    KEPT = "kept"
    """They come as the store sends them."""
    SHUFFLED = "shuffled"
    """Each comes late, by chance, and in another order at each listener."""
    DROPPED = "dropped"
    """None comes: whoever does not look by itself sees nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFault:
    """How one operation fails."""

    when: When = When.BEFORE
    error: Callable[[], StoreError] = lambda: StoreFailed(path=_PATH, reason="made by a test")
    """Makes the error, a new one for each caller."""
    seconds: float = 0.0
    """How long the operation waits first, by the clock."""
    reads: bool = False
    """Whether reads fail too."""


BEFORE = StoreFault(reads=True)
"""The disk fails before the commit."""
AFTER = StoreFault(when=When.AFTER, reads=True)
"""The disk fails when the commit is durable already."""
LOCKED = StoreFault(when=When.REFUSED, error=lambda: StoreLocked(path=_PATH, seconds=5.0))
"""Another program holds the database for its writes."""
FULL = StoreFault(error=lambda: StoreFull(path=_PATH))
"""No room is left on the disk."""
READ_ONLY = StoreFault(when=When.REFUSED, error=lambda: StoreReadOnly(path=_PATH, reason="made by a test"))
"""The file takes no writes."""
_WORKS = StoreFault(when=When.NEVER)

FaultPlan = Callable[[str], StoreFault | None]
"""Called with the name of each operation, to say how it fails; None lets it work."""


def name_of(operation: Callable[..., Any]) -> str:
    """The name of the function or method that an operation was made in, or its own."""
    name = getattr(operation, "__qualname__", type(operation).__qualname__)
    return str(name).split(".<locals>", maxsplit=1)[0]


def random_faults(
    seed: int,
    *,
    chance: float = 0.1,
    faults: Sequence[StoreFault] = (BEFORE, AFTER, LOCKED, FULL),
    most: int = 3,
) -> FaultPlan:
    """A plan by which each operation fails with probability `chance`, in one of `faults`; `seed` repeats it.

    None of one name fails more often than `most` times: a turn that tried to write once more than that ends in error,
    as it should, and then somebody was told.
    """
    random, failed = Random(seed), Counter[str]()

    def plan(name: str) -> StoreFault | None:
        if random.random() >= chance or failed[name] >= most:
            return None
        failed[name] += 1
        return random.choice(faults)

    return plan


class FaultyStore:
    """The port `Store` over any other store, with faults.

    `calls` and `hits` count operations and faults by name. `busy` is how many operations are under way: while it is
    above 0, a test with a virtual clock should not let time pass.
    """

    def __init__(
        self, store: Store, clock: Clock, *, plan: FaultPlan | None = None, hints: Hints = Hints.KEPT, seed: int = 0
    ) -> None:
        """`seed` shuffles the wake-ups. `plan` may be set at any time; scripts and outages come before it."""
        self._store, self._clock, self.plan = store, clock, plan
        self._hints, self._random = hints, Random(seed)
        self._scripts: dict[str, deque[StoreFault]] = defaultdict(deque)
        self._outages: list[tuple[float, StoreFault, frozenset[str]]] = []
        self.calls: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()
        self.busy = 0

    def script(self, name: str, *faults: StoreFault) -> None:
        """Make the next operations of this name fail, one a fault."""
        self._scripts[name].extend(faults)

    def outage(self, fault: StoreFault, seconds: float, *names: str) -> None:
        """Make every operation of these names fail until the clock has gone on so far; without names, every one."""
        self._outages.append((self._clock.monotonic() + seconds, fault, frozenset(names)))

    def heal(self) -> None:
        """Let everything work from now on."""
        self.plan = None
        self._scripts.clear()
        self._outages.clear()

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """See the port."""
        return await self._run(self._store.write, operation)

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        """See the port."""
        return await self._run(self._store.read, operation, reads=True)

    async def scrub(self) -> None:
        """See the port. Its faults go by the name of this method."""

        async def scrub(_: Callable[[Transaction], None]) -> None:
            await self._store.scrub()

        await self._run(scrub, cast("Callable[[Transaction], None]", self.scrub))

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        """See the port."""
        if self._hints is Hints.DROPPED:
            return lambda: None
        return self._store.on_commit(callback) if self._hints is Hints.KEPT else self._shuffled(callback)

    async def aclose(self) -> None:
        """See the port."""
        await self._store.aclose()

    def _shuffled(self, callback: Callable[[], None]) -> Callable[[], None]:
        """A subscription whose wake-ups come some rounds of the loop late."""
        wanted = True

        def late(hops: int) -> None:
            if hops:
                asyncio.get_running_loop().call_soon(late, hops - 1)
            elif wanted:
                callback()

        forget = self._store.on_commit(lambda: late(self._random.randrange(_HOPS)))

        def undo() -> None:
            nonlocal wanted
            wanted = False
            forget()

        return undo

    async def _run(
        self,
        run: Callable[[Callable[[Transaction], T]], Awaitable[T]],
        operation: Callable[[Transaction], T],
        *,
        reads: bool = False,
    ) -> T:
        name = name_of(operation)
        self.calls[name] += 1
        fault = self._due(name)
        if fault is None or (reads and not fault.reads):
            fault = _WORKS
        if fault.seconds:
            await self._clock.sleep(fault.seconds)
        self.busy += 1
        try:
            if fault.when is When.NEVER:
                return await run(operation)
            self.hits[name] += 1
            return await _failing(fault.when, fault.error(), run, operation)
        finally:
            self.busy -= 1

    def _due(self, name: str) -> StoreFault | None:
        now = self._clock.monotonic()
        for until, fault, names in self._outages:
            if now < until and (not names or name in names):
                return fault
        if self._scripts[name]:
            return self._scripts[name].popleft()
        return self.plan(name) if self.plan else None


async def _failing(
    when: When,
    error: StoreError,
    run: Callable[[Callable[[Transaction], T]], Awaitable[T]],
    operation: Callable[[Transaction], T],
) -> T:
    """Do as much of the operation as is done before it fails, and raise the error."""

    def doomed(tx: Transaction) -> T:
        operation(tx)
        raise error

    if when is When.REFUSED:
        await asyncio.sleep(0)
    else:
        await run(operation if when is When.AFTER else doomed)
    raise error
