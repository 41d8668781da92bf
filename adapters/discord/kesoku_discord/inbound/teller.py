"""Single lines that the adapter itself has to say in a channel. What the core says goes through the outbox."""

import hashlib
import logging
from typing import Any

import discord

from kesoku_discord.wire.errors import REMOTE

_log = logging.getLogger(__name__)


class Teller:
    """Says lines over the client of one bot."""

    def __init__(self, chatbot_id: str, client: discord.Client) -> None:
        self._chatbot_id, self._client = chatbot_id, client

    async def say(self, channel_id: int, line: str, *, key: str, reply_to: discord.Message | None = None) -> None:
        """Say a line that pings nobody; the same `key` again within minutes says it once. Failures are logged."""
        nonce = hashlib.sha256(f"{self._chatbot_id}:{key}".encode()).hexdigest()[:24]
        place = self._client.get_partial_messageable(channel_id)
        options: dict[str, Any] = {"nonce": nonce, "allowed_mentions": discord.AllowedMentions.none()}
        if reply_to is not None:
            options["reference"] = reply_to.to_reference(fail_if_not_exists=False)
        try:
            await place.send(line, **options)
        except REMOTE as error:
            _log.warning("cannot say in channel %s: %s (%s)", channel_id, line, error)
