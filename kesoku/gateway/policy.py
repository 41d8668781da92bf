"""What the gateway decides by: who may interrupt, how much is taken in, how long a claim holds."""

from dataclasses import dataclass
from enum import StrEnum

SECOND = 1_000_000
"""One second in microseconds."""

LEASE = 30 * SECOND
"""How long a claim holds unless it is renewed (C-32)."""

STRANDED = 300 * SECOND
"""A row in processing without a lease is taken back when it is strictly older (K-163, K-164)."""

FAILURES = 3
"""So many crashes of one prompt make it poison: it goes to error and the person is told (store rule 3)."""


class Busy(StrEnum):
    """What a human prompt does to the turn that runs in its channel (C-42)."""

    INTERRUPT = "interrupt"
    """It ends the turn and takes its place."""
    QUEUE = "queue"
    """It waits for the end of the turn."""
    STEER = "steer"
    """It joins the turn at its next step."""


class InterruptBy(StrEnum):
    """Whose prompt may end a running turn (complaint of shared channels, C-31)."""

    ANYONE = "anyone"
    """Everyone who may talk in the channel."""
    SAME_SENDER = "same_sender"
    """Only the person whose prompt runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyPolicy:
    """How a prompt meets a running turn."""

    busy: Busy = Busy.INTERRUPT
    interrupt_by: InterruptBy = InterruptBy.ANYONE


@dataclass(frozen=True, slots=True, kw_only=True)
class FloodBounds:
    """How much is taken in. Rates count what was stored in the last 60 seconds; `queued_total` is one bot's."""

    per_person_per_minute: int = 30
    per_channel_per_minute: int = 60
    queued_per_channel: int = 20
    queued_total: int = 100_000
