"""Which messages are meant for the bot. Pure: a message is given as a few facts, and the answer says why, or None."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from kesoku_discord.config import ChannelConfig, Reason

Why = Reason | Literal["channel"]
"""Why a message is answered: a Reason, or because all are that are written in this channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What counts of a message."""

    mine: bool = False
    """The bot wrote it."""
    machine: bool = False
    """Another bot wrote it, or a webhook."""
    written: bool = True
    """Somebody wrote it; False for what Discord itself puts in, such as joins and pins."""
    direct: bool = False
    """It came in a direct chat."""
    mention: bool = False
    """Its text names the bot. That a reply pings whom it replies to is no mention (complaint 105)."""
    reply: bool = False
    """It replies to a message of the bot."""
    thread: bool = False
    """It stands in a thread of the bot: one that it opened, or that was opened for it."""


def why(facts: Facts, respond: Collection[Reason], channel: ChannelConfig | None) -> Why | None:
    """Why this message is answered, the strongest reason first; None if it is not.

    `channel` is what is configured for its channel or the parent of its thread. Of machines nothing but a mention is
    heard, wherever it stands, so that two bots cannot keep each other talking (complaints 105, 107); the access gate of
    the core comes on top of that.
    """
    if facts.mine or not facts.written or (channel is not None and channel.respond == "never"):
        return None
    held: dict[Reason, bool] = {
        "mention": facts.mention,
        "direct": facts.direct and not facts.machine,
        "reply": facts.reply and not facts.machine,
        "thread": facts.thread and not facts.machine,
    }
    for reason, holds in held.items():
        if holds and reason in respond:
            return reason
    return "channel" if channel is not None and channel.respond == "always" and not facts.machine else None
