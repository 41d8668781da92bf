"""A loopback Gemini for tests of your own: see `LoopbackGemini`."""

from kesoku.testing.gemini.script import (
    Answer,
    Blocked,
    Call,
    ErrorEvent,
    Events,
    Hang,
    Part,
    Raw,
    Refusal,
    Reset,
    Say,
    Think,
    overloaded,
    rate_limited,
)
from kesoku.testing.gemini.server import LoopbackGemini, Seen

__all__ = [
    "Answer",
    "Blocked",
    "Call",
    "ErrorEvent",
    "Events",
    "Hang",
    "LoopbackGemini",
    "Part",
    "Raw",
    "Refusal",
    "Reset",
    "Say",
    "Seen",
    "Think",
    "overloaded",
    "rate_limited",
]
