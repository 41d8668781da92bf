"""A person of Discord, in the words of the core."""

import discord

from kesoku.adapter import Principal
from kesoku_discord.library import role_ids


def principal_of(
    user: discord.User | discord.Member, guild_id: int | None, within: frozenset[str] = frozenset()
) -> Principal:
    """A person in a place that lies `within` these channels.

    Roles are those of the guild in which something was done, its own id among them.
    """
    roles = (*role_ids(user), guild_id) if guild_id and isinstance(user, discord.Member) else ()
    return Principal(
        user_id=str(user.id),
        display_name=user.display_name,
        roles=frozenset(map(str, roles)),
        guild=str(guild_id) if guild_id else None,
        is_bot=user.bot,
        direct=guild_id is None,
        within=within,
    )
