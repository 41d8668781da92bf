"""Every failure of the library and of its HTTP client as a kind of DeliveryError: the one mapper, used around each
foreign await. What Discord itself says is in verdict.py.

Texts quote Discord's own words, but never an address, which may hold a token or a proxy's password.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import aiohttp
import discord

from kesoku.adapter import Ambiguous, DeliveryError, LoginNeeded, Refused, RetryLater
from kesoku_discord.wire.http import Passage, retry_after
from kesoku_discord.wire.verdict import (
    CLOSES,
    CODES,
    INTENT,
    NEW_TOKEN,
    STATUSES,
    Outcome,
    Verdict,
    later,
    login,
    refused,
    unknown,
    verdict_of,
)

REMOTE: tuple[type[Exception], ...] = (discord.DiscordException, aiohttp.ClientError, OSError)
"""Refusals, and a line that fails; TimeoutError is an OSError."""
UNREADABLE: tuple[type[Exception], ...] = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What the library raises for an event or an answer in a form that it does not know."""
UNSURE: tuple[type[Exception], ...] = (discord.DiscordServerError, aiohttp.ClientError, OSError, *UNREADABLE)
"""After these nobody knows whether it was done."""
_ADAPTER = "discord"
_UNNAMED = {30046: 20.0}
"""Seconds to wait where Discord names none, by the code of its answer."""
_QUOTED = 300
"""Characters of Discord's own words."""
_CUT_OFF = unknown("the connection was cut off")
_LATE = unknown("Discord did not answer in time")
_UNREADABLE = unknown("Discord's answer could not be read")
_UNREACHED = later("Discord cannot be reached; check the network, api_base_url and the proxy")
_PROXY = later("the proxy does not let the bot through; check its address, name and password")
_CERTIFICATE = later("the certificate is not trusted; a proxy that inspects traffic needs its own in SSL_CERT_FILE")
_ADDRESS = refused("the address cannot be used; check api_base_url and gateway_url")

FOREIGN: Mapping[type[Exception], Verdict] = {
    discord.LoginFailure: login(f"Discord does not take the token; {NEW_TOKEN}"),
    discord.PrivilegedIntentsRequired: login(f"the bot may not read messages yet; {INTENT}"),
    discord.RateLimited: STATUSES[429],
    discord.GatewayNotFound: _UNREACHED,
    discord.ConnectionClosed: later("Discord closed the connection"),
    discord.InvalidData: _UNREADABLE,
    discord.InteractionResponded: CODES[40060],
    discord.MissingApplicationID: later("the bot is not logged in yet"),
    discord.ClientException: refused("discord.py does not send this"),
    discord.DiscordException: unknown("discord.py failed"),
    aiohttp.ConnectionTimeoutError: _UNREACHED,
    aiohttp.ServerTimeoutError: _LATE,
    aiohttp.ServerFingerprintMismatch: _CERTIFICATE,
    aiohttp.ClientConnectorCertificateError: _CERTIFICATE,
    aiohttp.ClientSSLError: later("no encrypted connection to Discord can be made"),
    aiohttp.ClientProxyConnectionError: later("the proxy cannot be reached; check its address"),
    aiohttp.ClientConnectorError: _UNREACHED,
    aiohttp.ClientConnectionError: _CUT_OFF,
    aiohttp.ClientHttpProxyError: _PROXY,
    aiohttp.WSServerHandshakeError: later("the gateway is not served at its address"),
    aiohttp.ContentTypeError: _UNREADABLE,
    aiohttp.TooManyRedirects: _ADDRESS,
    aiohttp.RedirectClientError: _ADDRESS,
    aiohttp.NonHttpUrlClientError: _ADDRESS,
    aiohttp.InvalidURL: _ADDRESS,
    aiohttp.ClientPayloadError: _CUT_OFF,
    aiohttp.WSMessageTypeError: _UNREADABLE,
    aiohttp.ClientError: _CUT_OFF,
    TimeoutError: _LATE,
    OSError: _CUT_OFF,
    RuntimeError: later("the connection to Discord is closed"),
    ValueError: _UNREADABLE,
    LookupError: _UNREADABLE,
}
"""What each class means; of the classes that an exception has, its nearest one counts."""


@contextmanager
def foreign_errors(passage: Passage | None = None) -> Iterator[None]:
    """Turn any foreign exception of the body into a DeliveryError. `passage` tells whether the request had left."""
    try:
        yield
    except tuple(FOREIGN) as error:
        raise translate(error, passage) from error


def translate(error: Exception, passage: Passage | None = None) -> DeliveryError:
    """The kind of DeliveryError for one foreign exception."""
    reason = reason_of(error)
    match _settled(_verdict(error).outcome, passage):
        case Outcome.LATER:
            return RetryLater(reason=reason, after=_wait(error))
        case Outcome.REFUSED:
            return Refused(reason=reason)
        case Outcome.UNKNOWN:
            return Ambiguous(reason=reason)
        case Outcome.LOGIN:
            return LoginNeeded(adapter=_ADAPTER, reason=reason)


def reason_of(error: BaseException) -> str:
    """What happened, in words for people. `error` is of FOREIGN, or of UNREADABLE."""
    return f"{_verdict(error).words}{_detail(error)}"


def _verdict(error: BaseException) -> Verdict:
    if isinstance(error, discord.HTTPException):
        return verdict_of(error.status, error.code)
    if isinstance(error, discord.ConnectionClosed) and error.code in CLOSES:
        return CLOSES[error.code]
    return next((FOREIGN[kind] for kind in type(error).__mro__ if kind in FOREIGN), _UNREADABLE)


def _settled(outcome: Outcome, passage: Passage | None) -> Outcome:
    """Nothing is unknown of what never left; and of what had left before, a later failure does not tell."""
    if passage is not None and outcome in {Outcome.LATER, Outcome.UNKNOWN}:
        return Outcome.UNKNOWN if passage.left else Outcome.LATER
    return outcome


def _detail(error: BaseException) -> str:
    if isinstance(error, discord.HTTPException):
        text = "" if error.text.lstrip().startswith("<") else " ".join(error.text.split())[:_QUOTED]
        return f" (Discord said {error.status}{f', {error.code}' if error.code else ''}{f': {text}' if text else ''})"
    if isinstance(error, discord.ConnectionClosed):
        return f" (close code {error.code})"
    if isinstance(error, aiohttp.ClientResponseError):
        return f" (status {error.status})"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f" ({error.host}:{error.port}: {_plain(error.os_error)})"
    return f" ({_plain(error)})" if isinstance(error, OSError) and error.strerror else ""


def _plain(error: OSError) -> str:
    """The operating system's words, without anything that others have added."""
    return re.sub(r"\s*\[.*", "", error.strerror or "") or type(error).__name__


def _wait(error: Exception) -> float | None:
    """Seconds that Discord named."""
    if isinstance(error, discord.RateLimited):
        return error.retry_after
    if not isinstance(error, discord.HTTPException):
        return None
    return retry_after(error.response.headers) or _UNNAMED.get(error.code)
