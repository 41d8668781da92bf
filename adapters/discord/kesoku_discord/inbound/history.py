"""What was written in a channel, as Discord remembers it."""

import asyncio
import logging
from typing import Any

import discord

from kesoku_discord.wire.reading import message_of

_PAGE = 100
_SECONDS = 60.0
"""For one page."""
_log = logging.getLogger(__name__)


async def history(
    client: discord.Client, channel_id: int, *, after: int, most: int, put_away: bool = False
) -> list[discord.Message]:
    """The newest messages after that id, at most so many, the oldest first; without those that cannot be read.

    A thread that is `put_away` is asked for, so that its messages know their server. Raises an error of REMOTE.
    """
    known = await client.fetch_channel(channel_id) if put_away else client.get_channel(channel_id)
    found: list[Any] = []
    while (wanted := min(_PAGE, most - len(found))) > 0:
        before = int(found[-1]["id"]) if found else None
        async with asyncio.timeout(_SECONDS):
            page = await client.http.logs_from(channel_id, wanted, before=before)
        new = [each for each in page if int(each["id"]) > after]
        found += new
        if len(new) < wanted:
            break
    else:
        _log.warning("channel %s: only the last %s messages were looked through", channel_id, len(found))
    place = known or client.get_partial_messageable(channel_id)  # a direct chat that the library has not met
    read = [message_of(client, place, each) for each in reversed(found)]
    return [each for each in read if each is not None]
