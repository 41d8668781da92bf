"""What event hooks could not deliver."""

from typing import Protocol

from kesoku.messages.hook_failure import HookFailure


class HookStore(Protocol):
    """Failures of event hooks, by hook and event, as one transaction sees them."""

    def put(self, failure: HookFailure) -> None:
        """Store a failure, in place of an earlier one of the same hook and event."""
        ...

    def forget(self, hook: str, event_seq: int) -> None:
        """The event was taken after all, or is gone; nothing happens if it is not there."""
        ...

    def due(self, hook: str, *, at: int, limit: int) -> list[HookFailure]:
        """Failures to be tried again at `at` or before, the longest due first."""
        ...

    def of(self, hook: str, *, limit: int) -> list[HookFailure]:
        """The failures of a hook: first those that wait, by the time of their next attempt, then those given up."""
        ...

    def count(self, hook: str) -> tuple[int, int]:
        """How many failures wait, and how many were given up."""
        ...

    def retry(self, hook: str, *, at: int) -> int:
        """Make every failure due at `at`; what was given up begins anew. Returns how many there are."""
        ...
