"""Where a message stands, also where the library does not know that yet."""

import logging

import discord

from kesoku.adapter import Recent

_REFUSALS = (discord.NotFound, discord.Forbidden, discord.InvalidData)
_log = logging.getLogger(__name__)


class Places:
    """Asks Discord for channels of known servers that the library lacks, such as a thread that is just opened again."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._refused = Recent[int]()

    async def find(self, message: discord.Message) -> None:
        """Put the message into its channel; without that nobody knows whose thread it is. Raises errors of REMOTE."""
        channel = message.channel
        if not isinstance(channel, discord.PartialMessageable) or message.guild is None or channel.id in self._refused:
            return
        try:
            message.channel = await self._client.fetch_channel(channel.id)  # type: ignore[assignment]
        except _REFUSALS as error:
            _log.warning("nothing is known of channel %s: %s", channel.id, error)
            self._refused.add(channel.id)
