"""The room of messages alone: a loopback Discord, the library, and the inbox of the core."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discord

from kesoku.adapter import Capabilities, Inbox, Record
from kesoku.adapter.access import Access
from kesoku.adapter.policy import IntakePolicy
from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.discord import Channel, LoopbackDiscord
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import until
from kesoku_discord.config import DiscordConfig
from kesoku_discord.inbound.messages import Messages
from kesoku_discord.manifest import MANIFEST
from kesoku_discord.wire.client import Gateway

from .room_stage import RoomAdapter, RoomStage
from .wire_stage import SECONDS, configured, holds

PATIENT = FloodBounds(per_person_per_minute=10_000, per_channel_per_minute=10_000, queued_per_channel=10_000)
"""Nobody says too much."""


class Ear(RoomAdapter):
    """An adapter that hears messages only."""

    def __init__(
        self,
        chatbot_id: str,
        config: DiscordConfig,
        hold: Callable[[], Any] | None = None,
        pauses: Sequence[float] = (),
    ) -> None:
        """`hold` is what `ready` waits for, `pauses` those of Messages."""
        super().__init__(config)
        self.chatbot_id, self.hold, self.pauses = chatbot_id, hold, pauses
        self.messages: Messages | None = None
        self.handled = 0

    def furnish(self, inbox: Inbox, client: Gateway) -> None:
        """Make the room."""
        self.messages = Messages(
            chatbot_id=self.chatbot_id,
            config=self.config,
            inbox=inbox,
            client=client,
            pauses=self.pauses,
            long_pauses=self.pauses,
        )

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
        await super().ready()

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

    async def gone(self, channel_id: int) -> None:
        """A channel is gone."""
        await self.room.gone(channel_id)
        self.handled += 1


@dataclass
class Stage(RoomStage):
    """Ada and Bob may talk, Eve may not; all are in the guild."""

    bounds: FloodBounds = PATIENT

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ada, self.eve, self.bob = self.people("Ada", "Eve", "Bob")
        self.access = Access(allow=(f"user:{self.ada.id}", f"user:{self.bob.id}"))
        self.intake = IntakePolicy()

    @asynccontextmanager
    async def running(
        self,
        *,
        chatbot_id: str = "discord",
        hold: Callable[[], Any] | None = None,
        ready: bool = True,
        pauses: Sequence[float] = (),
        **options: Any,
    ) -> AsyncIterator[AdapterRunner]:
        """The bot is connected; with `ready` it has caught up."""
        ear = Ear(chatbot_id, configured(self.server, **options), hold, pauses)
        runner = self.runner(
            ear,
            access=self.access,
            capabilities=Capabilities(max_text=2000),
            chatbot_id=chatbot_id,
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
            found[:] = await self.stored()
            return len(found) >= n

        await until(enough, what=f"{n} prompts", seconds=SECONDS)
        if len(found) != n:
            raise AssertionError(f"{len(found)} prompts instead of {n}: {[each.message.text for each in found]}")
        return found

    def shown(self, channel: Channel) -> list[str]:
        """What the bot wrote in a channel."""
        return [each.content for each in self.server.messages(channel) if each.author_id == self.server.bot_id]

    async def settled(self, bot: AdapterRunner, n: int) -> None:
        """So many events were handled."""
        await holds(lambda: bot.adapter.handled >= n, f"{n} events handled")


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


def texts(records: Sequence[Record]) -> list[str]:
    """What was said, without headers."""
    return [each.message.rendered.splitlines()[-1] for each in records]
