"""Looks once more at questions that wait, after a time in which nobody told of edits and deletions."""

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import discord

from kesoku.adapter import Address, Record
from kesoku_discord import snowflake
from kesoku_discord.channels import is_post
from kesoku_discord.inbound.intake import message_id_of
from kesoku_discord.wire.errors import REMOTE
from kesoku_discord.wire.reading import message_of

MOST = 50
"""Questions that are looked at; where more wait, the first ones count, which are answered next."""
_log = logging.getLogger(__name__)


class Editor(Protocol):
    """Who takes what has changed."""

    async def rewrite(self, message: discord.Message) -> None:
        """The text of a message has changed."""
        ...

    async def withdraw(self, message_id: int, address: Address) -> None:
        """A message is gone; it was to be answered here."""
        ...


async def revisit(waiting: Sequence[Record], client: discord.Client, editor: Editor, *, most: int = MOST) -> None:
    """Hand over what has changed of these prompts. What cannot be read stays as it is; the log says so."""
    for record in waiting[:most]:
        try:
            await _look(record, client, editor)
        except REMOTE as error:
            _log.warning("whether a question in %s was changed is not known: %r", record.address, error)


async def _look(record: Record, client: discord.Client, editor: Editor) -> None:
    message_id = message_id_of(record)
    channel = None if message_id is None else _place(record.address, message_id, client)
    if message_id is None or channel is None:
        return
    try:
        data = await client.http.get_message(channel.id, message_id)
    except discord.NotFound:
        await editor.withdraw(message_id, record.address)
        return
    message = message_of(client, channel, data)
    if message is not None and message.edited_at is not None:
        await editor.rewrite(message)


def _place(address: Address, message_id: int, client: discord.Client) -> Any:
    """Where a message stands that is answered here: a thread that was opened on it is not that; None if unknown."""
    channel_id = snowflake.parse(address.channel_id)
    if channel_id is None:
        return None
    channel = client.get_channel(channel_id)
    if channel_id != message_id or is_post(channel):
        return channel or client.get_partial_messageable(channel_id)
    return channel.parent if isinstance(channel, discord.Thread) else None
