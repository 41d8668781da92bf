"""What the bot says to one press or command, within the times that Discord sets."""

import asyncio
import logging
from io import BytesIO

import discord

from kesoku.adapter import DeliveryError, Refused
from kesoku_discord.drawing.split import split
from kesoku_discord.drawing.text import sayable
from kesoku_discord.wire.errors import foreign_errors

MOST_PARTS = 10
"""Messages that one reply may be; a longer one is a file."""
_UNKNOWN = 10062
"""Discord's code for an interaction whose time is over."""
_FIRST = 3.0
_LATER = 20.0
_NOBODY = discord.AllowedMentions.none()
_log = logging.getLogger(__name__)


class Reply:
    """The answer to one interaction, which only the person who caused it sees.

    Begin with `think` or `acknowledge`, at once: Discord waits three seconds for it, and then fifteen minutes.
    """

    def __init__(self, interaction: discord.Interaction) -> None:
        self.said = False
        """Whether the person was told something."""
        self.kept = ""
        """What the core said last."""
        self._interaction = interaction
        self._thinking = False
        self._over: Refused | None = None

    async def think(self) -> None:
        """Let the person see that something is on its way."""
        self._thinking = True
        await self._begin()

    async def acknowledge(self) -> None:
        """Say that a press arrived; the message stays as it is."""
        await self._begin()

    def keep(self, text: str) -> None:
        """Hold a text until it is known whether it is for the person or for everybody."""
        self.kept = text

    async def say(self, text: str) -> None:
        """Tell the person a text of any length. Raises DeliveryError."""
        self.keep(text)
        if self._over:
            raise self._over
        parts = await asyncio.to_thread(split, text)
        with foreign_errors():
            await self._send(text, parts)

    async def try_to_say(self, text: str, *, seconds: float = _LATER) -> None:
        """The same for what can be left out: a failure is logged."""
        try:
            with foreign_errors():
                async with asyncio.timeout(seconds):
                    await self.say(text)
        except DeliveryError as error:
            _log.warning("a press or command could not be answered: %s", error)

    async def redraw(self, text: str) -> None:
        """Give the message that was pressed another text, and take its buttons away. A failure is logged."""
        if self._over:
            return
        try:
            with foreign_errors():
                async with asyncio.timeout(_LATER):
                    await self._interaction.edit_original_response(content=text, view=None, allowed_mentions=_NOBODY)
        except DeliveryError as error:
            _log.warning("the buttons of a message could not be taken away: %s", error)

    async def _begin(self) -> None:
        """Tell Discord that it arrived. Where that fails it may have come through all the same: what is said later
        shows whether Discord still takes it. What Discord does not know any more is not tried again."""
        try:
            with foreign_errors():
                async with asyncio.timeout(_FIRST):
                    await self._interaction.response.defer(ephemeral=self._thinking, thinking=self._thinking)
        except DeliveryError as error:
            if isinstance(error, Refused) and getattr(error.__cause__, "code", None) == _UNKNOWN:
                self._over = error
            _log.warning("Discord was not told in time that a press or command arrived: %s", error)

    async def _send(self, text: str, parts: list[str]) -> None:
        if len(parts) > MOST_PARTS:
            file = discord.File(BytesIO(sayable(text).encode()), "answer.md")
            await self._tell("This is long, so it is a file.", file)
            return
        for part in parts:
            await self._tell(part)

    async def _tell(self, text: str, *files: discord.File) -> None:
        """Fill the message that was promised, else send one more."""
        if self._thinking and not self.said:
            await self._interaction.edit_original_response(content=text, attachments=files, allowed_mentions=_NOBODY)
        else:
            await self._interaction.followup.send(text, files=files, ephemeral=True, allowed_mentions=_NOBODY)
        self.said = True
