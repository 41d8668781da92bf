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
        self._seen: dict[Lease, float] = {}

    def lost(self, held: Collection[Lease]) -> frozenset[Lease]:
        """Those of `held` whose owner died, or did not renew them in time."""
        now, at = self._clock.monotonic(), self._clock.now()
        self._seen = {lease: self._seen.get(lease, now) for lease in held}
        owners = {lease.owner for lease in held if lease.owner}
        dead = {owner for owner in owners if self._presence.is_dead(owner)}
        late = {lease for lease in held if lease.until <= at}
        late = {lease for lease in late if lease.owner and not self._presence.is_alive(lease.owner)}
        still = {lease for lease, since in self._seen.items() if now - since >= LEASE / SECOND}
        return frozenset(late | still | {lease for lease in held if lease.owner in dead})
