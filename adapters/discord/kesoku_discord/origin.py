"""Who did something on Discord, and where, in the words of the core."""

from dataclasses import replace

import discord

from kesoku.adapter import Address, Principal


def principal_of(user: discord.User | discord.Member, guild_id: int | None) -> Principal:
    """A person of Discord; roles are those of the guild in which something was done, its own id among them.

    They are the ids that Discord sent: the library names only roles that it knows already, and would leave out those of
    a server that it has not heard of yet, also where they are denied.
    """
    roles = (*user._roles, guild_id) if guild_id and isinstance(user, discord.Member) else ()  # noqa: SLF001
    return Principal(
        user_id=str(user.id),
        display_name=user.display_name,
        roles=frozenset(map(str, roles)),
        guild=str(guild_id) if guild_id else None,
        is_bot=user.bot,
        direct=guild_id is None,
    )


def person_of(interaction: discord.Interaction) -> Principal:
    """Who pressed or gave a command; a thread is a part of its channel."""
    place = interaction.channel
    around = frozenset({str(place.parent_id)}) if isinstance(place, discord.Thread) else frozenset()
    return replace(principal_of(interaction.user, interaction.guild_id), within=around)


def address_of(chatbot_id: str, interaction: discord.Interaction) -> Address:
    """The channel or thread of an interaction."""
    return Address(chatbot_id=chatbot_id, channel_id=str(interaction.channel_id))


def key_of(interaction: discord.Interaction) -> str:
    """The key of the event that is made from an interaction."""
    return f"interaction:{interaction.id}"
