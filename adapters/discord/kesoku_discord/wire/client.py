"""The connection of one bot: logs in, stays connected, and hands events over in order."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import discord
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from discord.state import ConnectionState

from kesoku.adapter import LoginNeeded
from kesoku_discord.config import DiscordConfig
from kesoku_discord.login import proxy_of
from kesoku_discord.wire.errors import FOREIGN, translate
from kesoku_discord.wire.http import Http
from kesoku_discord.wire.lanes import Lanes
from kesoku_discord.wire.reading import guarded

OnHealth = Callable[[bool, str], None]
_log = logging.getLogger(__name__)
INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
"""What the bot hears of: servers, messages there and direct ones, and what they say."""
_CLOSING = 0.4
"""Seconds for Discord to say goodbye, too."""
_AGAIN = 0.05
"""Seconds until what does not end is cancelled once more."""
_READY = "ready"


class Listener(Protocol):
    """Who hears of what happens. Events of one channel come one after the other; what is raised is only logged."""

    async def ready(self) -> None:
        """A new session, not one that goes on: events may have been missed. Comes once for each."""
        ...

    def arrived(self, message_id: int) -> None:
        """A message came; `message` follows once those before it in its channel are done."""
        ...

    def left_out(self, message_id: int) -> None:
        """It does not follow: too much waits in that channel."""
        ...

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote something, the bot itself included."""
        ...

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A message changed, or only its link previews did."""
        ...

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message is gone."""
        ...

    async def interaction(self, interaction: discord.Interaction) -> None:
        """A command, a press or a completion; waits for nothing else, since Discord wants an answer within 3 s."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long the connection waits for what; seconds."""

    heartbeat: float = 60.0
    """Without any sign of Discord for so long, the connection is made anew (complaint 149)."""
    guilds: float = 0.3
    """A session is ready when no further server was named for so long."""
    identify: float = 5.0
    """Between two new sessions. Discord takes one in 5 s, and resets the token of a bot that makes too many a day."""
    dial: float = 0.5
    """Between the beginnings of two connections, so that a gateway that ends each one at once is not stormed."""
    patience: float = 10.0
    """A connection that comes back within this was never unwell: Discord itself asks for a new one now and then."""
    outage: float = 120.0
    """Without a connection for so long, `serve` gives up; the library's own pauses grow to a quarter of an hour."""


def _unheard(healthy: bool, text: str) -> None:
    """Nobody wants to know."""


class Gateway(discord.Client):
    """The library's client with an HTTP client of its own, and one listener instead of named events.

    To be made where an event loop runs. `health` hears how the connection stands.
    """

    http: Http

    def __init__(
        self,
        config: DiscordConfig,
        listener: Listener,
        health: OnHealth = _unheard,
        *,
        timing: Timing | None = None,
    ) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # a bot that writes misses neither
        self._config, self._listener, self._health = config, listener, health
        self._timing = timing or Timing()
        self._lanes = Lanes()
        self._dialled = float("-inf")
        self._connected, self._lost = asyncio.Event(), asyncio.Event()
        self.logged_in = asyncio.Event()
        """Set once requests can be made, whether or not the gateway is connected."""
        super().__init__(
            intents=INTENTS,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            heartbeat_timeout=self._timing.heartbeat,
            guild_ready_timeout=self._timing.guilds,
        )

    def _get_state(self, **options: Any) -> Any:
        # The one place between the making of the library's HTTP client and its first use.
        config = self._config
        self.http = Http(
            base=config.api_base_url, gateway=config.gateway_url, proxy=proxy_of(config), dialling=self._pause
        )
        state = _State(dispatch=self.dispatch, handlers=self._handlers, hooks=self._hooks, http=self.http, **options)
        state.parsers = guarded(state.parsers)
        return state

    async def setup_hook(self) -> None:
        """The library calls it when the token was taken."""
        self.logged_in.set()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """The library would wait here; `_pause` has done so, while no connection was open that could break off."""

    async def stay(self) -> None:
        """Stay connected. Raises the library's errors, and ConnectionError after `Timing.outage`."""
        tasks = {asyncio.create_task(self._dial()), asyncio.create_task(self._watch())}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await _ended(tasks)

    async def shut(self) -> None:
        """Close the connection, cancel what the listener still does, and leave nothing behind; takes no second."""
        await self._lanes.aclose()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await self.close()
        await self.http.close()
        for thread in threading.enumerate():  # of a connection that was still being made nothing else is known
            if isinstance(thread, KeepAliveHandler) and thread.ws._connection is self._connection:  # noqa: SLF001
                thread.stop()
        if readying := self._connection._ready_task:  # noqa: SLF001  the library leaves it behind
            readying.cancel()
            await asyncio.wait({readying})

    async def _pause(self) -> None:
        """Wait until a connection to the gateway may begin."""
        before: DiscordWebSocket | None = self.ws
        is_over = before is not None and before.session_id is None
        now = self.loop.time()
        await asyncio.sleep(self._timing.identify if is_over else self._dialled + self._timing.dial - now)
        self._dialled = self.loop.time()

    async def _dial(self) -> None:
        """Connect as the library does. Before there has been a connection, it trips over its own second attempt."""
        while True:
            try:
                await self.connect()
            except AttributeError:
                if self.ws is not None:
                    raise
            else:
                return

    async def _watch(self) -> None:
        timing = self._timing
        while True:
            if not await _within(timing.patience, self._connected):
                self._health(False, "there is no connection to Discord; it is being made again")
                if not await _within(timing.outage - timing.patience, self._connected):
                    raise ConnectionError(f"no connection to Discord for {timing.outage:.0f} s")
            self._health(True, "")
            await self._lost.wait()

    async def on_connect(self) -> None:
        """A new session."""
        self._connected.set()
        self._lost.clear()

    async def on_resumed(self) -> None:
        """The old session goes on; what was missed has come."""
        await self.on_connect()

    async def on_disconnect(self) -> None:
        """The connection is lost, or could not be made."""
        self._connected.clear()
        self._lost.set()

    async def on_ready(self) -> None:
        """A new session, and its servers are known."""
        _log.info("connected to Discord as %s, in %d server(s)", self.user, len(self.guilds))
        self._lanes.put(_READY, self._listener.ready)

    async def on_message(self, message: discord.Message) -> None:
        """MESSAGE_CREATE."""
        self._listener.arrived(message.id)
        if not self._lanes.put(message.channel.id, lambda: self._listener.message(message)):
            self._listener.left_out(message.id)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """MESSAGE_UPDATE."""
        self._lanes.put(payload.channel_id, lambda: self._listener.edited(payload))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """MESSAGE_DELETE."""
        self._lanes.put(payload.channel_id, lambda: self._listener.deleted(payload))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """MESSAGE_DELETE_BULK, as so many single ones."""
        for message_id in sorted(payload.message_ids):
            await self.on_raw_message_delete(_deleted(payload, message_id))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """INTERACTION_CREATE."""
        self._lanes.start(lambda: self._listener.interaction(interaction))


class _State(ConnectionState[Gateway]):
    """The library's state of a connection, which cannot go on with a session that never was.

    The library resumes whatever has broken off, also before a session had begun, and would do so for ever.
    """

    def _update_references(self, ws: DiscordWebSocket) -> None:
        super()._update_references(ws)
        if ws.session_id is None:
            ws.resume = ws.identify  # type: ignore[method-assign]


async def serve(client: Gateway, token: str) -> None:
    """Log in and stay connected until cancelled; afterwards the client is closed and cannot be used again.

    Raises LoginNeeded when somebody has to act, and whatever the library raises when it may work later.
    """
    logging.getLogger("discord.client").addFilter(_soften)
    try:
        with client.http.here():
            await client.login(token)
            await client.stay()
    except tuple(FOREIGN) as error:
        meant = translate(error)
        if isinstance(meant, LoginNeeded):
            raise meant from error
        raise
    finally:
        await client.shut()


def _soften(record: logging.LogRecord) -> bool:
    """A drop is no error: the library logs each one as such, with a traceback, before it connects again."""
    if record.msg == "Attempting a reconnect in %.2fs" and record.exc_info and record.exc_info[1]:
        error = record.exc_info[1]
        record.msg = f"the connection is lost ({type(error).__name__}); the next attempt is in %.2f s"
        record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
    return True


def _deleted(payload: discord.RawBulkMessageDeleteEvent, message_id: int) -> discord.RawMessageDeleteEvent:
    data: Any = {"id": message_id, "channel_id": payload.channel_id}
    return discord.RawMessageDeleteEvent(data | ({"guild_id": payload.guild_id} if payload.guild_id else {}))


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel until all are over: the library may take a cancellation for one more failed attempt (Python < 3.12)."""
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=_AGAIN)


async def _within(seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
