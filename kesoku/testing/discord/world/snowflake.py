"""Ids as Discord makes them: they grow, and say when they were made."""

from collections.abc import Callable

EPOCH = 1_420_070_400_000
"""Milliseconds of the epoch at which Discord's time begins."""


class Snowflakes:
    """Makes ids that grow strictly. `now` gives seconds of the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now, self._last, self._number = now, 0, 0

    def next(self) -> int:
        """The id of something made now."""
        self._last = max(self._last + 1, _bits(self._now()))
        return self._last

    def before(self, seconds: float) -> int:
        """The id of something made `seconds` ago."""
        self._number += 1
        return _bits(self._now() - seconds) + self._number


def seconds_of(snowflake: int) -> float:
    """When the id was made, in seconds of the epoch."""
    return ((snowflake >> 22) + EPOCH) / 1000


def _bits(seconds: float) -> int:
    return int(seconds * 1000 - EPOCH) << 22
