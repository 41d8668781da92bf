"""Every foreign failure of a Gemini call as a leaf of `ModelError`: the one mapper, used around each foreign await.

Sources: https://ai.google.dev/gemini-api/docs/troubleshooting and google.rpc.Status with its details (RetryInfo,
QuotaFailure, ErrorInfo). Foreign are the SDK, httpx, httpx2, aiohttp, google-auth and the operating system; none of
them is imported before a call has loaded it.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from kesoku.errors import (
    ModelAccessDenied,
    ModelError,
    ModelInputTooLong,
    ModelKeyRejected,
    ModelNotFound,
    ModelRateLimited,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)

Stage = Literal["first_chunk", "idle"]

_LONGEST = 300
"""Characters of a foreign message that a person gets to see."""

_FOREIGN = (
    ("google.genai.errors", "APIError"),
    ("google.genai.errors", "ContinuationInterruptedError"),
    ("aiohttp", "ClientError"),
    ("httpx", "HTTPError"),
    ("httpx", "StreamError"),
    ("httpx", "InvalidURL"),
    ("httpx2", "HTTPError"),
    ("httpx2", "StreamError"),
    ("httpx2", "InvalidURL"),
    ("httpx", "CookieConflict"),
    ("httpx2", "CookieConflict"),
    ("google.auth.exceptions", "GoogleAuthError"),
)
"""Roots of the foreign trees that are not built in."""
_BUILT_IN = (OSError, ValueError, TypeError, AttributeError, LookupError)
"""The operating system's, and what the SDK lets through when an event is JSON of another shape than it expects."""


def _of(names: str, *packages: str) -> frozenset[str]:
    return frozenset(f"{package}.{name}" for name in names.split() for package in packages)


_SILENCE = _of("TimeoutError", "builtins") | _of("TimeoutException", "httpx", "httpx2")
_UNSENDABLE = _of("ValueError", "builtins") | _of(
    "InvalidURL UnsupportedProtocol LocalProtocolError CookieConflict", "httpx", "httpx2"
)
_UNREADABLE = (
    _of("UnknownApiResponseError ContinuationInterruptedError", "google")
    | _of("JSONDecodeError", "json")
    | _of("ValidationError", "pydantic_core")
)
_UNREACHED = _of("OSError", "builtins") | _of("ConnectError ProxyError", "httpx", "httpx2")
"""Kinds of failure by package and class name, so that no library is imported to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Where a failure happened: what the mapper needs to build a sentence."""

    model: str
    """The configured name."""
    wanted: str
    """The provider's name of the model."""
    secret: str
    """The API key, masked in every message."""
    stage: Stage
    """Which silence limit ran."""
    seconds: float
    """That limit."""


def foreign() -> tuple[type[Exception], ...]:
    """Everything that the mapper translates, of the libraries that are loaded by now."""
    loaded = ((sys.modules.get(module), name) for module, name in _FOREIGN)
    return (*_BUILT_IN, *(getattr(module, name) for module, name in loaded if module is not None))


@contextmanager
def foreign_errors(call: Call) -> Iterator[None]:
    """Turn any foreign exception of the body into a ModelError that has it as its cause."""
    try:
        yield
    except foreign() as error:
        raise translate(error, call) from error


def translate(error: Exception, call: Call) -> ModelError:
    """The leaf for one foreign exception."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(error).__mro__}
    if "google.APIError" in kinds:
        return _from_api(error, call)
    message = _message(error, call)
    if kinds & _SILENCE:
        return ModelTimeout(model=call.model, stage=call.stage, seconds=call.seconds)
    if "google.GoogleAuthError" in kinds:
        return ModelKeyRejected(model=call.model, message=message)
    if call.stage == "idle" or kinds & _UNREADABLE:
        return ModelStreamBroken(model=call.model, reason=message)
    if kinds & _UNSENDABLE:
        return ModelRequestRefused(model=call.model, status="before sending", message=message)
    if kinds & _UNREACHED:
        return ModelUnavailable(model=call.model, status=None, message=message)
    return ModelStreamBroken(model=call.model, reason=message)


def _message(error: Exception, call: Call, text: str | None = None) -> str:
    """One short line without the key."""
    line = " ".join((str(error) if text is None else text).split()) or type(error).__name__
    line = line.replace(call.secret, "***") if call.secret else line
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _from_api(error: Any, call: Call) -> ModelError:
    failure = _Failure(error, call)
    for applies, build in _RULES:
        if applies(failure):
            return build(failure)
    return ModelRequestRefused(model=call.model, status=failure.status, message=failure.message)


class _Failure:
    """An APIError read defensively: its body may be JSON, a list, HTML or nothing."""

    def __init__(self, error: Any, call: Call) -> None:
        self.call = call
        self.code = error.code if isinstance(error.code, int) else 0
        self.message = _message(error, call, error.message if isinstance(error.message, str) else None)
        self.status = f"{self.code} {error.status or ''}".strip()
        body = error.details.get("error") if isinstance(error.details, Mapping) else None
        details = body.get("details") if isinstance(body, Mapping) else None
        self._details = [d for d in details if isinstance(d, Mapping)] if isinstance(details, list) else []

    @property
    def reason(self) -> str:
        """`ErrorInfo.reason`, e.g. API_KEY_INVALID, or ''."""
        return next((str(detail["reason"]) for detail in self._details if "reason" in detail), "")

    @property
    def retry_after(self) -> float | None:
        """Seconds of `RetryInfo.retryDelay` ("31s", "31.5s")."""
        delays = (re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay"))) for detail in self._details)
        return next((float(found[1]) for found in delays if found), None)

    @property
    def daily(self) -> bool:
        """Whether a quota of the day is used up."""
        lists = (detail.get("violations") for detail in self._details)
        violations = (item for found in lists if isinstance(found, list) for item in found)
        return any("PerDay" in str(item.get("quotaId")) for item in violations if isinstance(item, Mapping))

    def says(self, *words: str) -> bool:
        """Whether the message holds one of the words."""
        return any(word in self.message.lower() for word in words)


_TOO_LONG = re.compile(r"input token count \((\d+)\) exceeds the maximum number of tokens allowed \((\d+)\)")


def _too_long(failure: _Failure) -> ModelError:
    found = _TOO_LONG.search(failure.message)
    tokens, limit = (int(found[1]), int(found[2])) if found else (None, None)
    return ModelInputTooLong(model=failure.call.model, tokens=tokens, limit=limit)


def _denied(reason: str, cure: str) -> Callable[[_Failure], ModelError]:
    def build(failure: _Failure) -> ModelError:
        return ModelAccessDenied(model=failure.call.model, reason=reason, message=failure.message, cure=cure)

    return build


def _key(failure: _Failure) -> ModelError:
    return ModelKeyRejected(model=failure.call.model, message=failure.message)


def _not_found(failure: _Failure) -> ModelError:
    return ModelNotFound(model=failure.call.model, wanted=failure.call.wanted, message=failure.message)


def _limited(failure: _Failure) -> ModelError:
    return ModelRateLimited(
        model=failure.call.model,
        retry_after=failure.retry_after,
        daily=failure.daily,
        message=failure.message,
    )


def _down(failure: _Failure) -> ModelError:
    return ModelUnavailable(model=failure.call.model, status=failure.code, message=failure.message)


_RULES: tuple[tuple[Callable[[_Failure], bool], Callable[[_Failure], ModelError]], ...] = (
    (lambda f: f.reason.startswith("API_KEY") or f.says("api key not valid", "api key expired"), _key),
    (lambda f: f.code == 401 or f.says("reported as leaked"), _key),
    (lambda f: f.code == 403 and f.says("unregistered callers"), _key),
    (
        lambda f: f.reason == "SERVICE_DISABLED",
        _denied("the API is switched off", "enable the Generative Language API in the key's Google Cloud project"),
    ),
    (
        lambda f: f.says("location is not supported"),
        _denied("this region is not served", "use a server in a supported region or another provider"),
    ),
    (
        lambda f: f.code == 400 and f.status.endswith("FAILED_PRECONDITION"),
        _denied("a precondition is missing", "enable billing in Google AI Studio"),
    ),
    (lambda f: f.code == 403, _denied("a right is missing", "check what the key may use in Google AI Studio")),
    (lambda f: f.code == 404, _not_found),
    (lambda f: f.code == 429, _limited),
    (lambda f: f.code == 400 and f.says("exceeds the maximum number of tokens"), _too_long),
    (lambda f: f.code == 408 or f.code >= 500, _down),
)
"""First match wins; what no rule knows is a refused request. Message texts are only asked where no code tells."""
