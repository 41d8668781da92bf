"""Channels of Discord, in the words of the core and of the config."""

from typing import TypeGuard

import discord

from kesoku.adapter import Address
from kesoku_discord.config import ChannelConfig, DiscordConfig


def address_of(chatbot_id: str, channel_id: int) -> Address:
    """Where a bot answers that is written to in a channel or thread."""
    return Address(chatbot_id=chatbot_id, channel_id=str(channel_id))


def parent_of(channel: object) -> str | None:
    """The id of the channel that a thread belongs to; None for all that is no thread."""
    return str(channel.parent_id) if isinstance(channel, discord.Thread) else None


def is_post(channel: object) -> TypeGuard[discord.Thread]:
    """Whether it is a thread of a forum, in which the message stands that it began with; both have one id."""
    return isinstance(channel, discord.Thread) and isinstance(channel.parent, discord.ForumChannel)


def configured(config: DiscordConfig, channel_id: int, channel: object) -> ChannelConfig | None:
    """What is configured for a channel, or for the one that it belongs to as a thread."""
    return config.channel(str(channel_id), parent_of(channel))
