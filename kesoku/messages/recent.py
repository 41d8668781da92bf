"""What was met lately, in bounded memory."""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Recent(Generic[K]):
    """A set that forgets the oldest ones beyond `limit`."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._known: dict[K, None] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def add(self, *keys: K) -> None:
        """Remember these, as the newest ones if they are new."""
        self._known.update(dict.fromkeys(keys))
        while len(self._known) > self._limit:
            self._known.pop(next(iter(self._known)))
