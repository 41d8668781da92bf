"""What people do beside writing: slash commands, what Discord offers while they type, buttons and menus."""

import asyncio
import logging
from collections import OrderedDict

import discord

from kesoku.adapter import Command, Inbox, Pressed, Refused
from kesoku_discord.config import DiscordConfig
from kesoku_discord.interaction.command import given, run
from kesoku_discord.interaction.command_sync import sync
from kesoku_discord.interaction.complete import PATIENCE, complete
from kesoku_discord.interaction.origin import key_of
from kesoku_discord.interaction.press import Press, press
from kesoku_discord.interaction.reply import Reply

_REMEMBERED = 1000
_BROKEN = "This did not work; the log of the bot says why."
_STOPPED = "The bot was stopped while it did this. Once it runs again, please look whether it was done."
_SHORTLY = 0.5
"""Seconds for a last word: nobody waits long for a bot to stop."""
_log = logging.getLogger(__name__)


class Interactions:
    """The interactions of one bot. The gate, who may do what, and that it happens once are the core's; what Discord
    wants within seconds is here. `patience` is for what is offered while somebody types."""

    def __init__(
        self,
        *,
        chatbot_id: str,
        config: DiscordConfig,
        inbox: Inbox,
        client: discord.Client,
        patience: float = PATIENCE,
    ) -> None:
        self._chatbot_id, self._config, self._inbox, self._client = chatbot_id, config, inbox, client
        self._patience = patience
        self._replies: OrderedDict[str, Reply] = OrderedDict()
        self._syncing = asyncio.Lock()

    async def ready(self) -> None:
        """A session began: Discord is told the commands, if it does not have these."""
        async with self._syncing:
            await sync(self._client, self._inbox)

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Somebody gave a command, types one, or pressed something; a redelivery is dropped."""
        if interaction.type is discord.InteractionType.autocomplete:
            await complete(self._chatbot_id, interaction, self._inbox, patience=self._patience)
        elif interaction.channel_id is not None and (reply := self._first_time(interaction)):
            try:
                await self._handle(interaction, reply)
            except asyncio.CancelledError:
                if not reply.said:
                    await reply.try_to_say(_STOPPED, seconds=_SHORTLY)
                raise
            except Exception:
                await reply.try_to_say(_BROKEN)
                raise

    async def answer(self, event: Pressed | Command, text: str) -> None:
        """See the adapter contract. Raises if the interaction takes no answer any more.

        What is said to an answer to a question waits until it is known whether everybody shall see it.
        """
        reply = self._replies.get(event.key)
        if reply is None:
            raise Refused(reason="this press or command is not known here")
        if isinstance(event, Pressed):
            reply.keep(text)
        else:
            await reply.say(text)

    async def _handle(self, interaction: discord.Interaction, reply: Reply) -> None:
        if interaction.type is discord.InteractionType.application_command:
            await reply.think()
            await run(self._inbox, given(self._chatbot_id, interaction, self._inbox.commands()), reply)
        elif interaction.type is discord.InteractionType.component:
            pressed = Press(chatbot_id=self._chatbot_id, config=self._config, interaction=interaction, reply=reply)
            await press(self._inbox, pressed)

    def _first_time(self, interaction: discord.Interaction) -> Reply | None:
        """How this interaction is answered; None if it came before."""
        key = key_of(interaction)
        if key in self._replies:
            _log.info("an interaction came twice: %s", interaction.id)
            return None
        if len(self._replies) >= _REMEMBERED:
            self._replies.popitem(last=False)
        self._replies[key] = reply = Reply(interaction)
        return reply
