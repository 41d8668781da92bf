"""Who is dead, as a test says."""


class NullPresence:
    """Knows only what it is told: owners in `dead` are dead, those in `alive` live, and all others may live."""

    def __init__(self) -> None:
        self.dead: set[str] = set()
        self.alive: set[str] = set()

    def is_dead(self, owner: str) -> bool:
        """Whether the test declared this owner dead."""
        return owner in self.dead

    def is_alive(self, owner: str) -> bool:
        """Whether the test declared that this owner lives."""
        return owner in self.alive
