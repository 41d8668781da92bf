"""Every failure of the library as a kind of DeliveryError, with words that say what to do."""

import socket
import ssl
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import pytest
from aiohttp import client_exceptions
from aiohttp.client_reqrep import ConnectionKey

from kesoku.adapter import Ambiguous, DeliveryError, Hold, LoginNeeded, Refused, RetryLater
from kesoku_discord.wire.errors import FOREIGN, foreign_errors, translate
from kesoku_discord.wire.http import Passage
from kesoku_discord.wire.limiter import Rank
from kesoku_discord.wire.verdict import CLOSES, CODES, STATUSES, Outcome, verdict_of

KINDS: dict[Outcome, type[DeliveryError]] = {
    Outcome.LATER: RetryLater,
    Outcome.REFUSED: Refused,
    Outcome.UNKNOWN: Ambiguous,
    Outcome.LOGIN: LoginNeeded,
}
SECRET = "hunter2"
KEY = ConnectionKey("discord.com", 443, True, True, None, None, None)


def response(status: int, **headers: str) -> Any:
    return SimpleNamespace(
        status=status, reason="Because", headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def http(status: int, code: int = 0, text: str = "Words") -> discord.HTTPException:
    kind = {403: discord.Forbidden, 404: discord.NotFound}.get(status, discord.HTTPException)
    return kind(response(status), {"code": code, "message": text})


def info() -> Any:
    return SimpleNamespace(real_url=f"http://me:{SECRET}@proxy/", url="", method="GET", headers={})


MADE: dict[str, Exception] = {
    "GatewayNotFound": discord.GatewayNotFound(),  # type: ignore[no-untyped-call]
    "HTTPException": http(400),
    "RateLimited": discord.RateLimited(31.5),
    "Forbidden": http(403),
    "NotFound": http(404),
    "DiscordServerError": discord.DiscordServerError(response(502), "bad"),
    "ConnectionClosed": discord.ConnectionClosed(SimpleNamespace(close_code=4000), shard_id=None),  # type: ignore[arg-type]
    "PrivilegedIntentsRequired": discord.PrivilegedIntentsRequired(None),
    "InteractionResponded": discord.InteractionResponded(SimpleNamespace()),  # type: ignore[arg-type]
    "MissingApplicationID": discord.MissingApplicationID(),
    "ClientConnectorError": aiohttp.ClientConnectorError(KEY, ConnectionRefusedError(111, "Connection refused")),
    "ClientProxyConnectionError": aiohttp.ClientProxyConnectionError(KEY, OSError(111, "Connection refused")),
    "ClientConnectorDNSError": aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(-2, "Name or service not known")),
    "ClientSSLError": aiohttp.ClientSSLError(KEY, OSError(1, "bad handshake")),
    "ClientConnectorSSLError": aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "bad handshake")),
    "ClientConnectorCertificateError": aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError("no")),
    "ServerDisconnectedError": aiohttp.ServerDisconnectedError(),
    "ServerFingerprintMismatch": aiohttp.ServerFingerprintMismatch(b"", b"", "discord.com", 443),
    "ClientOSError": aiohttp.ClientOSError(104, "Connection reset by peer"),
    "ClientConnectionResetError": aiohttp.ClientConnectionResetError("Cannot write to closing transport"),
    **{
        name: getattr(aiohttp, name)(info(), (), status=407, message=SECRET)
        for name in ("ClientResponseError", "ClientHttpProxyError", "WSServerHandshakeError", "ContentTypeError")
    },
    **{
        name: getattr(client_exceptions, name)(f"http://me:{SECRET}@x/")
        for name in (
            *("InvalidURL", "InvalidUrlClientError", "NonHttpUrlClientError"),
            *("InvalidUrlRedirectClientError", "NonHttpUrlRedirectClientError"),
        )
    },
}
"""One of each class that needs arguments."""


def every(module: Any, root: type[Exception]) -> list[Exception]:
    kinds = [getattr(module, name) for name in module.__all__]
    found = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, root)]
    return [MADE[kind.__name__] if kind.__name__ in MADE else kind() for kind in found]


EVERY = [*every(discord.errors, discord.DiscordException), *every(client_exceptions, Exception)]


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_every_class_of_the_library_and_its_http_client_is_mapped(error: Exception) -> None:
    with pytest.raises(DeliveryError) as caught, foreign_errors():
        raise error
    assert not isinstance(caught.value, Hold)
    assert caught.value.__cause__ is error
    assert SECRET not in str(caught.value)


def test_the_roots_are_in_the_table_so_new_classes_are_mapped_too() -> None:
    assert {discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError} <= set(FOREIGN)
    assert len(EVERY) > 40


@pytest.mark.parametrize("code", CODES)
def test_every_code_that_is_named_means_what_the_table_says(code: int) -> None:
    error = translate(http(403, code, "Discord's own words"))
    assert type(error) is KINDS[CODES[code].outcome]
    assert CODES[code].words in str(error)
    assert "Discord's own words" in str(error)
    assert str(code) in str(error)


@pytest.mark.parametrize("status", [*STATUSES, 302, 409, 500, 502, 503, 504, 524])
def test_without_a_code_the_status_decides(status: int) -> None:
    kinds = {302: Ambiguous, 409: Refused, 408: Ambiguous, 401: LoginNeeded, 429: RetryLater}
    assert type(translate(http(status))) is kinds.get(status, Ambiguous if status >= 500 else Refused)


def test_a_form_that_discord_does_not_take_is_never_tried_again() -> None:
    """Complaint 6."""
    error = translate(http(400, 50035, "Invalid Form Body\nIn content: Must be 2000 or fewer in length."))
    assert isinstance(error, Refused)
    assert "Must be 2000 or fewer in length." in error.reason


def test_a_permission_that_lacks_is_named_with_what_to_do() -> None:
    """Complaint 37."""
    error = translate(http(403, 50013, "Missing Permissions"))
    assert isinstance(error, Refused)
    assert "give its role Send Messages" in error.reason
    assert "kesoku doctor" in error.reason


@pytest.mark.parametrize("code", CLOSES)
def test_a_close_code_that_stays_needs_somebody(code: int) -> None:
    closed: Any = SimpleNamespace(close_code=code)
    error = translate(discord.ConnectionClosed(closed, shard_id=None))
    assert isinstance(error, LoginNeeded)
    assert CLOSES[code].words in error.reason


def test_the_intent_is_explained_click_by_click() -> None:
    error = translate(discord.PrivilegedIntentsRequired(None))
    assert isinstance(error, LoginNeeded)
    for word in ("https://discord.com/developers/applications", "Bot", "Message Content Intent"):
        assert word in error.reason


def test_the_wait_that_discord_names_is_handed_on() -> None:
    later = translate(discord.RateLimited(580.5))
    banned = translate(discord.HTTPException(response(429, Retry_After="12.5"), "<html>error 1015</html>"))
    nameless = translate(http(429))
    old = translate(http(429, 30046))
    assert [getattr(each, "after", 0) for each in (later, banned, nameless, old)] == [580.5, 12.5, None, 20.0]
    assert "<html>" not in str(banned)


def passage(*, out: bool = False, acted: bool = False) -> Passage:
    return Passage(rank=Rank.ANSWER, out=out, acted=acted)


@pytest.mark.parametrize(
    ("error", "on_the_way", "kind"),
    [
        (TimeoutError(), passage(), RetryLater),
        (TimeoutError(), passage(out=True), Ambiguous),
        (aiohttp.ServerDisconnectedError(), passage(out=True), Ambiguous),
        (MADE["ClientConnectorError"], passage(), RetryLater),
        (MADE["ClientConnectorError"], passage(acted=True), Ambiguous),
        (RuntimeError("Session is closed"), passage(), RetryLater),
        (http(502), passage(acted=True), Ambiguous),
        (discord.RateLimited(40), passage(), RetryLater),
        (http(400, 50035), passage(acted=True), Refused),
    ],
)
def test_what_never_left_is_not_ambiguous(error: Exception, on_the_way: Passage, kind: type[DeliveryError]) -> None:
    assert type(translate(error, on_the_way)) is kind


def test_our_own_errors_and_bugs_pass_through() -> None:
    for error in (Refused(reason="too large"), AssertionError("a bug")):
        with pytest.raises(type(error)) as caught, foreign_errors():
            raise error
        assert caught.value is error


def test_long_words_are_cut() -> None:
    assert len(str(translate(http(400, 50035, "x" * 10_000)))) < 500
    assert verdict_of(418, 0).outcome is Outcome.REFUSED
