"""The Discord adapter: one client of discord.py, and the rooms that translate for it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import discord

from kesoku.adapter import (
    Address,
    Command,
    Draft,
    Inbox,
    Outgoing,
    Pressed,
    Question,
    Receipt,
    Record,
    RenderContext,
    RetryLater,
    Tick,
    TurnEnd,
)
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import closing, live
from kesoku_discord.drawing.render import render
from kesoku_discord.inbound.messages import Messages
from kesoku_discord.interaction.interactions import Interactions
from kesoku_discord.login import token_of
from kesoku_discord.wire.client import Gateway
from kesoku_discord.wire.connection import Timing
from kesoku_discord.wire.outbound import Outbound
from kesoku_discord.wire.serve import serve


class DiscordAdapter:
    """One bot on Discord. Implements the adapter contract with edits, deletions, typing, look-ups and a live status."""

    def __init__(self, chatbot_id: str, config: DiscordConfig, *, timing: Timing | None = None) -> None:
        self._chatbot_id, self._config, self._timing = chatbot_id, config, timing
        self._outbound = Outbound()
        self._interactions: Interactions | None = None

    async def run(self, inbox: Inbox) -> None:
        """Connect and feed the inbox until cancelled. Raises LoginNeeded where Discord does not let the bot in."""
        token, rooms = token_of(self._config), _Rooms()
        client = Gateway(self._config, rooms, inbox.report, timing=self._timing)
        rooms.messages = Messages(chatbot_id=self._chatbot_id, config=self._config, inbox=inbox, client=client)
        rooms.interactions = self._interactions = Interactions(
            chatbot_id=self._chatbot_id, config=self._config, inbox=inbox, client=client
        )
        self._outbound.client = client
        try:
            await serve(client, token)
        finally:
            self._outbound.client = self._interactions = None

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """See the contract."""
        return render(record, context, self._config)

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """See the contract; `key` is the nonce that Discord honours for a few minutes."""
        return await self._outbound.send(address, outgoing, key)

    async def edit(self, address: Address, platform_id: str, outgoing: Outgoing) -> None:
        """See the contract."""
        await self._outbound.edit(address, platform_id, outgoing)

    async def delete(self, address: Address, platform_id: str) -> None:
        """See the contract."""
        await self._outbound.delete(address, platform_id)

    async def typing(self, address: Address, on: bool) -> None:
        """See the contract."""
        await self._outbound.typing(address, on)

    async def find(self, address: Address, outgoing: Outgoing, key: str, since: float) -> Sequence[Receipt]:
        """See the contract."""
        return await self._outbound.find(address, outgoing, key, since)

    async def answer(self, event: Pressed | Command, text: str) -> None:
        """See the contract."""
        if self._interactions is None:
            raise RetryLater(reason="not connected to Discord")
        await self._interactions.answer(event, text)

    def closed(self, shown: Outgoing, question: Question, answer: str | None, by: str) -> Outgoing:
        """See the contract."""
        return closing.closed(shown, question, answer, by)

    def fold(self, state: Any, item: Record | Draft | Tick) -> Any:
        """See the contract."""
        return live.fold(state, item)

    def draw(self, state: Any, now: float) -> Outgoing:
        """See the contract."""
        return live.draw(state, now, self._config)

    def close(self, state: Any, end: TurnEnd) -> Outgoing | None:
        """See the contract."""
        return live.close(state, end)


class _Rooms:
    """The listener of the client: messages to the one room, presses and commands to the other."""

    messages: Messages
    interactions: Interactions

    async def ready(self) -> None:
        """A new session began. Neither room waits for the other one, or for its troubles."""
        await asyncio.gather(self.messages.ready(), self.interactions.ready())

    def arrived(self, message_id: int) -> None:
        """A message came, and will be handed over."""
        self.messages.arrived(message_id)

    def left_out(self, message_id: int) -> None:
        """It will not be handed over."""
        self.messages.left_out(message_id)

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote."""
        await self.messages.message(message)

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A message was edited."""
        await self.messages.edited(payload)

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted."""
        await self.messages.deleted(payload)

    async def gone(self, channel_id: int) -> None:
        """A channel is gone."""
        await self.messages.gone(channel_id)

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Somebody pressed or gave a command."""
        await self.interactions.interaction(interaction)
