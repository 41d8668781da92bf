"""Rate limits: buckets of a channel, the one of the bot, and those that no header tells of: names and old messages."""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kesoku.testing.discord.world.snowflake import seconds_of

_HOUR = 3600.0
_EVERYWHERE = (50, 1.0)
_NAMES = (2, 600.0)
_OLD = (3, 20.0)
"""Edits in a channel of messages older than an hour; Discord does not say how many it takes."""
_BUCKETS = {
    "POST /channels/{}/messages": ("create", 5, 5.0),
    "PATCH /channels/{}/messages/{}": ("edit", 5, 5.0),
    "DELETE /channels/{}/messages/{}": ("delete", 5, 5.0),
    "POST /channels/{}/typing": ("typing", 5, 5.0),
}
RENAME = "PATCH /channels/{}"
EDIT = "PATCH /channels/{}/messages/{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a bucket stands after a request."""

    bucket: str
    limit: int
    remaining: int
    reset: float
    """When it is whole again, in seconds of the epoch."""
    reset_after: float

    @property
    def headers(self) -> dict[str, str]:
        """What every answer says."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": f"{self.reset:.3f}",
            "X-RateLimit-Reset-After": f"{self.reset_after:.3f}",
            "X-RateLimit-Bucket": self.bucket,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """A request too many."""

    seconds: float
    """After which the next one passes."""
    everywhere: bool = False
    scope: Literal["user", "shared"] = "user"
    standing: Standing | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What the 429 says."""
        told = self.standing.headers if self.standing else {}
        told = {**told, "Retry-After": str(max(1, round(self.seconds))), "Via": "1.1 google"}
        told["X-RateLimit-Scope"] = "global" if self.everywhere else self.scope
        return {**told, "X-RateLimit-Global": "true"} if self.everywhere else told

    @property
    def body(self) -> dict[str, object]:
        """The JSON of the 429."""
        seconds = round(self.seconds, 3)
        return {"message": "You are being rate limited.", "retry_after": seconds, "global": self.everywhere}


class _Window:
    """So many in so many seconds, counted from the first."""

    def __init__(self, limit: int, seconds: float) -> None:
        self.limit, self.seconds = limit, seconds
        self.begun, self.count = 0.0, 0

    def take(self, now: float) -> float | None:
        """None, or the seconds after which it may be taken."""
        if now >= self.begun + self.seconds:
            self.begun, self.count = now, 0
        if self.count >= self.limit:
            return self.begun + self.seconds - now
        self.count += 1
        return None


class Limits:
    """Counts requests."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._windows: dict[tuple[str, str], _Window] = {}
        self._everywhere: deque[float] = deque()
        self._names: defaultdict[str, deque[float]] = defaultdict(deque)
        self._old: defaultdict[str, deque[float]] = defaultdict(deque)

    def take(self, route: str, major: str, *, renames: bool, exempt: bool) -> Standing | Excess | None:
        """Count a request; None if its route has no bucket.

        `major` is the channel, `renames` whether it gives a new name, `exempt` whether the bot's own limit does not
        count it.
        """
        now = self._now()
        if not exempt and (left := _sliding(self._everywhere, *_EVERYWHERE, now)) is not None:
            return Excess(seconds=left, everywhere=True)
        if renames and (left := _sliding(self._names[major], *_NAMES, now)) is not None:
            standing = Standing(bucket="channel", limit=5, remaining=4, reset=now + 5, reset_after=5.0)
            return Excess(seconds=left, standing=standing)
        if route not in _BUCKETS:
            return None
        bucket, limit, seconds = _BUCKETS[route]
        window = self._windows.setdefault((bucket, major), _Window(limit, seconds))
        excess = window.take(now)
        after = window.begun + seconds - now
        standing = Standing(
            bucket=f"loopback{bucket}",
            limit=limit,
            remaining=limit - window.count,
            reset=now + after,
            reset_after=after,
        )
        return standing if excess is None else Excess(seconds=excess, standing=standing)

    def takes_old(self, channel: str, message_id: int) -> bool:
        """Whether a message may be edited, counted if it is older than an hour."""
        now = self._now()
        return now - seconds_of(message_id) < _HOUR or _sliding(self._old[channel], *_OLD, now) is None


def _sliding(taken: deque[float], limit: int, seconds: float, now: float) -> float | None:
    while taken and taken[0] <= now - seconds:
        taken.popleft()
    if len(taken) >= limit:
        return taken[0] + seconds - now
    taken.append(now)
    return None
