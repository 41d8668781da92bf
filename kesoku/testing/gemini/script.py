"""What a loopback Gemini can be told to answer: plain values, one for each request, in order.

server.script(
    Answer(Think("hm"), Call("current_time")),             # a step that calls a tool
    rate_limited(seconds=31),                              # 429 with RetryInfo, before any stream
    Answer(Say("It is "), then=Reset()),                   # the connection breaks in the middle
    Answer(Say("It is noon.")),
)
server.script(Refusal(500, "INTERNAL", "Try again."), on="upload")   # other requests have scripts of their own
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
class Cut:
    """Among the parts: the stream ends here with finishReason CONTINUATION and a token that fetches the rest."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset (RST): after the parts of an answer, or in its place before any header."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence until the client leaves: after the parts of an answer, or in its place before any header."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What the server does without a script, once."""


@dataclass(frozen=True, slots=True)
class Processing:
    """For an upload: the file is accepted, and is PROCESSING for `polls` look-ups."""

    polls: int = 2
    error: str | None = None
    """Why it is FAILED afterwards; None makes it ACTIVE."""


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error event inside the open stream, after the parts."""

    code: int = 503
    status: str = "UNAVAILABLE"
    message: str = "The model is overloaded. Please try again later."


@dataclass(frozen=True, slots=True, init=False)
class Answer:
    """A stream of parts and how it ends."""

    parts: tuple[Say | Think | Call | Part | Cut, ...]
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
        *parts: Say | Think | Call | Part | Cut,
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
    then: Reset | Hang | None = None
    """A fault after them."""


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
    array: bool = False
    """Whether the body is a list with the error in it, as some gateways send it."""

    def json(self) -> Any:
        """The body that the API sends."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        body = {"error": {**error, "details": list(self.details)} if self.details else error}
        return [body] if self.array else body


Scripted = Answer | Blocked | Events | Raw | Refusal | Reset | Hang | Usual | Processing
"""What can stand in a script. Answer, Blocked and Events are for "generate", Processing is for "upload"."""

NO_CANDIDATE = Events(({"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}},))
"""Nothing but usage."""
NO_CONTENT = Events(({"candidates": [{"finishReason": "STOP", "index": 0}]},))
"""A candidate that ends without content."""
NO_PARTS = Events(({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}]},))
"""A candidate whose content has no parts."""
HTML_502 = Raw(b"<html><body><h1>502 Bad Gateway</h1></body></html>", status=502)
"""What a gateway says when nobody is behind it."""
BROKEN_JSON = Raw(b'data: {"candidates": [{"content"\r\n\r\n', content_type="text/event-stream")
"""200, and an event that breaks off in the middle."""

_RPC = "type.googleapis.com/google.rpc."
_SERVICE = "generativelanguage.googleapis.com"


def invalid(message: str) -> Refusal:
    """400 INVALID_ARGUMENT."""
    return Refusal(400, "INVALID_ARGUMENT", message)


def rate_limited(
    *, seconds: float | None = 31, daily: bool = False, model: str = "gemini-3.5-flash", limit: int = 10
) -> Refusal:
    """429 with the quota that is used up and, unless None, the pause that the server asks for."""
    period = "Day" if daily else "Minute"
    quota = {
        "quotaMetric": f"{_SERVICE}/generate_content_free_tier_requests",
        "quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier",
        "quotaDimensions": {"location": "global", "model": model},
        "quotaValue": str(limit),
    }
    details: list[Mapping[str, Any]] = [
        {"@type": f"{_RPC}QuotaFailure", "violations": [quota]},
        {"@type": f"{_RPC}Help", "links": []},
    ]
    if seconds is not None:
        details.append({"@type": f"{_RPC}RetryInfo", "retryDelay": f"{seconds:g}s"})
    return Refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", tuple(details))


def exhausted() -> Refusal:
    """429 as Vertex AI sends it: neither a quota nor a pause is named."""
    return Refusal(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.")


def overloaded() -> Refusal:
    """503, before any stream."""
    return Refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")


def internal() -> Refusal:
    """500."""
    return Refusal(500, "INTERNAL", "An internal error has occurred. Please retry.")


def too_slow() -> Refusal:
    """504."""
    return Refusal(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.")


def key_unknown() -> Refusal:
    """400: the key is not valid."""
    return _key("API key not valid. Please pass a valid API key.")


def key_expired() -> Refusal:
    """400: the key was valid once."""
    return _key("API key expired. Please renew the API key.")


def key_leaked() -> Refusal:
    """403: the key was found in public and is switched off."""
    return Refusal(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key.")


def region_refused() -> Refusal:
    """400: the API is not offered where the client is."""
    return Refusal(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")


def api_disabled(*, service: str = "generativelanguage.googleapis.com", project: str = "123456789") -> Refusal:
    """403: the API is not switched on in the project; the details name the page that does it."""
    url = f"https://console.developers.google.com/apis/api/{service}/overview?project={project}"
    facts = {"service": service, "consumer": f"projects/{project}", "activationUrl": url}
    message = (
        f"{service} has not been used in project {project} before or it is disabled. Enable it by visiting {url} then "
        "retry. If you enabled this API recently, wait a few minutes and retry."
    )
    info = {"@type": f"{_RPC}ErrorInfo", "reason": "SERVICE_DISABLED", "domain": "googleapis.com", "metadata": facts}
    link = {"description": "Google developers console API activation", "url": url}
    return Refusal(403, "PERMISSION_DENIED", message, (info, {"@type": f"{_RPC}Help", "links": [link]}))


def file_refused(name: str) -> Refusal:
    """403: the file is expired, deleted, somebody else's, or never was."""
    text = f"You do not have permission to access the File {name} or it may not exist."
    return Refusal(403, "PERMISSION_DENIED", text)


def cache_refused() -> Refusal:
    """403: the cached content is expired, deleted, somebody else's, or never was."""
    return Refusal(403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")


def signature_refused() -> Refusal:
    """400: a thought signature is not the one that was given out for its part."""
    return invalid("Corrupted thought signature.")


def _key(message: str) -> Refusal:
    info = {"@type": f"{_RPC}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    return Refusal(400, "INVALID_ARGUMENT", message, (info,))
