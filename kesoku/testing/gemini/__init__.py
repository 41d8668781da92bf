"""A loopback Gemini for tests of your own: see `LoopbackGemini`.

`server.py` is the server, `rules.py` its options, `script.py` what it can be told to answer. A request comes in by
`request.py` and `door.py` and is held against `shape.py`, `grammar.py`, `media.py`, `quota.py` and `estimate.py`;
`generation.py` puts these together. `brain.py` answers without a script, `stream.py` sends, `continuation.py` goes on.
`file.py`, `cache.py` and `vertex.py` are the services beside the models.
"""

from kesoku.testing.gemini.cache import StoredCache
from kesoku.testing.gemini.file import StoredFile
from kesoku.testing.gemini.request import Kind, Seen
from kesoku.testing.gemini.script import (
    BROKEN_JSON,
    HTML_502,
    NO_CANDIDATE,
    NO_CONTENT,
    NO_PARTS,
    Answer,
    Blocked,
    Call,
    Cut,
    ErrorEvent,
    Events,
    Hang,
    Part,
    Processing,
    Raw,
    Refusal,
    Reset,
    Say,
    Scripted,
    Think,
    Usual,
    api_disabled,
    exhausted,
    internal,
    key_expired,
    key_leaked,
    key_unknown,
    overloaded,
    rate_limited,
    region_refused,
    too_slow,
)
from kesoku.testing.gemini.server import LoopbackGemini

__all__ = [
    "BROKEN_JSON",
    "HTML_502",
    "NO_CANDIDATE",
    "NO_CONTENT",
    "NO_PARTS",
    "Answer",
    "Blocked",
    "Call",
    "Cut",
    "ErrorEvent",
    "Events",
    "Hang",
    "Kind",
    "LoopbackGemini",
    "Part",
    "Processing",
    "Raw",
    "Refusal",
    "Reset",
    "Say",
    "Scripted",
    "Seen",
    "StoredCache",
    "StoredFile",
    "Think",
    "Usual",
    "api_disabled",
    "exhausted",
    "internal",
    "key_expired",
    "key_leaked",
    "key_unknown",
    "overloaded",
    "rate_limited",
    "region_refused",
    "too_slow",
]
