"""The room of messages alone: a loopback Discord, the library, and the inbox of the core."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import discord

from kesoku.adapter import Address, Capabilities, Inbox, Outgoing, Presentation, Receipt, Record, RenderContext
from kesoku.adapter.access import Access
from kesoku.adapter.policy import DeliveryPolicy, IntakePolicy
from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.discord import Channel, LoopbackDiscord, Message
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import until
from kesoku_discord.config import DiscordConfig
from kesoku_discord.inbound.messages import Messages
from kesoku_discord.manifest import MANIFEST, VISIBILITY
from kesoku_discord.wire.client import Gateway, Timing, serve

SECONDS = 5.0
PLAIN = replace(
    VISIBILITY,
    thought=Presentation.HIDDEN,
    tool_call=Presentation.HIDDEN,
    tool_result=Presentation.HIDDEN,
    notice=Presentation.SHOWN,
)


@dataclass
class Ear:
    """An adapter that hears messages only, and writes notices as plain messages."""

    chatbot_id: str
    config: DiscordConfig
    token: str
    client: Gateway | None = None
    messages: Messages | None = None
    readies: int = 0
    handled: int = 0
    hold: Callable[[], Any] | None = None
    """What `ready` waits for."""

    async def run(self, inbox: Inbox) -> None:
        """Connect until cancelled."""
        self.client = Gateway(self.config, self, health=inbox.report, timing=Timing(guilds=0.01, identify=0.0))
        self.messages = Messages(chatbot_id=self.chatbot_id, config=self.config, inbox=inbox, client=self.client)
        await serve(self.client, self.token)

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """The text."""
        return (Outgoing(text=record.message.text or "…"),)

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Write it."""
        if self.client is None:
            raise LookupError("not connected")
        route = discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=address.channel_id)
        sent = await self.client.http.request(route, json={"content": outgoing.text})
        return Receipt(platform_ids=(str(sent["id"]),))

    @property
    def room(self) -> Messages:
        """The room under test."""
        if self.messages is None:
            raise LookupError("not connected")
        return self.messages

    async def ready(self) -> None:
        """A session began."""
        if self.hold is not None:
            await self.hold()
        await self.room.ready()
        self.readies += 1

    def arrived(self, message_id: int) -> None:
        """A message came."""
        self.room.arrived(message_id)

    def left_out(self, message_id: int) -> None:
        """It will not be handed over."""
        self.room.left_out(message_id)

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote."""
        await self.room.message(message)
        self.handled += 1

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A message was edited."""
        await self.room.edited(payload)
        self.handled += 1

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted."""
        await self.room.deleted(payload)
        self.handled += 1

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Not here."""


@dataclass
class Stage:
    """Ada may talk, Eve may not; both are in the guild of `room`. The store outlives each run."""

    server: LoopbackDiscord
    folder: Path
    store: MemoryStore = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        self.guild = self.server.guild("Band")
        self.room = self.server.channel("room", guild=self.guild)
        self.ada, self.eve, self.bob = (self.server.user(name) for name in ("Ada", "Eve", "Bob"))
        for each in (self.ada, self.eve, self.bob):
            self.server.join(self.guild, each)
        self.access = Access(allow=(f"user:{self.ada.id}", f"user:{self.bob.id}"))
        self.intake = IntakePolicy()
        self.clock = WallClock()
        bounds = FloodBounds(per_person_per_minute=10_000, per_channel_per_minute=10_000, queued_per_channel=10_000)
        self.gateway = StoreGateway(self.store, self.clock, BusyPolicy(), FakePresence(), bounds=bounds)

    @asynccontextmanager
    async def running(
        self, *, chatbot_id: str = "discord", hold: Callable[[], Any] | None = None, ready: bool = True, **options: Any
    ) -> AsyncIterator[AdapterRunner]:
        """The bot is connected; with `ready` it has caught up."""
        config = DiscordConfig.model_validate(
            {"api_base_url": self.server.api_base_url, "gateway_url": self.server.gateway_url, **options}
        )
        ear = Ear(chatbot_id, config, self.server.token, hold=hold)
        runner = AdapterRunner(
            manifest=replace(MANIFEST, capabilities=Capabilities(max_text=2000), visibility=PLAIN),
            store=self.store,
            gateway=self.gateway,
            clock=self.clock,
            folder=self.folder,
            chatbot_id=chatbot_id,
            adapter=ear,
            access=self.access,
            policy=DeliveryPolicy(drain_seconds=0.0),
            intake=self.intake,
        )
        async with runner:
            if ready:
                await holds(lambda: ear.readies, "ready")
            yield runner

    async def prompts(self, n: int) -> list[Record]:
        """The stored prompts of all bots in the order of their commits, once there are so many; never more."""
        found: list[Record] = []

        async def enough() -> bool:
            found[:] = await self._prompts()
            return len(found) >= n

        await until(enough, what=f"{n} prompts", seconds=SECONDS)
        if len(found) != n:
            raise AssertionError(f"{len(found)} prompts instead of {n}: {[each.message.text for each in found]}")
        return found

    async def _prompts(self) -> list[Record]:
        found = await self.store.read(
            lambda tx: [
                record
                for _, session in tx.sessions.channels()
                for record in tx.messages.session(session.id)
                if record.kind == "user_prompt"
            ]
        )
        return sorted(found, key=lambda each: each.seq)

    def shown(self, channel: Channel) -> list[str]:
        """What the bot wrote in a channel."""
        return [each.content for each in self.server.messages(channel) if each.author_id == self.server.bot_id]

    async def settled(self, ear: Ear, n: int) -> None:
        """So many events were handled."""
        await holds(lambda: ear.handled >= n, f"{n} events handled")

    def keys(self, messages: Sequence[Message]) -> list[str]:
        """Their ids."""
        return [str(each.id) for each in messages]


async def holds(condition: Callable[[], object], what: str) -> None:
    """Wait until it is so."""

    async def held() -> bool:
        return bool(condition())

    await until(held, what=what, seconds=SECONDS)


@asynccontextmanager
async def stage(folder: Path, **options: Any) -> AsyncIterator[Stage]:
    """A loopback Discord with its people; no bot runs yet."""
    async with LoopbackDiscord(**options) as server:
        yield Stage(server, folder)


def alone(folder: Path, intake: IntakePolicy) -> AdapterRunner:
    """The core of a bot that does not run, for its inbox."""
    store, clock = MemoryStore(), WallClock()
    return AdapterRunner(
        manifest=MANIFEST,
        store=store,
        gateway=StoreGateway(store, clock, BusyPolicy(), FakePresence()),
        clock=clock,
        folder=folder,
        adapter=object(),
        access=Access(allow=("everyone",)),
        intake=intake,
    )


def message_ids(record: Record) -> dict[str, Any]:
    """The platform's ids in the source of a prompt."""
    ids: Any = record.message.source.to_dict().get("platform_ids", {})
    return dict(ids)
