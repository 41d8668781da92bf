"""What a press of Ctrl-C means."""

from enum import StrEnum

WINDOW = 2.0
"""Seconds in which a second press leaves."""


class Press(StrEnum):
    """The meaning of one Ctrl-C."""

    INTERRUPT = "interrupt"
    """Stop the running turn."""
    WARN = "warn"
    """Nothing runs: say that a second press leaves."""
    LEAVE = "leave"
    """The second press within the window."""


class Interrupts:
    """Tells the first Ctrl-C from the second. Pure: the caller brings the time in seconds."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def press(self, now: float, busy: bool) -> Press:
        """Take one press; `busy` says whether a turn runs."""
        again = now - self._last <= WINDOW
        self._last = now
        if again:
            return Press.LEAVE
        return Press.INTERRUPT if busy else Press.WARN
