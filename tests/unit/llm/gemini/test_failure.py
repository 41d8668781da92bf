"""The one mapper knows every foreign exception, and tells the causes apart that people can cure."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import google.auth.exceptions
import google.genai.errors
import pytest
from google.genai.errors import APIError

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
from kesoku.llm.gemini.failure import Call, foreign, foreign_errors, translate
from kesoku.testing.gemini.script import overloaded, rate_limited

FIRST = Call(model="g", wanted="gemini-x", secret="SECRET", stage="first_chunk", seconds=3)
IDLE = Call(model="g", wanted="gemini-x", secret="SECRET", stage="idle", seconds=4)
LIBRARIES = ("aiohttp", "httpx", "httpx2", "httpcore2", "google.genai", "google.auth", "ssl", "socket", "json")
NOT_RAISED_BY_CALLS = {
    "httpcore2": "httpx2 maps them to its own",
    "google.genai._interactions": "another API",
    "google.genai._gaos": "another API",
    "aiohttp._websocket": "another protocol",
    "aiohttp.client_exceptions.WS": "another protocol",
    "aiohttp.streams.EofStream": "inside the library only",
    "socket._": "inside the library only",
}


def exceptions() -> Iterator[type[Exception]]:
    """Every exception class that the libraries define, by module walk."""
    for library in LIBRARIES:
        root = importlib.import_module(library)
        paths = getattr(root, "__path__", None)
        names = [found.name for found in pkgutil.iter_modules(paths, f"{library}.")] if paths else []
        for name in [library, *(n for n in names if n.rpartition(".")[2].strip("_") in {"exceptions", "errors"})]:
            module = importlib.import_module(name)
            for value in vars(module).values():
                if isinstance(value, type) and issubclass(value, Exception) and value.__module__.startswith(library):
                    yield value


FOUND = sorted({f"{kind.__module__}.{kind.__qualname__}": kind for kind in exceptions()}.items())


def test_the_walk_finds_the_exceptions() -> None:
    names = {name.rpartition(".")[2] for name, _ in FOUND}
    assert {"ClientPayloadError", "ReadError", "APIError", "UnknownApiResponseError", "RefreshError"} <= names


@pytest.mark.parametrize(("name", "kind"), FOUND, ids=[name for name, _ in FOUND])
def test_every_foreign_exception_is_caught(name: str, kind: type[Exception]) -> None:
    if any(name.startswith(module) for module in NOT_RAISED_BY_CALLS) or issubclass(kind, Warning):
        return
    assert issubclass(kind, foreign()), f"{name} would escape"
    if issubclass(kind, APIError):
        return
    bare = {"__init__": lambda self: None, "__str__": lambda self: "the SECRET key", "__module__": kind.__module__}
    leaf = translate(type(kind.__name__, (kind,), bare)(), IDLE)
    assert type(leaf) is not ModelError
    assert "SECRET" not in str(leaf)


@pytest.mark.parametrize("kind", [OSError, ConnectionResetError, TimeoutError, ValueError, UnicodeEncodeError])
def test_built_in_exceptions_are_caught(kind: type[Exception]) -> None:
    assert issubclass(kind, foreign())


def api(code: int, status: str, message: str, details: Any = None) -> APIError:
    body = {"error": {"code": code, "status": status, "message": message, "details": details}}
    return APIError(code, body)


REASON = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
DISABLED = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED"}]


@pytest.mark.parametrize(
    ("error", "leaf", "retryable"),
    [
        (api(400, "INVALID_ARGUMENT", "API key not valid.", REASON), ModelKeyRejected, False),
        (api(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), ModelKeyRejected, False),
        (api(401, "UNAUTHENTICATED", "no"), ModelKeyRejected, False),
        (api(403, "PERMISSION_DENIED", "Your API key was reported as leaked."), ModelKeyRejected, False),
        (api(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers"), ModelKeyRejected, False),
        (api(403, "PERMISSION_DENIED", "API has not been used", DISABLED), ModelAccessDenied, False),
        (api(403, "PERMISSION_DENIED", "You do not have permission to access the File"), ModelAccessDenied, False),
        (
            api(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
            ModelAccessDenied,
            False,
        ),
        (api(400, "FAILED_PRECONDITION", "Enable billing"), ModelAccessDenied, False),
        (api(404, "NOT_FOUND", "models/x is not found"), ModelNotFound, False),
        (api(400, "INVALID_ARGUMENT", "Please ensure that the number …"), ModelRequestRefused, False),
        (api(413, "TOO_LARGE", "too large"), ModelRequestRefused, False),
        (api(429, "RESOURCE_EXHAUSTED", "quota"), ModelRateLimited, True),
        (api(500, "INTERNAL", "oops"), ModelUnavailable, True),
        (api(503, "UNAVAILABLE", "busy"), ModelUnavailable, True),
        (api(504, "DEADLINE_EXCEEDED", "slow"), ModelUnavailable, True),
        (APIError(502, {"message": "<html>\n<b>Bad</b>", "status": "Bad Gateway"}), ModelUnavailable, True),
        (APIError(502, "text"), ModelUnavailable, True),
        (APIError(500, [overloaded().json()]), ModelUnavailable, True),
        (APIError(400, {"error": {"details": [1, {"violations": 5}, None]}}), ModelRequestRefused, False),
    ],
)
def test_every_api_error_becomes_its_leaf(error: APIError, leaf: type[ModelError], retryable: bool) -> None:
    found = translate(error, FIRST)
    assert type(found) is leaf
    assert found.retryable is retryable
    assert found.model == "g"
    assert "\n" not in str(found)


def test_rate_limits_say_when() -> None:
    soon = translate(APIError(429, rate_limited(seconds=31.5).json()), FIRST)
    assert isinstance(soon, ModelRateLimited)
    assert (soon.retry_after, soon.daily, soon.retryable) == (31.5, False, True)
    assert "31.5 s" in str(soon)
    daily = translate(APIError(429, rate_limited(seconds=None, daily=True).json()), FIRST)
    assert isinstance(daily, ModelRateLimited)
    assert (daily.retry_after, daily.daily, daily.retryable) == (None, True, False)
    assert "midnight Pacific" in str(daily)


def test_a_long_conversation_is_told_apart() -> None:
    message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    found = translate(api(400, "INVALID_ARGUMENT", message), FIRST)
    assert isinstance(found, ModelInputTooLong)
    assert (found.tokens, found.limit) == (1_200_000, 1_048_576)


def test_silence_names_the_limit() -> None:
    for call in (FIRST, IDLE):
        found = translate(TimeoutError(), call)
        assert isinstance(found, ModelTimeout)
        assert (found.stage, found.seconds) == (call.stage, call.seconds)
        assert f"{call.stage}_seconds in [models.g]" in str(found)


def test_no_connection_is_unavailable_and_a_torn_one_is_broken() -> None:
    import httpx2

    request = httpx2.Request("POST", "http://x")
    assert type(translate(httpx2.ConnectError("refused", request=request), FIRST)) is ModelUnavailable
    assert type(translate(httpx2.ReadError("reset", request=request), FIRST)) is ModelStreamBroken
    assert type(translate(httpx2.ConnectError("refused", request=request), IDLE)) is ModelStreamBroken
    assert type(translate(httpx2.ReadTimeout("slow", request=request), IDLE)) is ModelTimeout


def test_the_key_is_masked_and_the_text_is_short() -> None:
    found = translate(api(400, "INVALID_ARGUMENT", f"key SECRET\nbad {'x' * 1000}"), FIRST)
    assert "SECRET" not in str(found)
    assert len(str(found)) < 400


def test_the_cause_is_kept_and_our_own_errors_pass() -> None:
    with pytest.raises(ModelUnavailable) as caught, foreign_errors(FIRST):
        raise ConnectionRefusedError("no")
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    with pytest.raises(ModelNotFound), foreign_errors(FIRST):
        raise ModelNotFound(model="g", wanted="w", message="m")


def test_modules_are_the_ones_that_the_mapper_names() -> None:
    assert google.genai.errors.APIError in foreign()
    assert google.auth.exceptions.GoogleAuthError in foreign()
