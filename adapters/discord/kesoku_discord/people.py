"""A person of Discord, in the words of the core."""

import discord

from kesoku.adapter import Principal


def principal_of(
    user: discord.User | discord.Member, guild_id: int | None, within: frozenset[str] = frozenset()
) -> Principal:
    """A person in a place that lies `within` these channels.

    Roles are those of the guild in which something was done, its own id among them. They are the ids that Discord sent:
    the library names only roles that it knows already, and would leave out those of a server that it has not heard of
    yet, also where they are denied.
    """
    roles = (*user._roles, guild_id) if guild_id and isinstance(user, discord.Member) else ()  # noqa: SLF001
    return Principal(
        user_id=str(user.id),
        display_name=user.display_name,
        roles=frozenset(map(str, roles)),
        guild=str(guild_id) if guild_id else None,
        is_bot=user.bot,
        direct=guild_id is None,
        within=within,
    )
