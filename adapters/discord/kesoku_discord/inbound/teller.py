"""Single lines that the adapter itself has to say in a channel. What the core says goes through the outbox."""

import hashlib
import logging

import discord

from kesoku_discord.wire.failure import REMOTE

_log = logging.getLogger(__name__)


class Teller:
    """Says lines over the client of one bot."""

    def __init__(self, chatbot_id: str, client: discord.Client) -> None:
        self._chatbot_id, self._client = chatbot_id, client

    async def say(self, channel_id: int, line: str, *, key: str, reply_to: discord.Message | None = None) -> None:
        """Say a line that pings nobody; the same `key` again within minutes says it once. Failures are logged."""
        nonce = hashlib.sha256(f"{self._chatbot_id}:{key}".encode()).hexdigest()[:24]
        place = self._client.get_partial_messageable(channel_id)
        reference = None if reply_to is None else reply_to.to_reference(fail_if_not_exists=False)
        try:
            if reference is None:
                await place.send(line, nonce=nonce, allowed_mentions=discord.AllowedMentions.none())
            else:
                nobody = discord.AllowedMentions.none()
                await place.send(line, nonce=nonce, allowed_mentions=nobody, reference=reference, mention_author=False)
        except REMOTE as error:
            _log.warning("cannot say in channel %s: %s (%s)", channel_id, line, error)
