"""Where a message is answered: in its channel, or in a thread that is opened for it."""

import logging

import discord

from kesoku.adapter import State
from kesoku_discord.channels import configured
from kesoku_discord.config import DiscordConfig
from kesoku_discord.inbound.memory import OnceADay
from kesoku_discord.inbound.teller import Teller
from kesoku_discord.inbound.thread import open_thread, wants_thread
from kesoku_discord.inbound.title import title_of

_log = logging.getLogger(__name__)


class Destinations:
    """Finds the place of each answer of one bot, and says in the channel where that is not as it should be."""

    def __init__(self, *, config: DiscordConfig, client: discord.Client, teller: Teller, state: State) -> None:
        self._config, self._client, self._teller = config, client, teller
        self._once_a_day = OnceADay(state)

    async def of(self, message: discord.Message, *, again: bool) -> int | None:
        """The id of a channel or thread; None if that is to be a thread and there is none (complaint 97), or if the
        message is gone. What was refused once is not refused `again`."""
        channel = message.channel
        if not wants_thread(message, self._config, configured(self._config, channel.id, channel)):
            return channel.id
        title = title_of(
            message.content,
            name=message.author.display_name,
            files=[each.filename for each in message.attachments],
        )
        minutes = self._config.thread_archive_minutes
        opened = await open_thread(message, title, client=self._client, archive_minutes=minutes)
        if opened is None:
            return None
        if not opened.failure:
            return opened.channel_id
        _log.warning("no thread for message %s in channel %s: %s", message.id, channel.id, opened.failure)
        if self._config.thread_failure == "refuse":
            line = f"-# I cannot open a thread, so I do not answer this: {opened.failure}."
            if not again:
                await self._teller.say(channel.id, line, key=f"thread:{message.id}", reply_to=message)
            return None
        if await self._once_a_day.first(channel.id, discord.utils.utcnow().toordinal()):
            line = f"-# I cannot open a thread, so I answer here: {opened.failure}."
            await self._teller.say(channel.id, line, key=f"thread:{message.id}")
        return channel.id
