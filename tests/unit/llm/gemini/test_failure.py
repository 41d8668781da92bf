"""The one mapper knows every foreign exception, and tells the causes apart that people can cure."""

import asyncio
import builtins
import importlib
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import google.auth.exceptions
import google.genai.errors
import pytest
from google.genai.errors import APIError, UnknownApiResponseError
from google.genai.types import GenerateContentResponse

from kesoku.errors import (
    ModelAccessDenied,
    ModelError,
    ModelInputTooLong,
    ModelKeyRejected,
    ModelLoginMissing,
    ModelNotFound,
    ModelRateLimited,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.errors.duration import duration
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.failure import foreign, foreign_errors, translate
from kesoku.llm.gemini.refusal import day_end
from kesoku.testing.gemini.script import exhausted, overloaded, rate_limited

FIRST = Call(model="g", wanted="gemini-x", secret="SECRET", stage="first_chunk", seconds=3)
IDLE = Call(model="g", wanted="gemini-x", secret="SECRET", stage="idle", seconds=4)
LIBRARIES = (
    "google.genai.errors",
    "google.auth.exceptions",
    "httpx2",
    "httpx",
    "aiohttp",
    "requests.exceptions",
    "asyncio.exceptions",
    "ssl",
    "socket",
    "json",
)
HTTPX = "CloseError DecodingError HTTPError HTTPStatusError NetworkError ProtocolError ReadError RemoteProtocolError"
HTTPX += " RequestError RequestNotRead ResponseNotRead StreamClosed StreamConsumed StreamError TooManyRedirects"
HTTPX += " TransportError WriteError"
SILENCE = "ConnectTimeout PoolTimeout ReadTimeout TimeoutException WriteTimeout"
TABLE: dict[type[ModelError], dict[str, str]] = {
    ModelRequestRefused: {
        "google": "UnknownFunctionCallArgumentError UnsupportedFunctionError FunctionInvocationError",
        "httpx": "InvalidURL UnsupportedProtocol LocalProtocolError CookieConflict",
        "httpx2": "InvalidURL UnsupportedProtocol LocalProtocolError CookieConflict",
        "aiohttp": "InvalidURL InvalidUrlClientError InvalidUrlRedirectClientError",
        "builtins": "ValueError UnicodeError UnicodeEncodeError UnicodeTranslateError",
    },
    ModelStreamBroken: {
        "google": "UnknownApiResponseError ContinuationInterruptedError",
        "httpx": HTTPX,
        "httpx2": f"{HTTPX} SSEError",
        "aiohttp": "ClientConnectionError ClientError ClientHttpProxyError ClientPayloadError ClientResponseError "
        "ContentTypeError NonHttpUrlClientError NonHttpUrlRedirectClientError RedirectClientError "
        "ServerConnectionError ServerDisconnectedError ServerFingerprintMismatch TooManyRedirects UploadAbortedError "
        "WSMessageTypeError WSServerHandshakeError",
        "requests": "JSONDecodeError",
        "json": "JSONDecodeError",
        "asyncio": "BrokenBarrierError IncompleteReadError InvalidStateError LimitOverrunError "
        "SendfileNotAvailableError",
        "builtins": "EOFError TypeError AttributeError LookupError IndexError KeyError RuntimeError RecursionError "
        "NotImplementedError UnicodeDecodeError",
    },
    ModelTimeout: {
        "httpx": SILENCE,
        "httpx2": SILENCE,
        "aiohttp": "ConnectionTimeoutError ServerTimeoutError SocketTimeoutError",
        "requests": "ConnectTimeout ReadTimeout Timeout",
        "builtins": "TimeoutError",
    },
    ModelUnavailable: {
        "google": "TransportError TimeoutError ResponseError",
        "httpx": "ConnectError ProxyError",
        "httpx2": "ConnectError ProxyError",
        "aiohttp": "ClientConnectionResetError ClientConnectorCertificateError ClientConnectorDNSError "
        "ClientConnectorError ClientConnectorSSLError ClientOSError ClientProxyConnectionError ClientSSLError",
        "requests": "ChunkedEncodingError ConnectionError ContentDecodingError HTTPError InvalidHeader "
        "InvalidJSONError InvalidProxyURL InvalidSchema InvalidURL MissingSchema ProxyError RequestException "
        "RetryError SSLError StreamConsumedError TooManyRedirects URLRequired UnrewindableBodyError",
        "ssl": "SSLCertVerificationError SSLEOFError SSLError SSLSyscallError SSLWantReadError SSLWantWriteError "
        "SSLZeroReturnError",
        "socket": "gaierror herror",
        "builtins": "OSError BlockingIOError BrokenPipeError ChildProcessError ConnectionAbortedError ConnectionError "
        "ConnectionRefusedError ConnectionResetError FileExistsError FileNotFoundError InterruptedError "
        "IsADirectoryError NotADirectoryError PermissionError ProcessLookupError ImportError ModuleNotFoundError",
    },
    ModelLoginMissing: {
        "google": "ClientCertError DefaultCredentialsError GoogleAuthError InvalidOperation InvalidResource "
        "InvalidType InvalidValue MalformedError MutualTLSChannelError OAuthError OSError ReauthFailError "
        "ReauthSamlChallengeFailError RefreshError UserAccessTokenError",
    },
}
"""Every exception of the libraries and what it means before the first chunk, by hand: a new one needs a thought."""
NOT_RAISED = {
    "aiohttp.EofStream",  # inside the library only
    "aiohttp.WebSocketError",  # another protocol
    "socket._GiveupOnSendfile",  # inside the library only
    "urllib3.HTTPError",  # requests maps it to its own
}


def short(kind: type[Exception]) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def exceptions() -> dict[str, type[Exception]]:
    """Every exception class that the libraries show, warnings and the API's own answers apart."""
    values = [value for library in LIBRARIES for value in vars(importlib.import_module(library)).values()]
    kinds = [value for value in values if isinstance(value, type) and issubclass(value, Exception)]
    kinds += [getattr(builtins, name) for row in TABLE.values() for name in row.get("builtins", "").split()]
    return {short(kind): kind for kind in kinds if not issubclass(kind, (Warning, APIError))}


def bare(kind: type[Exception]) -> Exception:
    """One of the kind, whatever its constructor wants."""
    body = {"__init__": lambda self: None, "__str__": lambda self: "the SECRET key", "__module__": kind.__module__}
    made: Exception = type(kind.__name__, (kind,), body)()
    return made


def test_every_foreign_exception_has_its_leaf() -> None:
    found = {name: kind for name, kind in exceptions().items() if name not in NOT_RAISED}
    wanted = {
        f"{library}.{name}": leaf for leaf, row in TABLE.items() for library in row for name in row[library].split()
    }
    assert {name: type(translate(bare(kind), FIRST)) for name, kind in found.items()} == wanted
    assert [name for name, kind in found.items() if not issubclass(kind, foreign())] == []
    assert exceptions().keys() >= NOT_RAISED


def test_in_the_middle_of_an_answer_most_is_a_broken_stream() -> None:
    kept = (ModelTimeout, ModelLoginMissing, ModelStreamBroken)
    leaves = {name: type(translate(bare(kind), IDLE)) for name, kind in exceptions().items() if name not in NOT_RAISED}
    assert {name for name, leaf in leaves.items() if leaf not in kept} == {
        "google.TransportError",
        "google.TimeoutError",
        "google.ResponseError",
    }
    assert not any("SECRET" in str(translate(bare(kind), IDLE)) for kind in exceptions().values())


def test_a_login_server_that_is_down_is_no_missing_login() -> None:
    for retryable, leaf in ((True, ModelUnavailable), (False, ModelLoginMissing)):
        kind: Any = google.auth.exceptions.RefreshError
        error = kind("busy", retryable=retryable)
        assert type(translate(error, FIRST)) is leaf


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


@pytest.mark.parametrize(
    ("code", "message", "what"),
    [
        (400, "Function call is missing a thought_signature in functionCall parts.", "signature"),
        (400, "Corrupted thought signature.", "signature"),
        (400, "Invalid value at contents[1].parts[0].thought_signature", "signature"),
        (403, "You do not have permission to access the File abc123 or it may not exist.", "file"),
        (404, "Requested entity files/abc-1 was not found.", "file"),
        (400, "The File abc is not in an ACTIVE state and usage is not allowed.", "file"),
        (400, "Invalid or unsupported file uri: https://x/files/1", "file"),
        (403, "CachedContent not found (or permission denied)", "cache"),
        (404, "cachedContents/abc was not found", "cache"),
        (400, "Cached content cachedContents/1 is expired.", "cache"),
        (400, 'Unknown name "file_uri" at contents[0]: Cannot find field.', None),
        (400, "Unsupported MIME type: application/zip for file files/abc", None),
        (403, "The caller does not have permission", None),
        (404, "models/x is not found for API version v1", None),
        (429, "Quota for cached content is used up", None),
    ],
)
def test_what_a_request_refers_to_is_told_apart(code: int, message: str, what: str | None) -> None:
    for status in ("INVALID_ARGUMENT", "FAILED_PRECONDITION"):
        found = translate(api(code, status, message), FIRST)
        assert getattr(found, "what", None) == what
        assert not found.retryable or code == 429


NOON = 1_798_722_000.0
"""2026-12-31 13:00 UTC, 05:00 in California."""
SPRING = 1_805_011_200.0
"""2027-03-14 08:00 UTC: midnight in California, and the day has 23 hours."""


def test_rate_limits_say_when() -> None:
    soon = translate(APIError(429, rate_limited(seconds=31.5).json()), FIRST)
    assert isinstance(soon, ModelRateLimited)
    assert (soon.retry_after, soon.daily, soon.retryable, soon.resets_at) == (31.5, False, True, None)
    assert str(soon).endswith("try again in 32 s")
    unknown = translate(APIError(429, exhausted().json()), FIRST)
    assert str(unknown).endswith("try again later")


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (NOON, "it resets at 2027-01-01 08:00 UTC, in 19 h"),
        (NOON + 13 * 3600 + 48 * 60, "it resets at 2027-01-01 08:00 UTC, in 5 h 12 min"),
        (SPRING - 30, "it resets at 2027-03-14 08:00 UTC, in 30 s"),
        (SPRING, "it resets at 2027-03-15 07:00 UTC, in 23 h"),
    ],
)
@pytest.mark.parametrize("seconds", [None, 31.0])
def test_a_used_up_day_says_when_it_ends(now: float, says: str, seconds: float | None) -> None:
    daily = translate(APIError(429, rate_limited(seconds=seconds, daily=True).json()), replace(FIRST, now=lambda: now))
    assert isinstance(daily, ModelRateLimited)
    assert (daily.daily, daily.retryable) == (True, False)
    assert daily.resets_at is not None
    assert daily.resets_at.timestamp() == now + (daily.retry_after or 0)
    assert str(daily).endswith(f"the daily quota is used up; {says}")


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-11-30T22:00:00", "2026-12-01T08:00:00"),
        ("2026-07-01T06:59:59", "2026-07-01T07:00:00"),
        ("2026-07-01T07:00:00", "2026-07-02T07:00:00"),
        ("2026-03-08T09:00:00", "2026-03-09T07:00:00"),
        ("2026-11-01T08:00:00", "2026-11-02T08:00:00"),
    ],
    ids=["winter", "just-before", "at", "short-day", "long-day"],
)
def test_the_day_ends_at_midnight_where_the_provider_is(now: str, end: str) -> None:
    moments = [datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in (now, end)]
    assert day_end(moments[0]) == moments[1]


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (-1, "0 s"),
        (0.2, "1 s"),
        (119, "119 s"),
        (119.5, "2 min"),
        (61 * 60, "61 min"),
        (7_199, "2 h"),
        (18_721, "5 h 13 min"),
    ],
)
def test_durations_are_rounded_up(seconds: float, says: str) -> None:
    assert duration(seconds) == says


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


def test_what_cannot_be_read_is_not_quoted() -> None:
    for call in (FIRST, IDLE):
        with pytest.raises(ModelStreamBroken, match="it cannot be read") as caught, foreign_errors(call):
            raise UnknownApiResponseError('Raw response: {"text": "a thought", "thought": tru')
        assert "thought" not in str(caught.value)
        with pytest.raises(ModelStreamBroken, match="it cannot be read") as caught, foreign_errors(call):
            GenerateContentResponse.model_validate({"candidates": "a thought"})
        assert "thought" not in str(caught.value)


@pytest.mark.parametrize("body", ["", "<html></html>"])
def test_a_refusal_without_words_says_so(body: str) -> None:
    found = translate(APIError(500, {"message": body, "status": "Internal Server Error"}), FIRST)
    assert str(found) == "model g is unavailable, status 500 (no message); try again later"


@pytest.mark.parametrize("delay", ["-5s", "abc", "1e9s", "5", f"{'9' * 400}s", ""])
def test_a_pause_that_is_none_is_not_known(delay: str) -> None:
    body = {"error": {"code": 429, "message": "slow", "details": [{"retryDelay": delay}]}}
    found = translate(APIError(429, body), FIRST)
    assert isinstance(found, ModelRateLimited)
    assert found.retry_after is None


def test_the_text_is_one_short_line() -> None:
    found = translate(api(400, "INVALID_ARGUMENT", f"bad\n{'x' * 1000}"), FIRST)
    assert len(str(found)) < 400
    assert "\n" not in str(found)


@pytest.mark.parametrize("key", ["SECRET", "schlüssel", "a\nb\0", "'quoted\"", "\udc80"])
@pytest.mark.parametrize("told", [str, repr, ascii, lambda key: repr(key.encode("utf-8", "surrogatepass"))])
def test_no_spelling_of_the_key_is_shown_or_logged(key: str, told: Callable[[str], str]) -> None:
    spelled = told(key)
    with pytest.raises(ModelError) as caught, foreign_errors(replace(FIRST, secret=key)):
        raise ValueError(f"Illegal header value {spelled}") from RuntimeError(spelled)
    assert "Illegal header value" in str(caught.value)
    assert spelled.strip("b'\"") not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(ModelError) as caught, foreign_errors(replace(FIRST, secret=key)):
        raise ValueError("bad header") from RuntimeError(spelled)
    assert spelled.strip("b'\"") not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("library", ["google.genai.errors", "httpx2", "aiohttp"])
def test_leaving_while_a_library_is_being_loaded(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, ModuleType(library))
    with pytest.raises(asyncio.CancelledError), foreign_errors(FIRST):
        raise asyncio.CancelledError


def test_the_cause_is_kept_and_our_own_errors_pass() -> None:
    with pytest.raises(ModelUnavailable) as caught, foreign_errors(FIRST):
        raise ConnectionRefusedError("no")
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    with pytest.raises(ModelNotFound), foreign_errors(FIRST):
        raise ModelNotFound(model="g", wanted="w", message="m")


def test_modules_are_the_ones_that_the_mapper_names() -> None:
    assert google.genai.errors.APIError in foreign()
    assert google.auth.exceptions.GoogleAuthError in foreign()
