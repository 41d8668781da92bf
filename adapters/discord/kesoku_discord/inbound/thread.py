"""Threads that the bot opens for what it answers (K-112). A message has one thread at most, and both have one id."""

import asyncio
import logging
from dataclasses import dataclass
from http import HTTPStatus

import discord

from kesoku_discord.config import ChannelConfig, DiscordConfig
from kesoku_discord.wire.errors import REMOTE, UNSURE, reason_of
from kesoku_discord.wire.verdict import verdict_of

_GONE, _EXISTS, _TOO_MANY, _NO_ACCESS, _NO_PERMISSION = 10008, 160004, 160006, 50001, 50013
_SECONDS = 15.0
_REASONS = {
    _TOO_MANY: "too many threads are active on this server",
    _NO_ACCESS: "I lack the permission View Channel",
    _NO_PERMISSION: "I lack the permission Create Public Threads",
}
_TOO_FAST = "too many threads are being opened"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Where a message is answered."""

    channel_id: int
    failure: str = ""
    """Why there is no thread, in words for people; empty if there is one."""


def wants_thread(message: discord.Message, config: DiscordConfig, channel: ChannelConfig | None) -> bool:
    """Whether this message begins a thread: in text and announcement channels where `auto_thread` says so."""
    if not isinstance(message.channel, discord.TextChannel):
        return False
    own = channel.auto_thread if channel else None
    return config.auto_thread if own is None else own


async def open_thread(
    message: discord.Message, title: str, *, client: discord.Client, archive_minutes: int
) -> Opened | None:
    """The thread of a message, opened if it has none; None if the message was deleted meanwhile, and wants no answer.
    Never raises for what Discord says.

    After a failure that leaves open whether there is a thread now, it is looked for before it is tried once more
    (complaint 99).
    """
    if message.flags.has_thread or message.thread is not None:
        return Opened(channel_id=message.id)
    if not _may_write(message):
        return Opened(channel_id=message.channel.id, failure="I lack the permission Send Messages in Threads")
    try:
        return await _create(message, title, archive_minutes)
    except UNSURE as error:
        _log.warning("it is not known whether a thread was opened on %s: %s", message.id, reason_of(error))
    if await _is_there(message.id, client):
        return Opened(channel_id=message.id)
    try:
        return await _create(message, title, archive_minutes)
    except UNSURE as error:
        _log.warning("no thread could be opened on %s: %s", message.id, reason_of(error))
    return Opened(channel_id=message.channel.id, failure="Discord did not open it")


async def _create(message: discord.Message, title: str, archive_minutes: int) -> Opened | None:
    """One try. Raises what leaves open whether it was done."""
    try:
        async with asyncio.timeout(_SECONDS):
            await message.create_thread(name=title, auto_archive_duration=archive_minutes)  # type: ignore[arg-type]
    except UNSURE:
        raise
    except discord.HTTPException as error:
        if error.code == _GONE:
            return None
        if error.code != _EXISTS:
            return Opened(channel_id=message.channel.id, failure=_reason(error))
    except discord.RateLimited:
        return Opened(channel_id=message.channel.id, failure=_TOO_FAST)
    return Opened(channel_id=message.id)


def _reason(error: discord.HTTPException) -> str:
    if error.status == HTTPStatus.TOO_MANY_REQUESTS:
        return _TOO_FAST
    return _REASONS.get(error.code) or verdict_of(error.status, error.code).words


async def _is_there(thread_id: int, client: discord.Client) -> bool:
    try:
        async with asyncio.timeout(_SECONDS):
            await client.fetch_channel(thread_id)
    except REMOTE as error:
        _log.debug("the thread %s was not found: %r", thread_id, error)
        return False
    return True


def _may_write(message: discord.Message) -> bool:
    """Whether the bot may write in threads here; opening one in which it is mute would help nobody."""
    me = message.guild.me if message.guild else None
    if me is None or not isinstance(message.channel, discord.TextChannel):
        return True
    return message.channel.permissions_for(me).send_messages_in_threads
