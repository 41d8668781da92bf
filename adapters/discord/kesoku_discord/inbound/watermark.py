"""How far everything has been handled: the cursor from which a restart reads on. Pure.

Messages of several channels are in work side by side and end in any order. The cursor never passes one that is not
ended, so a crash loses nothing; what lies above it is read again, and known by its id.
"""

from kesoku_discord.snowflake import span


class Watermark:
    """Which message ids are in work, and what follows from it. Memory grows with those in work alone."""

    def __init__(self, *, horizon: float = 86_400.0, every: float = 30.0) -> None:
        """A failed message holds the cursor back for at most `horizon` seconds; one that nothing else stores is `due`
        when it has moved by `every` seconds."""
        self._horizon, self._every = span(horizon), span(every)
        self._working: set[int] = set()
        self._failed: int | None = None
        self._highest = 0
        self._stored = 0
        self._held = True

    def start(self, seen: int, newest: int = 0) -> None:
        """Go on from a stored cursor, and stay there until `release`: what was missed is being read, up to `newest`."""
        self._stored, self._held, self._failed = max(seen, 0), True, None
        self._highest = max(self._highest, self._stored, newest)

    def release(self) -> None:
        """What was missed has been read: the cursor moves again."""
        self._held = False

    def begin(self, message_id: int) -> None:
        """A message is in work."""
        self._working.add(message_id)

    def done(self, message_id: int) -> int:
        """A message is handled, or is nothing to us; returns the cursor."""
        self._working.discard(message_id)
        self._highest = max(self._highest, message_id)
        return self.cursor()

    def read(self, message_id: int) -> None:
        """A message is handled that history told. What is younger elsewhere may not have come yet, so the cursor does
        not follow it beyond what was the newest at the start."""
        self._working.discard(message_id)

    def failed(self, message_id: int) -> None:
        """A message could not be handled: the cursor stays below it, so that it is read again."""
        self._working.discard(message_id)
        self._failed = message_id if self._failed is None else min(self._failed, message_id)

    def cursor(self, finishing: int | None = None) -> int:
        """The highest id up to which all is handled; `finishing` is counted as handled: it is stored in that commit."""
        if self._held:
            return self._stored
        highest = max(self._highest, finishing or 0)
        below = [each for each in self._working if each != finishing]
        if self._failed is not None and self._failed > highest - self._horizon:
            below.append(self._failed)
        return max(self._stored, min([highest, *(each - 1 for each in below)]))

    def store(self, cursor: int) -> None:
        """This cursor was stored."""
        self._stored = max(self._stored, cursor)

    def due(self) -> bool:
        """Whether the cursor has moved so far that it should be stored on its own."""
        return self.cursor() - self._stored >= self._every
