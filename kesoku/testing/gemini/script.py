"""What a loopback Gemini can be told to answer: plain values, one for each request, in order.

server.script(
    Answer(Think("hm"), Call("current_time")),             # a step that calls a tool
    rate_limited(seconds=31),                              # 429 with RetryInfo, before any stream
    Answer(Say("It is "), then=Reset()),                   # the connection breaks in the middle
    Answer(Say("It is noon.")),
)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """Answer text. Sent in pieces of `piece` characters; 0 sends it whole."""

    text: str
    piece: int = 3
    signed: bool = False
    """Whether the last piece carries a signature itself."""


@dataclass(frozen=True, slots=True)
class Think:
    """A thought summary."""

    text: str
    piece: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A function call. `id` None: the server's habit (`call_ids`) decides; '': none is given."""

    name: str
    args: Mapping[str, Any] | None = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Any part, in the API's own words, e.g. {"inlineData": …}; sent as it is."""

    json: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset (RST) after the parts."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence after the parts, until the client leaves."""


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error event inside the open stream, after the parts."""

    code: int = 503
    status: str = "UNAVAILABLE"
    message: str = "The model is overloaded. Please try again later."


@dataclass(frozen=True, slots=True, init=False)
class Answer:
    """A stream of parts and how it ends."""

    parts: tuple[Say | Think | Call | Part, ...]
    finish: str | None
    """The finish reason; None ends politely without one."""
    message: str | None
    """`finishMessage`."""
    gap: float
    """Seconds between two events."""
    then: Reset | Hang | ErrorEvent | None
    """A fault in place of the finish."""
    sign: bool
    """Whether an answer without calls ends with a signed part of empty text."""

    def __init__(
        self,
        *parts: Say | Think | Call | Part,
        finish: str | None = "STOP",
        message: str | None = None,
        gap: float = 0.0,
        then: Reset | Hang | ErrorEvent | None = None,
        sign: bool = True,
    ) -> None:
        for name, value in {
            "parts": parts,
            "finish": finish,
            "message": message,
            "gap": gap,
            "then": then,
            "sign": sign,
        }.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Blocked:
    """The prompt is refused: no candidate, `promptFeedback.blockReason`."""

    reason: str = "SAFETY"


@dataclass(frozen=True, slots=True)
class Events:
    """These JSON values as events, exactly; () is a 200 with an empty body."""

    events: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Raw:
    """Any HTTP answer, exactly: a gateway's HTML, broken JSON, comments."""

    body: bytes
    status: int = 200
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A google.rpc error in place of a stream."""

    code: int
    status: str
    message: str
    details: tuple[Mapping[str, Any], ...] = ()

    def json(self) -> dict[str, Any]:
        """The body that the API sends."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        return {"error": {**error, "details": list(self.details)} if self.details else error}


Scripted = Answer | Blocked | Events | Raw | Refusal

NO_CANDIDATE = Events(({"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}},))
NO_CONTENT = Events(({"candidates": [{"finishReason": "STOP", "index": 0}]},))
NO_PARTS = Events(({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}]},))
HTML_502 = Raw(b"<html><body><h1>502 Bad Gateway</h1></body></html>", status=502)


def rate_limited(*, seconds: float | None = 31, daily: bool = False) -> Refusal:
    """429 with the quota that is used up and, unless None, the pause that the server asks for."""
    period = "Day" if daily else "Minute"
    quota = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier",
        "quotaDimensions": {"location": "global", "model": "gemini-3.5-flash"},
        "quotaValue": "10",
    }
    details: list[Mapping[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]},
        {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
    ]
    if seconds is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"})
    return Refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", tuple(details))


def overloaded() -> Refusal:
    """503, before any stream."""
    return Refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
