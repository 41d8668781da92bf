"""Direct chats with the people whom the config names. Discord lists none to a bot, and a chat that is not known is not
read after an absence; so each is opened once, which its other side does not notice."""

import asyncio
import logging
from collections.abc import Sequence

import discord

from kesoku.adapter import State
from kesoku_discord import snowflake
from kesoku_discord.config import DiscordConfig
from kesoku_discord.inbound.memory import Channels
from kesoku_discord.wire.errors import REMOTE, UNSURE

MOST = 10
"""People with whom a chat is opened; Discord slows bots down that open many."""
_OPENED = "direct_opened"
_PERSON = "user:"
_SECONDS = 10.0
_log = logging.getLogger(__name__)


def named(config: DiscordConfig) -> Sequence[int]:
    """The ids of the people who may talk to the bot by their own entry, the admins first."""
    entries = dict.fromkeys(each for each in (*config.admins, *config.allow) if each not in config.deny)
    ids = (snowflake.parse(each.removeprefix(_PERSON)) for each in entries if each.startswith(_PERSON))
    return [each for each in ids if each is not None][:MOST]


async def open_named(config: DiscordConfig, *, client: discord.Client, direct: Channels, state: State) -> None:
    """Get to know the chats that were not opened yet. What Discord refuses is not asked again, over restarts."""
    stored = await state.get(_OPENED)
    opened = [str(each) for each in stored] if isinstance(stored, list) else []
    asked = [each for each in named(config) if str(each) not in opened]
    try:
        async with asyncio.timeout(_SECONDS):
            for person in asked:
                opened += [str(person)] * await _open(person, client, direct)
    except TimeoutError:
        _log.debug("not all direct chats are known yet")
    if asked:
        await state.set(_OPENED, opened)


async def _open(person: int, client: discord.Client, direct: Channels) -> bool:
    """Open one; whether Discord has said yes or no to it."""
    try:
        chat = await client.http.start_private_message(person)
    except UNSURE as error:
        _log.debug("the direct chat with %s is not known yet: %r", person, error)
        return False
    except REMOTE as error:
        _log.debug("there is no direct chat with %s: %r", person, error)
        return not isinstance(error, discord.RateLimited)
    await direct.add(int(chat["id"]))
    return True
