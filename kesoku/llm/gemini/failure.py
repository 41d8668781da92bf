"""Every foreign failure of a Gemini call as a leaf of `ModelError`: the one mapper, used around each foreign await.

Foreign are the SDK, httpx, httpx2, aiohttp, google-auth, requests and the operating system; none of them is imported
before a call has loaded it. What the API itself says is in refusal.py.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kesoku.errors import (
    ModelError,
    ModelLoginMissing,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.refusal import from_api

_FOREIGN = (
    ("google.genai.errors", "APIError"),
    ("google.genai.errors", "ContinuationInterruptedError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("aiohttp", "ClientError"),
    ("asyncio", "InvalidStateError"),
    ("asyncio", "LimitOverrunError"),
    *(
        (library, name)
        for library in ("httpx", "httpx2")
        for name in ("HTTPError", "StreamError", "InvalidURL", "CookieConflict")
    ),
)
"""Roots of the foreign trees that are not built in; requests has its root below OSError."""
_BUILT_IN = (OSError, EOFError, ValueError, TypeError, AttributeError, LookupError, RuntimeError, ImportError)
"""The operating system's, and what libraries let through when an event is of another shape than they expect, when a
client was closed under them, or when a proxy needs a package that is missing."""


def _of(names: str, *packages: str) -> frozenset[str]:
    return frozenset(f"{package}.{name}" for name in names.split() for package in packages)


_SILENCE = _of("TimeoutError", "builtins") | _of("TimeoutException", "httpx", "httpx2") | _of("Timeout", "requests")
_NO_LOGIN = _of("GoogleAuthError", "google")
_NO_LOGIN_SERVER = _of("TransportError TimeoutError ResponseError", "google")
_UNSENDABLE = _of("ValueError", "builtins") | _of(
    "InvalidURL UnsupportedProtocol LocalProtocolError CookieConflict", "httpx", "httpx2"
)
_UNREADABLE = (
    _of("UnknownApiResponseError ContinuationInterruptedError", "google")
    | _of("JSONDecodeError", "json")
    | _of("UnicodeDecodeError", "builtins")
    | _of("ValidationError", "pydantic_core")
)
_QUOTING = _of("UnknownApiResponseError", "google") | _of("ValidationError", "pydantic_core")
_UNREACHED = _of("OSError ImportError", "builtins") | _of("ConnectError ProxyError", "httpx", "httpx2")
"""Kinds of failure by package and class name, so that no library is imported to ask. What quotes the answer may quote
thoughts, which are not for everybody."""


def foreign() -> tuple[type[Exception], ...]:
    """Everything that the mapper translates, of the libraries that are loaded by now, or in part."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in _FOREIGN)
    return (*_BUILT_IN, *(kind for kind in found if kind is not None))


@contextmanager
def foreign_errors(call: Call) -> Iterator[None]:
    """Turn any foreign exception of the body into a ModelError.

    It has the foreign one as its cause, unless a log of that would hold the key.
    """
    try:
        yield
    except foreign() as error:
        raise translate(error, call) from (None if call.betrayed_by(error) else error)


def translate(error: Exception, call: Call) -> ModelError:
    """The leaf for one foreign exception."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(error).__mro__}
    if "google.APIError" in kinds:
        return from_api(error, call)
    told = error.args[0] if kinds & _NO_LOGIN and error.args else error
    told = "it cannot be read" if kinds & _QUOTING else told
    message = call.line(str(told) or type(error).__name__)
    if kinds & _SILENCE:
        return ModelTimeout(model=call.model, stage=call.stage, seconds=call.seconds)
    if kinds & _NO_LOGIN_SERVER or (kinds & _NO_LOGIN and getattr(error, "retryable", False)):
        return ModelUnavailable(model=call.model, status=None, message=message)
    if kinds & _NO_LOGIN:
        return ModelLoginMissing(model=call.model, message=message)
    if call.stage == "idle" or kinds & _UNREADABLE:
        return ModelStreamBroken(model=call.model, reason=message)
    if kinds & _UNREACHED:
        return ModelUnavailable(model=call.model, status=None, message=message)
    if kinds & _UNSENDABLE:
        return ModelRequestRefused(model=call.model, status="before sending", message=message)
    return ModelStreamBroken(model=call.model, reason=message)
