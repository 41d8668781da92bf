"""Who is dead, as a test says."""


class NullPresence:
    """Knows only what it is told: owners in `dead` are dead, all others may live."""

    def __init__(self) -> None:
        self.dead: set[str] = set()

    def is_dead(self, owner: str) -> bool:
        """Whether the test declared this owner dead."""
        return owner in self.dead
