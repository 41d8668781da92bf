"""Why a message is answered: its facts, taken from discord.py, and where they do not do, from Discord."""

from dataclasses import replace

import discord

from kesoku_discord.channels import configured, is_post
from kesoku_discord.config import DiscordConfig
from kesoku_discord.inbound.author import guild_of, is_machine
from kesoku_discord.inbound.trigger import Facts, Why, why
from kesoku_discord.inbound.wording import replied_to
from kesoku_discord.wire.reading import message_of
from kesoku_discord.wire.verdict import Outcome, verdict_of

_REMEMBERED = 1000
_WRITTEN = (discord.MessageType.default, discord.MessageType.reply)


def facts_of(message: discord.Message, me: discord.ClientUser) -> Facts:
    """What counts of a message, as far as it says so itself."""
    replied = replied_to(message)
    channel = message.channel
    return Facts(
        mine=message.author.id == me.id,
        machine=is_machine(message),
        written=message.type in _WRITTEN,
        direct=guild_of(message) is None,
        mention=_mentions(message, me),
        reply=replied is not None and replied.author.id == me.id,
        thread=isinstance(channel, discord.Thread) and channel.owner_id == me.id,
    )


class Hearing:
    """Tells why a message is answered. Remembers of a thousand threads whether they were opened for the bot."""

    def __init__(self, config: DiscordConfig, client: discord.Client) -> None:
        self._config, self._client = config, client
        self._threads: dict[int, bool] = {}

    async def why(self, message: discord.Message) -> Why | None:
        """Why; None if the message is nothing to the bot. Raises an error of REMOTE where that cannot be known now."""
        me = self._client.user
        if me is None:
            return None
        facts, channel = facts_of(message, me), configured(self._config, message.channel.id, message.channel)
        found = why(facts, self._config.respond, channel)
        if found is not None or not isinstance(message.channel, discord.Thread):
            return found
        in_own_thread = why(replace(facts, thread=True), self._config.respond, channel)
        if in_own_thread is None or not await self._for_me(message.channel, me):
            return None
        return in_own_thread

    async def _for_me(self, thread: discord.Thread, me: discord.ClientUser) -> bool:
        """Whether a thread begins with a message to the bot, or of the bot."""
        if thread.id in self._threads:
            return self._threads[thread.id]
        first = await self._first(thread)
        mine = first is not None and (first.author.id == me.id or (_mentions(first, me) and not is_machine(first)))
        self._threads[thread.id] = mine
        if len(self._threads) > _REMEMBERED:
            del self._threads[next(iter(self._threads))]
        return mine

    async def _first(self, thread: discord.Thread) -> discord.Message | None:
        """What a thread begins with; None if that is gone, or not for the bot to see."""
        place = thread.id if is_post(thread) else thread.parent_id
        try:
            found = await self._client.http.get_message(place, thread.id)
        except discord.HTTPException as error:
            if verdict_of(error.status, error.code).outcome is not Outcome.REFUSED:
                raise
            return None
        return message_of(self._client, thread, found)


def _mentions(message: discord.Message, me: discord.ClientUser) -> bool:
    """Whether the text names the bot or its role, and Discord takes it as a mention: in code it does not."""
    if me.id in message.raw_mentions and any(each.id == me.id for each in message.mentions):
        return True
    role = message.guild.self_role if message.guild else None
    return role is not None and role.id in message.raw_role_mentions and role in message.role_mentions
