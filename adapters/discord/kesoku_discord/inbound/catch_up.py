"""Reads what was written while the bot was away (complaint 28): at each new session, each message once, in order."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol

import discord

from kesoku.adapter import Inbox
from kesoku_discord.channels import configured
from kesoku_discord.config import DiscordConfig
from kesoku_discord.inbound.again import Again
from kesoku_discord.inbound.author import guild_of
from kesoku_discord.inbound.doors import Doors
from kesoku_discord.inbound.history import history
from kesoku_discord.inbound.memory import Channels
from kesoku_discord.inbound.teller import Teller
from kesoku_discord.inbound.watermark import Watermark
from kesoku_discord.snowflake import parse, span
from kesoku_discord.wire.errors import REMOTE, reason_of
from kesoku_discord.wire.lanes import done

SEEN = "seen"
"""The state key of the cursor."""
_OVERLAP = span(5.0)
"""Messages arrive almost in the order of their ids; so far below the cursor they are looked at again."""
_AT_ONCE = 4
_ABSENT = 60.0
"""Seconds without a further server, after which those that lack are given up."""
_GLANCE = 2.0
"""Seconds in which a new session is noticed."""
_SKEW = span(3600.0)
"""No message is that much younger than our own clock says, unless the clock is wrong."""
_log = logging.getLogger(__name__)


class Reader(Protocol):
    """Who takes the messages."""

    async def missed(self, message: discord.Message, *, again: bool) -> None:
        """A message that was missed, and may be known; `again` says that it most likely was handled already."""
        ...

    async def is_asked(self, message: discord.Message) -> bool:
        """Whether somebody who may talk to the bot did so in this message."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class CatchUp:
    """One catch-up of one bot. `direct` and `threads` are the channels that Discord does not list."""

    client: discord.Client
    config: DiscordConfig
    inbox: Inbox
    doors: Doors
    watermark: Watermark
    direct: Channels
    threads: Channels
    teller: Teller
    reader: Reader
    again: Again
    _archived: set[int] = field(default_factory=set)
    """Threads that were put away, and hold nothing new as far as is known."""
    _members: dict[tuple[int | None, int], discord.Member] = field(default_factory=dict)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def run(self) -> None:
        """Read everything up, open the doors one after the other, and move the cursor over it."""
        session = self.doors.session()
        absent = {guild.id for guild in self.client.guilds if guild.unavailable}
        try:
            seen = await self._begin()
            if seen is not None:
                self._archived = {each for each in await self.threads.all() if self.client.get_channel(each) is None}
                behind = [*self._behind(seen, self.client.guilds), *await self.direct.all(), *self._archived]
                await self.doors.open(session, but={*behind, *absent})
                await self._read(behind, seen)
                await self.threads.forget(self._archived)
                await self._absent(absent, session, seen)
        finally:
            await self.doors.open(session)
        if self.doors.session() == session:  # else the next session reads from where this one began
            self.watermark.release()
            await store(self.inbox, self.watermark)

    async def _begin(self) -> int | None:
        """From where to read; None at the first start ever, or where nothing shall be read up."""
        newest = max((each.last_message_id or 0 for each in self._channels(self.client.guilds)), default=0)
        stored = await self.inbox.state.get(SEEN)
        if stored is None or not self.config.catch_up_hours or not self.config.catch_up_messages:
            self.watermark.start(newest or discord.utils.time_snowflake(discord.utils.utcnow()))
            return None
        now = discord.utils.time_snowflake(discord.utils.utcnow())
        seen = parse(str(stored))
        if seen is None or seen > now + _SKEW:
            _log.warning("the stored cursor %r makes no sense; everything young enough is read", stored)
            seen = max(0, now - span(3600 * self.config.catch_up_hours))
        self.watermark.start(seen, newest)
        return seen

    async def _read(self, behind: Sequence[int], seen: int) -> None:
        ended = await asyncio.gather(*(self._channel(each, seen) for each in behind), return_exceptions=True)
        for error in ended:
            if error is not None:  # one channel does not keep the others from being read
                raise error

    async def _absent(self, absent: set[int], session: str | None, seen: int) -> None:
        """Servers that come later than the session are read when they come; none for a minute, and that is all."""
        waited = 0.0
        while absent and self.doors.session() == session:
            came = [guild for guild in self.client.guilds if guild.id in absent and not guild.unavailable]
            await self._read(self._behind(seen, came), seen)
            for guild in came:
                absent.discard(guild.id)
                await self.doors.open_one(guild.id)
            if came:
                waited = 0.0
                continue
            if waited >= _ABSENT:
                _log.warning("what was missed on %d servers that are not there is not read", len(absent))
                return
            with suppress(TimeoutError):
                await self.client.wait_for("guild_available", timeout=_GLANCE)
            waited += _GLANCE

    def _behind(self, seen: int, guilds: Iterable[discord.Guild]) -> list[int]:
        channels = self._channels(guilds)
        return [each.id for each in channels if (each.last_message_id or 0) > seen and _may_read(each)]

    def _channels(self, guilds: Iterable[discord.Guild]) -> list["Talkable"]:
        """Every place on these servers where people write and the bot may answer."""
        found: list[Talkable] = []
        for guild in guilds:
            if not guild.unavailable:
                found += [*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads]
        return [each for each in found if not self._is_silent(each)]

    def _is_silent(self, channel: "Talkable") -> bool:
        own = configured(self.config, channel.id, channel)
        return own is not None and own.respond == "never"

    async def _channel(self, channel_id: int, seen: int) -> None:
        async with self._slots:
            try:
                missed = await self._missed(channel_id, seen)
                await self._hand_in(channel_id, missed, seen)
                if any(each.id > seen for each in missed):  # then it is used, and may be put away again
                    self._archived.discard(channel_id)
            finally:
                await self.doors.open_one(channel_id)

    async def _missed(self, channel_id: int, seen: int) -> list[discord.Message]:
        """What history holds that is younger, and a little of what is older; a line in the log where it cannot be read.
        After trouble that lasts the cursor stays, so that the next session tries again."""
        read = partial(
            history,
            self.client,
            channel_id,
            after=seen - _OVERLAP,
            most=self.config.catch_up_messages,
            put_away=channel_id in self._archived,
        )
        try:
            return await self.again.until_done(channel_id, read)
        except (discord.NotFound, discord.Forbidden) as error:
            why: Exception = error
        except REMOTE as error:
            why = error
            self._archived.discard(channel_id)
            self.watermark.failed(seen + 1)
        _log.warning("what was missed in channel %s cannot be read: %s", channel_id, reason_of(why))
        return []

    async def _hand_in(self, channel_id: int, missed: list[discord.Message], seen: int) -> None:
        """Each for itself: one that cannot be handled does not keep the others from it."""
        oldest = discord.utils.utcnow() - timedelta(hours=self.config.catch_up_hours)
        asked: list[int] = []
        for each in missed:
            if each.created_at >= oldest:
                await done(partial(self._take, each, again=each.id <= seen))
            elif each.id > seen:
                await done(partial(self._count, each, asked))
        if asked:
            line = f"-# {_counted(len(asked))} not answered, from before <t:{int(oldest.timestamp())}:f>: I was away."
            await self.teller.say(channel_id, line, key=f"missed:{channel_id}:{asked[-1]}")

    async def _take(self, message: discord.Message, *, again: bool) -> None:
        with self._author(message):
            await self.reader.missed(message, again=again)

    async def _count(self, message: discord.Message, asked: list[int]) -> None:
        with self._author(message):
            if await self.reader.is_asked(message):
                asked.append(message.id)

    @contextmanager
    def _author(self, message: discord.Message) -> Iterator[None]:
        """History does not tell roles. Whoever was looked up for one message is known for the next ones."""
        place = (guild_of(message), message.author.id)
        message.author = self._members.get(place, message.author)
        yield
        if isinstance(message.author, discord.Member):
            self._members[place] = message.author


Talkable = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
"""A place whose last message the library knows."""


async def store(inbox: Inbox, watermark: Watermark) -> None:
    """Store the cursor on its own."""
    cursor = watermark.cursor()
    await inbox.accept([], cursor=(SEEN, str(cursor)))
    watermark.store(cursor)


def _may_read(channel: Talkable) -> bool:
    """False where Discord would only refuse: refusals are counted, and many of them shut the bot out."""
    me: discord.Member | None = channel.guild.me
    if me is None or (isinstance(channel, discord.Thread) and channel.parent is None):
        return True
    may = channel.permissions_for(me)
    return may.view_channel and may.read_message_history


def _counted(number: int) -> str:
    return "1 message was" if number == 1 else f"{number} messages were"
