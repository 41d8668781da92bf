"""The library's client for one bot: hands events over in order, each channel for itself."""

import asyncio
import contextlib
import logging
from typing import Any

import discord
from discord.gateway import DiscordWebSocket

from kesoku.render import counted
from kesoku_discord.config import DiscordConfig
from kesoku_discord.library import Client, Parser, end_leftovers
from kesoku_discord.login import proxy_of
from kesoku_discord.wire.connection import Connection, OnHealth, Timing
from kesoku_discord.wire.http import Http
from kesoku_discord.wire.lanes import Lanes
from kesoku_discord.wire.listener import Listener
from kesoku_discord.wire.reading import guarded

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
"""What the bot hears of: servers, messages there and direct ones, and what they say."""
_CLOSING = 0.4
"""Seconds for Discord to say goodbye, too."""
_READY = "ready"
_log = logging.getLogger(__name__)


class Gateway(Client):
    """A client with an HTTP client of its own, and one listener instead of named events; run it with `serve`.

    To be made where an event loop runs. `health` hears how the connection stands.
    """

    http: Http

    def __init__(
        self, config: DiscordConfig, listener: Listener, health: OnHealth, *, timing: Timing | None = None
    ) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # a bot that writes misses neither
        timing = timing or Timing()
        self._config, self._listener, self._timing = config, listener, timing
        self._lanes = Lanes()
        self._dialled = float("-inf")
        self.connection = Connection(timing=timing, health=health)
        """Whether the gateway is connected."""
        self.logged_in = asyncio.Event()
        """Set once requests can be made, whether or not the gateway is connected."""
        super().__init__(
            intents=INTENTS,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            heartbeat_timeout=timing.heartbeat,
            guild_ready_timeout=timing.guilds,
        )

    def make_http(self) -> Http:
        """With the addresses of the config."""
        config = self._config
        return Http(base=config.api_base_url, gateway=config.gateway_url, proxy=proxy_of(config), dialling=self._pause)

    def make_parsers(self, parsers: dict[str, Parser]) -> dict[str, Parser]:
        """Such as end nothing."""
        return guarded(parsers)

    async def setup_hook(self) -> None:
        """The library calls it when the token was taken."""
        self.logged_in.set()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """The library would wait here; `_pause` has done so, while no connection was open that could break off."""

    async def dial(self) -> None:
        """Connect as the library does. Before there has been a connection, it trips over its own second attempt."""
        while True:
            try:
                await self.connect()
            except AttributeError:
                if self.ws is not None:
                    raise
            else:
                return

    async def shut(self) -> None:
        """Close the connection, cancel what the listener still does, and leave nothing behind; takes no second."""
        await self._lanes.aclose()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await self.close()
        await self.http.close()
        await end_leftovers(self)

    async def _pause(self) -> bool:
        """Wait until a connection to the gateway may begin; whether a session goes on with it."""
        before: DiscordWebSocket | None = self.ws
        is_over = before is not None and before.session_id is None
        now = self.loop.time()
        await asyncio.sleep(self._timing.identify if is_over else self._dialled + self._timing.dial - now)
        self._dialled = self.loop.time()
        return before is not None and not is_over

    async def on_connect(self) -> None:
        """A new session."""
        self.connection.made()

    async def on_resumed(self) -> None:
        """The old session goes on; what was missed has come."""
        self.connection.made()

    async def on_disconnect(self) -> None:
        """The connection is lost, or could not be made."""
        self.connection.lost()

    async def on_ready(self) -> None:
        """A new session, and its servers are known."""
        _log.info("connected to Discord as %s, in %s", self.user, counted(len(self.guilds), "server"))
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

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """CHANNEL_DELETE; of its threads the library tells, too."""
        self._gone(channel.id)

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """THREAD_DELETE."""
        self._gone(payload.thread_id)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """GUILD_DELETE, unless Discord only has trouble there."""
        for each in (*guild.channels, *guild.threads):
            self._gone(each.id)

    def _gone(self, channel_id: int) -> None:
        self._lanes.put(channel_id, lambda: self._listener.gone(channel_id))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """INTERACTION_CREATE."""
        self._lanes.start(lambda: self._listener.interaction(interaction))


def _deleted(payload: discord.RawBulkMessageDeleteEvent, message_id: int) -> discord.RawMessageDeleteEvent:
    data: Any = {"id": message_id, "channel_id": payload.channel_id}
    return discord.RawMessageDeleteEvent(data | ({"guild_id": payload.guild_id} if payload.guild_id else {}))
