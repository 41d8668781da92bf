"""What the config sets for taking messages in and bringing them out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakePolicy:
    """How messages of people are taken in."""

    file_bytes: int = 50_000_000
    """Size of one file that is kept; an adapter may ask for less."""
    per_person_per_minute: int = 30
    """Commands, presses and answers to questions that are taken from one person; messages are the gateway's."""
    timezone: str = "UTC"
    """IANA name of the zone in which headers tell the time (N-13)."""
    timezone_label: str = ""
    """Shown in headers instead of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPolicy:
    """How messages are brought out; times in seconds."""

    max_age: float = 86_400.0
    """A message that waited longer is held instead of sent (complaint 20)."""
    send_timeout: float = 60.0
    """A send without an outcome for so long is ambiguous."""
    first_retry: float = 1.0
    """The wait after a first failure; it doubles from there."""
    longest_retry: float = 300.0
    """The longest wait between attempts."""
    typing_every: float = 5.0
    """How often typing is shown anew while a turn runs."""
    typing_limit: float = 600.0
    """A turn shows typing no longer than this (complaint 92)."""
    tick: float = 5.0
    """How often a live status is told the time."""
    drain_seconds: float = 5.0
    """At a shutdown, sends that are under way may take this long to end; new ones do not begin."""
    live_every: float = 1.2
    """The shortest time between two drawings of one live status."""
