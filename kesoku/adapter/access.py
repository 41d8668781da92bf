"""Who may talk to the bot: closed by default, decided anew for every event (complaints 105, 107, 163, 164)."""

from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from typing import Self

from kesoku.adapter.event import Principal
from kesoku.messages.record import Address
from kesoku.ports import Clock

TALK = "talk"
"""Say something to the bot."""
APPROVE = "approve"
"""Be an admin: approve tools, give admin commands (N-17)."""
EVERYONE = "everyone"
ADMINS = "admins"
"""The entry of a question that only admins may answer."""


def entries_of(principal: Principal, address: Address) -> frozenset[str]:
    """Every entry of a list that this person matches in this place. Names of people never count."""
    found = {f"user:{principal.user_id}"} if principal.user_id else set()
    found |= {f"role:{role}" for role in principal.roles if role}
    if principal.guild:
        found.add(f"guild:{principal.guild}")
    return frozenset(found | {f"channel:{each}" for each in (address.channel_id, *principal.within)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The lists of one adapter. Nothing is remembered, so an entry that is taken out denies at once.

    An empty `allow` admits nobody; admins may talk; bots never pass; at a local adapter everyone else does. `deny` wins
    over all of it. There is no second list: whatever admits people later, such as a pairing code, adds an entry here.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    local: bool = False

    def admitting(self, principal: Principal) -> Self:
        """The same, with this person let in."""
        return replace(self, allow=(*self.allow, f"user:{principal.user_id}"))

    def denies(self, principal: Principal, address: Address) -> bool:
        """Whether nothing lets this person in here, not even a pairing code."""
        if principal.is_bot or self.local:
            return principal.is_bot
        return EVERYONE in self.deny or not entries_of(principal, address).isdisjoint(self.deny)

    def allowed(self, principal: Principal, address: Address, action: str = TALK) -> bool:
        """Whether this person may `talk` here, or is an admin here (any other action)."""
        if self.denies(principal, address):
            return False
        if self.local:
            return True
        entries = entries_of(principal, address)
        if not entries.isdisjoint(self.admins):
            return True
        return action == TALK and (EVERYONE in self.allow or not entries.isdisjoint(self.allow))

    def may_answer(self, who: tuple[str, ...], principal: Principal, address: Address) -> bool:
        """Whether this person may answer a question that is put to `who`: `admins`, entries, or () for all."""
        if ADMINS in who:
            return self.allowed(principal, address, APPROVE)
        if not self.allowed(principal, address):
            return False
        return not who or self.local or not entries_of(principal, address).isdisjoint(who)


class Doorkeeper:
    """Says which strangers are told how to get in: each once in a while, and few of them a minute, so that they cannot
    make a flood."""

    REMEMBERED = 10_000

    def __init__(self, clock: Clock, *, burst: int = 20, window: float = 60) -> None:
        self._clock, self._burst, self._window = clock, burst, window
        self._told: OrderedDict[tuple[str, bool], float] = OrderedDict()
        self._recent: deque[float] = deque()

    def tells(self, principal: Principal, *, again: float) -> bool:
        """Whether to tell this stranger now: not within `again` seconds of the last time, and not one too many."""
        now = self._clock.monotonic()
        who = (principal.user_id, principal.direct)
        last = self._told.get(who)
        if last is not None and now - last < again:
            return False
        while self._recent and now - self._recent[0] >= self._window:
            self._recent.popleft()
        if len(self._recent) >= self._burst:
            return False
        self._recent.append(now)
        self._told[who] = now
        self._told.move_to_end(who)
        if len(self._told) > self.REMEMBERED:
            self._told.popitem(last=False)
        return True


class Throttle:
    """How often one person may be answered at once, outside of the queue: commands, presses, answers."""

    REMEMBERED = 10_000

    def __init__(self, clock: Clock, *, limit: int, window: float = 60) -> None:
        self._clock, self._limit, self._window = clock, limit, window
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def beyond(self, principal: Principal) -> int:
        """Count one act, and say how far it is beyond the limit of this window, 0 if it is not."""
        now = self._clock.monotonic()
        began, number = self._counts.pop(principal.user_id, (now, 0))
        if now - began >= self._window:
            began, number = now, 0
        self._counts[principal.user_id] = (began, number + 1)
        if len(self._counts) > self.REMEMBERED:
            self._counts.popitem(last=False)
        return max(0, number + 1 - self._limit)
