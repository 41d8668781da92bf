"""One event hook, as it was configured."""

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from kesoku.hooks.call import Call
from kesoku.hooks.filter import Filter

LONGEST_PAUSE = 3600.0
"""Seconds between two attempts at most, also where a receiver asks for more."""


class Target(Protocol):
    """Where the events of a hook go."""

    def send(self, call: Call) -> Coroutine[Any, Any, None]:
        """Hand over one event; returns once it was taken. Cancelling leaves nothing running.

        Raises:
            HookError: it was not taken, or nobody can tell.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHook:
    """A hook: what it wants to hear of, where that goes, and how long it is tried."""

    name: str
    wants: Filter
    target: Target
    timeout: float = 10.0
    """Seconds of one attempt."""
    attempts: int = 8
    """Attempts until an event is given up."""
    first_pause: float = 5.0
    """Seconds between the first attempt and the second."""

    def pause(self, attempts: int, *, wanted: float | None = None) -> float | None:
        """Seconds until the next attempt after so many; None if there is none. `wanted` is what the receiver asks."""
        if attempts >= self.attempts:
            return None
        doubled = self.first_pause * 2.0 ** min(max(attempts, 1) - 1, 30)
        return min(max(doubled, wanted or 0.0), LONGEST_PAUSE)
