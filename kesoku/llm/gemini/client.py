"""The SDK's clients: one per event loop, key, base URL and version, made on first use and closed by its last user.

The HTTP client is httpx2, given by us, so that every machine uses the same transport: left alone, the SDK takes aiohttp
when something else has installed it. One client serves any number of parallel streams, each with its own socket.
Retries and time limits of the SDK and of the transport are off; `GeminiModel` has its own.
"""

import asyncio
import hashlib
import logging
import ssl
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import SecretStr

from kesoku.llm.gemini.login import signing


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Whom to talk to, as whom; equal endpoints share a client. Either with a key, or with a project on Vertex AI."""

    base_url: str
    api_version: str
    api_key: SecretStr | None = None
    """None: Vertex AI, with the default credentials of this machine."""
    project: str = ""
    location: str = ""

    @property
    def vertex(self) -> bool:
        """Whether this is Vertex AI, which has no Files API."""
        return self.api_key is None

    @property
    def secret(self) -> str:
        """What must never be shown, or ''."""
        return self.api_key.get_secret_value() if self.api_key else ""

    @property
    def account(self) -> str:
        """Who pays and is limited, told from others without being named."""
        told = repr((self.base_url, self.secret, self.project, self.location))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Client:
    sdk: Any
    close: Callable[[], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class _Shared:
    opening: asyncio.Task[_Client]
    users: set[int] = field(default_factory=set)


_OPEN: dict[asyncio.AbstractEventLoop, dict[Endpoint, _Shared]] = {}
"""The clients of every live loop; connections belong to the loop that opened them."""

_RESPONSES: ContextVar[list[Any] | None] = ContextVar("responses", default=None)


class Sockets:
    """The HTTP responses behind one stream, so that leaving it early closes them at once.

    Closing the SDK's generator does not: its inner generators sit in a cycle and wait for the garbage collector.
    """

    def __init__(self) -> None:
        self._responses: list[Any] = []

    def watch(self) -> None:
        """Responses that the running task opens from now on are this stream's. Call it before each step."""
        _RESPONSES.set(self._responses)

    async def aclose(self) -> None:
        """Close what is open; a response that was read to its end has gone back to the pool already."""
        while self._responses:
            await self._responses.pop().aclose()


async def borrow(endpoint: Endpoint, user: object) -> Any:
    """The `google.genai.Client` for `endpoint` in the running loop.

    The SDK is imported and the client built in a thread, which takes up to 2 s the first time.
    """
    for loop in list(_OPEN):
        if loop.is_closed():
            _OPEN.pop(loop, None)
    clients = _OPEN.setdefault(asyncio.get_running_loop(), {})
    shared = clients.get(endpoint)
    if shared is None or _failed(shared.opening):
        shared = clients[endpoint] = _Shared(opening=asyncio.create_task(asyncio.to_thread(_open, endpoint)))
    shared.users.add(id(user))
    return (await asyncio.shield(shared.opening)).sdk


async def give_back(endpoint: Endpoint, user: object) -> None:
    """`user` is done in the running loop; the last one closes the client. Does nothing the second time."""
    loop = asyncio.get_running_loop()
    clients = _OPEN.get(loop, {})
    shared = clients.get(endpoint)
    if shared is None:
        return
    shared.users.discard(id(user))
    if not shared.users:
        del clients[endpoint]
        if not clients:
            del _OPEN[loop]
        if not _failed(shared.opening):
            await (await shared.opening).close()


async def _remember(response: Any) -> None:
    if (responses := _RESPONSES.get()) is not None:
        responses.append(response)


def _failed(opening: asyncio.Task[_Client]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)


@cache
def _trust() -> ssl.SSLContext:
    """The certificates of this machine: 40 ms and 3 MB, the same for every client and loop."""
    import httpx2

    return httpx2.create_ssl_context()


def _open(endpoint: Endpoint) -> _Client:
    import httpx2
    from google import genai
    from google.genai import types

    # It names a key of the environment that is not used, and calls that are meant to be there.
    logging.getLogger("google_genai").setLevel(logging.ERROR)
    context = _trust()
    unbounded = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
    transport = httpx2.AsyncClient(
        verify=context,
        timeout=None,
        limits=unbounded,
        follow_redirects=False,  # else the key would go along, to any host
        event_hooks={"response": [_remember]},
        auth=signing() if endpoint.vertex else None,
    )
    options = types.HttpOptions(
        base_url=endpoint.base_url,
        api_version=endpoint.api_version,
        httpx_async_client=transport,
        httpx_client=httpx2.Client(verify=context),
        async_client_args={"ssl": context},
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    return _Client(sdk=genai.Client(**_identity(endpoint), http_options=options), close=transport.aclose)


def _identity(endpoint: Endpoint) -> dict[str, Any]:
    """Who we are, with nothing left to the SDK's own look into the environment. On Vertex AI the transport signs."""
    if not endpoint.vertex:
        return {"vertexai": False, "api_key": endpoint.secret}
    from google.oauth2.credentials import Credentials

    stand_in: Any = Credentials("stand-in")  # type: ignore[no-untyped-call]
    return {"vertexai": True, "credentials": stand_in, "project": endpoint.project, "location": endpoint.location}
