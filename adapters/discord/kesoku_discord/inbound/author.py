"""Who wrote a message."""

import logging
from dataclasses import replace

import discord

from kesoku.adapter import Principal
from kesoku_discord.channels import parent_of
from kesoku_discord.people import principal_of

_log = logging.getLogger(__name__)


async def author_of(message: discord.Message) -> Principal:
    """The person as the core knows people: a webhook counts as a bot. Raises what the library raises."""
    found = principal_of(await _member(message), guild_of(message), _within(message))
    return replace(found, is_bot=is_machine(message))


def is_machine(message: discord.Message) -> bool:
    """Whether a bot or a webhook wrote it."""
    return message.author.bot or message.webhook_id is not None


def guild_of(message: discord.Message) -> int | None:
    """The server in which a message stands, also where the library does not know it; None in a direct chat."""
    if message.guild is not None:
        return message.guild.id
    return getattr(message.channel, "guild_id", None)


def _within(message: discord.Message) -> frozenset[str]:
    """The channel, and the one that its thread belongs to; a thread that is opened for the message lies in both."""
    return frozenset(filter(None, (str(message.channel.id), parent_of(message.channel))))


async def _member(message: discord.Message) -> discord.Member | discord.User:
    """The author with roles and nickname. History tells neither, so they are looked up, once for this message."""
    if isinstance(message.author, discord.Member) or message.guild is None or is_machine(message):
        return message.author
    try:
        message.author = await message.guild.fetch_member(message.author.id)
    except discord.NotFound:
        _log.debug("%s has left the server", message.author.id)
    return message.author
