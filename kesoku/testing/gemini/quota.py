"""How many requests a minute and a day the server takes for each model."""

from collections import deque
from itertools import islice

from kesoku.testing.gemini.script import Refusal, rate_limited

MINUTE, DAY = 60.0, 86_400.0


class Quota:
    """Sliding windows; a request that is refused does not count."""

    def __init__(self) -> None:
        self._taken: dict[str, deque[float]] = {}

    def take(self, model: str, now: float, *, per_minute: int | None, per_day: int | None) -> Refusal | None:
        """Count a request to `model` at `now`, or refuse it."""
        taken = self._taken.setdefault(model, deque())
        while taken and taken[0] <= now - DAY:
            taken.popleft()
        if per_day is not None and len(taken) >= per_day:
            return rate_limited(daily=True, model=model, limit=per_day)
        if per_minute is not None and len(taken) >= per_minute:
            oldest = next(islice(reversed(taken), per_minute - 1, None)) if per_minute else now
            if oldest > now - MINUTE:
                return rate_limited(seconds=round(oldest + MINUTE - now, 3), model=model, limit=per_minute)
        taken.append(now)
        return None
