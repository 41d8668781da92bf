"""From a message of Discord to a prompt of the core."""

from collections.abc import Sequence

import discord

from kesoku.adapter import Address, Attachment, Inbox, Principal, Prompt, Record
from kesoku_discord import snowflake
from kesoku_discord.config import ChannelConfig
from kesoku_discord.inbound import wording

MESSAGE_ID = "discord_message_id"
"""The metadata cell of the message's id."""


def message_id_of(record: Record) -> int | None:
    """The id of the message that a prompt was; None for one that came from elsewhere, such as the terminal."""
    ids = getattr(record.message.source, "platform_ids", {})
    return snowflake.parse(str(ids.get(MESSAGE_ID, "")))


def text_of(message: discord.Message, principal: Principal, inbox: Inbox, me: discord.ClientUser) -> str:
    """What the model reads: who wrote it and when, then what (K-115)."""
    return inbox.header(principal, message.created_at, mention=True) + wording.body(message, me)


def prompt_of(
    message: discord.Message,
    *,
    principal: Principal,
    address: Address,
    inbox: Inbox,
    me: discord.ClientUser,
    channel: ChannelConfig | None = None,
    attachments: Sequence[Attachment] = (),
) -> Prompt:
    """The prompt that a message is. `channel` says which model answers there, and in which role."""
    reference = message.reference
    is_reply = reference is not None and message.type is discord.MessageType.reply
    return Prompt(
        keys=(str(message.id),),
        address=address,
        principal=principal,
        text=text_of(message, principal, inbox, me),
        said=wording.harmless(wording.said(message, me)),
        attachments=tuple(attachments),
        platform_ids={MESSAGE_ID: str(message.id)},
        reply_to=str(reference.message_id) if is_reply and reference and reference.message_id else None,
        model=channel.model if channel else "",
        role=channel.role if channel else "",
    )
