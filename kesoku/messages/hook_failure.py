"""What is kept of an event that an event hook did not take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFailure:
    """One event that waits to be tried again, or was given up. Times are integer microseconds since 1970."""

    hook: str
    """The name of the `[[hooks]]` table."""
    event_seq: int
    """The event's place in the log."""
    message_id: str
    attempts: int
    """How often it was tried."""
    next_at: int | None
    """When it is tried again; None once it was given up."""
    error: str
    """One line about the last attempt, without secrets."""
    at: int
    """When it was tried last."""
