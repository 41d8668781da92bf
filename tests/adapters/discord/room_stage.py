"""What the stages of single rooms share: an adapter of one room, a guild with people, and the core of a bot there."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import discord

from kesoku.adapter import Address, Button, Inbox, Outgoing, Presentation, Receipt, Record, RenderContext
from kesoku.adapter.access import Access
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.ports import Store
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.discord import User as Person
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku_discord.config import DiscordConfig
from kesoku_discord.login import token_of
from kesoku_discord.manifest import MANIFEST, VISIBILITY
from kesoku_discord.wire.client import Gateway
from kesoku_discord.wire.outbound import Outbound
from kesoku_discord.wire.serve import serve

from .wire_stage import QUICK

TOLD = replace(
    VISIBILITY,
    thought=Presentation.HIDDEN,
    tool_call=Presentation.HIDDEN,
    tool_result=Presentation.HIDDEN,
    notice=Presentation.SHOWN,
)
"""What people say and are told, and no status of a turn."""


class RoomAdapter:
    """An adapter that has one room only, and writes whatever is shown as plain messages."""

    def __init__(self, config: DiscordConfig) -> None:
        self.config = config
        self.client: Gateway | None = None
        self.readies = 0
        self._outbound = Outbound()

    def furnish(self, inbox: Inbox, client: Gateway) -> None:
        """Make the room."""
        raise NotImplementedError

    async def run(self, inbox: Inbox) -> None:
        """Connect until cancelled."""
        self.client = self._outbound.client = Gateway(self.config, self, inbox.report, timing=QUICK)
        self.furnish(inbox, self.client)
        await serve(self.client, token_of(self.config))

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """The text, with the buttons of a question."""
        asked = context.question
        buttons = tuple(Button(label=each, token=asked.id, value=each) for each in asked.choices) if asked else ()
        return (Outgoing(text=record.message.text or "…", buttons=buttons),)

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """As the product does."""
        return await self._outbound.send(address, outgoing, key)

    async def edit(self, address: Address, platform_id: str, outgoing: Outgoing) -> None:
        """As the product does."""
        await self._outbound.edit(address, platform_id, outgoing)

    async def ready(self) -> None:
        """A session began."""
        self.readies += 1

    def arrived(self, message_id: int) -> None:
        """Not here."""

    def left_out(self, message_id: int) -> None:
        """Not here."""

    async def message(self, message: discord.Message) -> None:
        """Not here."""

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Not here."""

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Not here."""

    async def gone(self, channel_id: int) -> None:
        """Not here."""

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Not here."""


@dataclass
class RoomStage:
    """A guild with one channel, `room`. The store outlives each run of the bot."""

    server: LoopbackDiscord
    folder: Path
    store: Store = field(default_factory=MemoryStore)
    bounds: FloodBounds = field(default_factory=FloodBounds)

    def __post_init__(self) -> None:
        self.guild = self.server.guild("Band")
        self.room = self.server.channel("room", guild=self.guild)
        self.clock = WallClock()
        self.gateway = StoreGateway(self.store, self.clock, BusyPolicy(), FakePresence(), bounds=self.bounds)

    def people(self, *names: str) -> Sequence[Person]:
        """Members of the guild."""
        made = [self.server.user(name) for name in names]
        for each in made:
            self.server.join(self.guild, each)
        return made

    def runner(self, adapter: RoomAdapter, *, access: Access, capabilities: Any, **options: Any) -> AdapterRunner:
        """The core of a bot."""
        return AdapterRunner(
            manifest=replace(MANIFEST, capabilities=capabilities, visibility=TOLD),
            store=self.store,
            gateway=self.gateway,
            clock=self.clock,
            folder=self.folder,
            adapter=adapter,
            access=access,
            policy=DeliveryPolicy(drain_seconds=0.0),
            **options,
        )

    async def stored(self) -> list[Record]:
        """The prompts of all bots in all channels, in the order of their commits."""
        found = await self.store.read(
            lambda tx: [
                record
                for _, session in tx.sessions.channels()
                for record in tx.messages.session(session.id)
                if record.kind == "user_prompt"
            ]
        )
        return sorted(found, key=lambda each: each.seq)
