"""One door to a provider for all sessions and processes of a key and model: what one is refused, all heed.

The rules are pure functions of a `Door` and the time; `RateLimiter` keeps the door in `Shared`. Nobody sleeps in here:
a ticket says how long to wait before asking again.

- After a 429 the door is closed for as long as the provider says, else a few seconds. Then it lets requests in one by
  one: half a second apart, twice that after each further 429, half of it after each success, until no spacing is left.
- Who waits has a place in the queue and keeps it when the door closes again. One who neither leaves it nor comes back
  for it costs a slot and nothing else.
- A used up quota of the day shuts the door until the day ends; one request every ten minutes tries whether there is
  more by now.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from pydantic import FiniteFloat, TypeAdapter, ValidationError

from kesoku.llm.shared import Shared

T = TypeVar("T")

MINUTE = 60.0
NARROWEST, WIDEST = 0.5, 16.0
"""Seconds between two requests after the first refusal, and after many."""
UNTOLD = 6
"""Spacings for which a refusal that names no time closes the door, up to a minute."""
GONE = 0.05
"""Seconds; a spacing below it is none."""
GLANCE = 10.0
"""Seconds that a wide spacing may cost before one asks again, for it may have become narrower."""
LONGEST = 600.0
"""Seconds; no refusal but that of a day, and no jump of the clock, closes the door for longer."""
FORGOTTEN = 600.0
"""Seconds after which a spacing that nobody tried is given up."""
PROBE = 600.0
"""Seconds between two tries of a used up day."""
DAY = 26 * 3600.0
"""Seconds; the longest day that a clock change makes, and a little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """Leave to send a request, or a place in the queue."""

    at: float
    """When to come; wall clock seconds."""
    wait: float
    """Seconds until then; 0.0 means go now."""
    daily: bool = False
    """The quota of the day is used up: there is no place, and `at` is when the day ends."""
    number: int = 0
    """The place in the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The state of a rate limiter; times are wall clock seconds. The default is an open door that nobody waits at."""

    closed_until: FiniteFloat = 0.0
    spacing: FiniteFloat = 0.0
    last: FiniteFloat = 0.0
    """When the last one went in; only kept while there is a spacing."""
    starts: tuple[FiniteFloat, ...] = ()
    """Who went in during the last minute; only kept for a limit a minute."""
    number: int = 0
    """The newest place in the queue."""
    waiting: tuple[tuple[int, FiniteFloat], ...] = ()
    """Place and time of all who were told a time that is still to come, by place."""
    daily_until: FiniteFloat = 0.0
    probe_at: FiniteFloat = 0.0
    probing: bool = False
    """Whether a request was let in since the quota of the day was used up."""


def settled(door: Door, now: float) -> Door:
    """`door` without what is over by now, and within the bounds whatever the clock did."""
    closed = door.closed_until <= now + LONGEST + WIDEST  # else the clock went back, and nobody knows how far
    heeded = now < max(door.closed_until, door.last) + FORGOTTEN
    daily = now < door.daily_until <= now + DAY
    return Door(
        closed_until=min(door.closed_until, now + LONGEST) if closed else 0.0,
        spacing=min(max(door.spacing, 0.0), WIDEST) if heeded else 0.0,
        last=min(door.last, now),
        starts=tuple(min(start, now) for start in door.starts if now < start + MINUTE),
        number=door.number,
        waiting=tuple(place for place in door.waiting if now < place[1] <= now + DAY),
        daily_until=door.daily_until if daily else 0.0,
        probe_at=min(door.probe_at, now + PROBE) if daily else 0.0,
        probing=daily and door.probing,
    )


def claim(door: Door, now: float, *, per_minute: int | None, ticket: Ticket | None = None) -> tuple[Door, Ticket]:
    """One asks to go in, for the first time or again with the ticket of the last time."""
    door = settled(door, now)
    if now < door.probe_at:
        return door, Ticket(at=door.daily_until, wait=door.daily_until - now, daily=True)
    number = ticket.number if ticket and ticket.number else max(door.number + 1, int(now * 1_000))
    others = tuple(place for place in door.waiting if place[0] != number)
    door = replace(door, number=max(door.number, number), waiting=others)
    ahead = [told for place, told in others if place < number]
    narrow = replace(door, spacing=min(door.spacing, NARROWEST))
    at = min(_slot(door, now, per_minute, ahead), _slot(narrow, now, per_minute, [now] * len(ahead)) + GLANCE)
    if at <= now:
        return _entered(door, now, per_minute), Ticket(at=now, wait=0.0, number=number)
    door = replace(door, waiting=tuple(sorted((*others, (number, at)))))
    return door, Ticket(at=at, wait=at - now, number=number)


def left(door: Door, now: float, ticket: Ticket) -> Door:
    """One who waited does so no more."""
    door = settled(door, now)
    return replace(door, waiting=tuple(place for place in door.waiting if place[0] != ticket.number))


def refused(door: Door, now: float, *, retry_after: float | None, daily_until: float | None, jitter: float) -> Door:
    """A request got a 429. `jitter`, uniform in 0..1, keeps machines that share a quota apart."""
    door = settled(door, now)
    spacing = door.spacing
    if now >= door.closed_until:  # else the request is older than the refusal that closed the door: no news
        spacing = min(max(2 * spacing, NARROWEST), WIDEST)
    known = retry_after is not None and math.isfinite(retry_after)
    pause = min(max(retry_after or 0.0, 0.0), LONGEST) if known else min(UNTOLD * spacing, MINUTE)
    door = replace(door, closed_until=max(door.closed_until, now + pause + jitter * spacing), spacing=spacing)
    if daily_until is None or not now < daily_until <= now + DAY:
        return door
    return replace(door, daily_until=daily_until, probe_at=now + PROBE, probing=False)


def passed(door: Door, now: float) -> Door:
    """A request succeeded. One that began before the door closed is no news."""
    door = settled(door, now)
    if door.probing:
        door = replace(door, daily_until=0.0, probe_at=0.0, probing=False)
    if now < door.closed_until:
        return door
    spacing = door.spacing / 2
    return replace(door, spacing=spacing if spacing >= GONE else 0.0)


def _slot(door: Door, now: float, per_minute: int | None, ahead: list[float]) -> float:
    """When the one behind `ahead` may go in, if all of them come when they were told."""
    starts, at = list(door.starts), door.last
    for told in (*ahead, now):
        at = max(now, told, door.closed_until, at + door.spacing)
        if per_minute and len(starts) >= per_minute:
            at = max(at, starts[-per_minute] + MINUTE)
        starts.append(at)
    return at


def _entered(door: Door, now: float, per_minute: int | None) -> Door:
    if door.daily_until:
        door = replace(door, probe_at=now + PROBE, probing=True)
    starts = (*door.starts, now)[-per_minute:] if per_minute else door.starts
    return replace(door, starts=starts, last=now if door.spacing else 0.0)


class RateLimiter:
    """The door of one key and model."""

    def __init__(
        self,
        shared: Shared,
        subject: str,
        *,
        per_minute: int | None,
        now: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        """`now` is the wall clock in seconds; `jitter` is uniform in 0..1."""
        self._shared, self._subject, self._per_minute = shared, subject, per_minute
        self._now, self._jitter = now, jitter

    async def claim(self, ticket: Ticket | None = None) -> Ticket:
        """Ask to send a request. With a wait, sleep and claim again with the ticket: the place may have moved back."""
        if not self._per_minute and await self._shared.read(self._subject) is None:
            return Ticket(at=self._now(), wait=0.0)
        return await self._change(lambda door, now: claim(door, now, per_minute=self._per_minute, ticket=ticket))

    async def leave(self, ticket: Ticket) -> None:
        """Give up the place of a ticket, so that nobody waits behind one who is gone. Without a place: nothing."""
        if ticket.wait and ticket.number:
            await self._change(lambda door, now: (left(door, now, ticket), None))

    async def refused(self, retry_after: float | None, *, daily_until: float | None) -> None:
        """The provider said 429: for `retry_after` seconds if it named any, for the day if its quota is used up."""
        jitter = self._jitter()
        await self._change(
            lambda door, now: (
                refused(door, now, retry_after=retry_after, daily_until=daily_until, jitter=jitter),
                None,
            )
        )

    async def passed(self) -> None:
        """The provider took the request."""
        if await self._shared.read(self._subject) is not None:
            await self._change(lambda door, now: (passed(door, now), None))

    async def _change(self, change: Callable[[Door, float], tuple[Door, T]]) -> T:
        def changed(old: Any) -> tuple[Any, Any]:
            now = self._now()
            door, result = change(_door(old), now)
            return _fact(door, now), result

        return await self._shared.update(self._subject, changed)


_DOOR = TypeAdapter(Door)


def _door(fact: Any) -> Door:
    try:
        return _DOOR.validate_python(fact)
    except ValidationError:
        return Door()


def _fact(door: Door, now: float) -> Any:
    busy = now < door.closed_until or door.spacing or door.starts or door.waiting or door.daily_until
    return asdict(door) if busy else None
