"""How often the hooks of a process look around, and how long they rest."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The times of all hooks of a process; a program of one's own may want others."""

    tick: float = 1.0
    """Seconds between two looks for what is due, and for a hook whose process died."""
    rest: float = 5.0
    """Seconds until a hook that broke down begins again."""
    passed: int = 1000
    """Events that may pass by a hook until its cursor is stored: so many are looked through again after a crash."""
