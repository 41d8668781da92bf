"""What was met lately, in bounded memory."""


class Recent:
    """A set of strings that forgets the oldest ones beyond `limit`."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._known: dict[str, None] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def add(self, *keys: str) -> None:
        """Remember these, as the newest ones if they are new."""
        self._known.update(dict.fromkeys(keys))
        while len(self._known) > self._limit:
            self._known.pop(next(iter(self._known)))
