"""Who did something on Discord, and where, in the words of the core."""

import discord

from kesoku.adapter import Address, Principal
from kesoku_discord.people import principal_of


def person_of(interaction: discord.Interaction) -> Principal:
    """Who pressed or gave a command; a thread is a part of its channel."""
    place = interaction.channel
    around = frozenset({str(place.parent_id)}) if isinstance(place, discord.Thread) else frozenset()
    return principal_of(interaction.user, interaction.guild_id, around)


def address_of(chatbot_id: str, interaction: discord.Interaction) -> Address:
    """The channel or thread of an interaction."""
    return Address(chatbot_id=chatbot_id, channel_id=str(interaction.channel_id))


def key_of(interaction: discord.Interaction) -> str:
    """The key of the event that is made from an interaction."""
    return f"interaction:{interaction.id}"
