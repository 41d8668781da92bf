"""Which leases are lost, judged so that no jump of a clock makes the living look dead or the dead alive (C-32).

Wall clocks jump: a laptop wakes up, NTP corrects an hour. So what counts is how long a lease was seen unchanged, by a
clock that does not jump. The time in the row is only believed where nobody can be asked: for an owner of another host,
or one whose files are gone, so that a restart does not wait for a lease that ran out long ago.
"""

from collections.abc import Collection
from typing import Protocol

from kesoku.gateway.policy import LEASE, SECOND
from kesoku.messages.lifecycle import Lease
from kesoku.ports import Clock

_BLINK = 10.0
"""Seconds between two looks that count at most: whoever did not look for longer stood still as well, or waited for the
store, and has not seen that others did not renew."""


class Liveness(Protocol):
    """Who knows which owners of leases are dead, and which live."""

    def is_dead(self, owner: str) -> bool:
        """Whether the process behind `owner` surely ended; False when that cannot be known."""
        ...

    def is_alive(self, owner: str) -> bool:
        """Whether it surely did not end, even if it stands still; False when that cannot be known."""
        ...


class LeaseWatch:
    """Remembers since when each lease has stood unchanged; all leases are shown to it again and again."""

    def __init__(self, clock: Clock, presence: Liveness) -> None:
        self._clock, self._presence = clock, presence
        self._still: dict[Lease, float] = {}
        """For how many seconds each lease was seen unchanged."""
        self._looked = clock.monotonic()

    def lost(self, held: Collection[Lease]) -> frozenset[Lease]:
        """Those of `held` whose owner died, or did not renew them in time."""
        now, at = self._clock.monotonic(), self._clock.now()
        passed, self._looked = min(now - self._looked, _BLINK), now
        self._still = {lease: self._still.get(lease, -passed) + passed for lease in held}
        owners = {lease.owner for lease in held if lease.owner}
        dead = {owner for owner in owners if self._presence.is_dead(owner)}
        late = {lease for lease in held if lease.until <= at}
        late = {lease for lease in late if lease.owner and not self._presence.is_alive(lease.owner)}
        still = {lease for lease, seconds in self._still.items() if seconds >= LEASE / SECOND}
        return frozenset(late | still | {lease for lease in held if lease.owner in dead})
