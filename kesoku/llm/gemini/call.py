"""Where a foreign call happens, and how what it says becomes one line without the key."""

import re
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["first_chunk", "idle"]

_LONGEST = 300
"""Characters of a foreign message that a person gets to see."""
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Where a failure happened: what the mapper needs to build a sentence."""

    model: str
    """The configured name."""
    wanted: str
    """The provider's name of the model."""
    secret: str
    """The API key, masked in every message; '' where the machine's login takes its place."""
    stage: Stage
    """Which silence limit ran."""
    seconds: float
    """That limit."""
    now: Callable[[], float] = time.time
    """The wall clock, seconds since 1970."""

    def line(self, text: str) -> str:
        """`text` on one line, short, without the key; of a web page its words only."""
        masked = self._masked(text)
        words = _TAG.sub(" ", masked) if masked.lstrip().startswith("<") else masked
        line = " ".join(words.split())
        return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"

    def betrayed_by(self, error: BaseException) -> bool:
        """Whether a log that prints `error` and its causes would hold the key."""
        printed = "".join(traceback.format_exception(error))
        return any(spelling in printed for spelling in self._spellings())

    def _masked(self, text: str) -> str:
        for spelling in self._spellings():
            text = text.replace(spelling, "***")
        return text

    def _spellings(self) -> list[str]:
        """The key, and how Python prints one with odd characters in it; the longest first."""
        if not self.secret:
            return []
        data = self.secret.encode("utf-8", "surrogatepass")
        spelled = {self.secret, repr(self.secret)[1:-1], ascii(self.secret)[1:-1], repr(data)[2:-1]}
        return sorted(spelled, key=len, reverse=True)
