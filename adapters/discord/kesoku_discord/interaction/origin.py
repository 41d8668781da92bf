"""Who did something on Discord, and where, in the words of the core."""

import discord

from kesoku.adapter import Address, Principal
from kesoku_discord.channels import address_of, parent_of
from kesoku_discord.people import principal_of


def person_of(interaction: discord.Interaction) -> Principal:
    """Who pressed or gave a command; a thread is a part of its channel."""
    parent = parent_of(interaction.channel)
    return principal_of(interaction.user, interaction.guild_id, frozenset({parent} if parent else ()))


def place_of(chatbot_id: str, interaction: discord.Interaction) -> Address:
    """The channel or thread of an interaction; one without any is not handled."""
    return address_of(chatbot_id, interaction.channel_id or 0)


def key_of(interaction: discord.Interaction) -> str:
    """The key of the event that is made from an interaction."""
    return f"interaction:{interaction.id}"
