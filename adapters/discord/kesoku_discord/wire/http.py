"""The library's HTTP client with an endpoint and a pace of its own for each bot.

Everything hangs on the client: no attribute of a class is changed, so bots with different endpoints live side by side.
Turns are given where a request really leaves, behind the library's own queues, so that these cannot let out more at
once than Discord takes. What answers interactions is not paced; Discord does not count it either.
"""

import asyncio
import copy
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route
from discord.webhook.async_ import AsyncWebhookAdapter, async_context
from yarl import URL

from kesoku.adapter import RetryLater
from kesoku_discord.library import end_global_limit
from kesoku_discord.login import completed
from kesoku_discord.wire.limiter import Limiter, Rank

_LONGEST_LIMIT = 30.0
"""Seconds that a rate limit may last for the library to wait for it itself; it takes no less."""

_MARGIN = 0.1
"""Seconds by which a limit over all routes is thought to last longer than it was named."""
_FIRST = "/users/@me"
"""What is asked first; it tells whether the address of the REST interface lacks its end."""
_GOODBYE = 0.4
"""Seconds for Discord to say goodbye, too."""


@dataclass(slots=True, kw_only=True, eq=False)
class Passage:
    """One request on its way."""

    rank: Rank
    out: bool = False
    """It went out, and is not answered."""
    acted: bool = False
    """An answer came that does not rule out that it was done."""

    @property
    def left(self) -> bool:
        """Whether Discord may have done it."""
        return self.out or self.acted


class WebhookAdapter(AsyncWebhookAdapter):
    """What answers interactions, at the endpoint of its bot."""

    def __init__(self, base: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.base = base

    async def request(self, route: Route, session: aiohttp.ClientSession, **options: Any) -> Any:
        """As in the library. Raises its errors."""
        return await super().request(_moved(route, self.base), session, **options)


class Http(HTTPClient):
    """The client of one bot. `base` and `gateway` are addresses as in DiscordConfig; `proxy` leads there.

    `dialling` is awaited before each connection to the gateway, and says whether that goes on with a session.
    """

    def __init__(
        self,
        *,
        base: str,
        gateway: str,
        proxy: str | None = None,
        connector: aiohttp.BaseConnector | None = None,
        limiter: Limiter | None = None,
        dialling: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            connector,
            proxy=proxy,
            http_trace=self._trace(),
            max_ratelimit_timeout=_LONGEST_LIMIT,
        )
        self.gateway = URL(gateway)
        self.limiter = limiter or Limiter()
        self.webhooks = WebhookAdapter(base)
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._silent: URL | None = None
        self._dialling = dialling
        self._ending = set[asyncio.Task[None]]()

    @property
    def base(self) -> str:
        """Where the REST interface is."""
        return self.webhooks.base

    async def request(self, route: Route, **options: Any) -> Any:
        """As in the library. A Passage may come along as `trace_request_ctx`. Raises its errors, and RetryLater."""
        options.setdefault("trace_request_ctx", Passage(rank=rank_of(route)))
        try:
            return await super().request(_moved(route, self.base), **options)
        except discord.NotFound:
            if route.path != _FIRST or (whole := completed(self.base)) is None:
                raise
        answer = await super().request(_moved(route, whole), **options)
        self.webhooks.base = whole
        return answer

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        """Open the gateway of the config. Discord names an address to resume at: another gateway than Discord's own may
        do so on its own host, and passes for not having done so when nothing answers there."""
        await self._hang_up()
        resumes = await self._dialling() if self._dialling else True
        named = URL(url)
        where = named if self._is_followed(named, resumes=resumes) else self.gateway.with_query(named.query)
        try:
            self._socket = await super().ws_connect(str(where), compress=compress)
        except (aiohttp.ClientError, OSError):
            self._silent = where
            raise
        return self._socket

    def _is_followed(self, named: URL, *, resumes: bool) -> bool:
        """Whether to connect where the library says, which is where it last resumed, also for a new session."""
        if self.gateway.with_path("/") == DiscordWebSocket.DEFAULT_GATEWAY.with_path("/"):
            return True
        return resumes and named.host == self.gateway.host and named != self._silent

    @contextmanager
    def here(self) -> Iterator[None]:
        """Within, interactions are answered at this bot's endpoint: in this task, and in those that it starts."""
        before = async_context.set(self.webhooks)
        try:
            yield
        finally:
            async_context.reset(before)

    async def close(self) -> None:
        """End what waits, then the gateway's socket, even one that the library did not get to know, and the session."""
        await self.limiter.aclose()
        for ending in self._ending:
            ending.cancel()
        await self._hang_up(code=1000)
        await super().close()

    async def _hang_up(self, code: int = 4000) -> None:
        """Close the gateway's socket; the library forgets those that broke off before a session began."""
        if self._socket is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GOODBYE):
                    await self._socket.close(code=code)

    def _trace(self) -> aiohttp.TraceConfig:
        trace = aiohttp.TraceConfig()
        trace.on_request_start.append(self._starts)
        trace.on_request_headers_sent.append(self._leaves)
        trace.on_request_end.append(self._ends)
        return trace

    async def _starts(self, session: aiohttp.ClientSession, trace: SimpleNamespace, _: object) -> None:
        passage = trace.trace_request_ctx
        if isinstance(passage, Passage) and not await self.limiter.turn(passage.rank):
            raise RetryLater(reason="the bot has too much to say at once")

    async def _leaves(self, session: aiohttp.ClientSession, trace: SimpleNamespace, _: object) -> None:
        if isinstance(passage := trace.trace_request_ctx, Passage):
            passage.out = True

    async def _ends(
        self, session: aiohttp.ClientSession, trace: SimpleNamespace, end: aiohttp.TraceRequestEndParams
    ) -> None:
        if isinstance(passage := trace.trace_request_ctx, Passage):
            passage.out = False
            passage.acted |= not 400 <= end.response.status < 500
        if end.response.status == 429 and "X-RateLimit-Global" in end.response.headers:
            named = retry_after(end.response.headers)
            seconds = _LONGEST_LIMIT if named is None else min(named, _LONGEST_LIMIT)
            ending = asyncio.create_task(self._end_limit(seconds + _MARGIN))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _end_limit(self, seconds: float) -> None:
        await self.limiter.sleep(seconds)
        end_global_limit(self)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that Discord names in the head of an answer."""
    named = headers.get("Retry-After", "")
    return float(named) if re.fullmatch(r"\d+(\.\d+)?", named) else None


def rank_of(route: Route) -> Rank:
    """What a request is for, by its method and path."""
    if route.path.endswith("/typing"):
        return Rank.TYPING
    if "/messages" in route.path and route.method in {"PATCH", "DELETE", "GET"}:
        return Rank.LIVE
    return Rank.ANSWER


def _moved(route: Route, base: str) -> Route:
    """The same route below another address."""
    moved = copy.copy(route)
    moved.url = base + route.url.removeprefix(Route.BASE)
    return moved
