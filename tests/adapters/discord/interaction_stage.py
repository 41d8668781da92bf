"""The room of interactions alone: a loopback Discord, the library, and the inbox and outbox of the core."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import discord

from kesoku.adapter import (
    Address,
    Button,
    Capabilities,
    Choice,
    Command,
    CommandRegistry,
    CommandSpec,
    Inbox,
    Invocation,
    Outgoing,
    Presentation,
    Pressed,
    Principal,
    Question,
    Receipt,
    Record,
    RenderContext,
)
from kesoku.adapter.access import Access
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.adapter.staging import Staging
from kesoku.agent.assistant import always
from kesoku.agent.budget import Budget
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.app.commands import registry
from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.turn import TurnRequest
from kesoku.ports import Store
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import ScriptedModel
from kesoku.testing.waiting import until
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import closing
from kesoku_discord.drawing.controls import rows_of
from kesoku_discord.interaction.interactions import Interactions
from kesoku_discord.manifest import MANIFEST, VISIBILITY
from kesoku_discord.wire.client import Gateway, Timing, serve

SECONDS = 5.0
NOTICES = replace(
    VISIBILITY,
    thought=Presentation.HIDDEN,
    tool_call=Presentation.HIDDEN,
    tool_result=Presentation.HIDDEN,
    notice=Presentation.SHOWN,
)
"""What people say and are told, and no status of a turn."""


class Commands:
    """Commands of a test: each replies with what it was given; what a script holds for a name is said or raised."""

    def __init__(
        self, *listed: CommandSpec, offered: Sequence[Choice] = (), replies: Mapping[str, Any] = FrozenDict()
    ) -> None:
        self.listed, self.offered, self.replies = listed, offered, replies
        self.given: list[Invocation] = []

    def specs(self) -> Sequence[CommandSpec]:
        """What the test said."""
        return self.listed

    async def run(self, invocation: Invocation) -> str | None:
        """Keep it and reply."""
        self.given.append(invocation)
        reply = self.replies.get(invocation.name, f"{invocation.name} {dict(invocation.arguments)}")
        if isinstance(reply, Exception):
            raise reply
        said: str | None = await reply() if callable(reply) else reply
        return said

    async def complete(self, invocation: Invocation, argument: str) -> Sequence[Choice]:
        """What the test offers."""
        self.given.append(invocation)
        return self.offered


@dataclass
class Desk:
    """An adapter that hears interactions only, and writes notices as plain messages."""

    server: LoopbackDiscord
    config: DiscordConfig
    patience: float
    client: Gateway | None = None
    interactions: Interactions | None = None
    readies: int = 0
    heard: list[discord.Interaction] = field(default_factory=list)

    async def run(self, inbox: Inbox) -> None:
        """Connect until cancelled."""
        self.client = Gateway(self.config, self, health=inbox.report, timing=Timing(guilds=0.02, identify=0.0))
        facts: dict[str, Any] = {"chatbot_id": "discord", "config": self.config, "inbox": inbox}
        self.interactions = Interactions(**facts, client=self.client, patience=self.patience)
        await serve(self.client, self.server.token)

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """The text, with the buttons of a question."""
        asked = context.question
        labels = asked.choices if asked else ()
        return (
            Outgoing(
                text=record.message.text or "…",
                buttons=tuple(Button(label=each, token=asked.id if asked else "", value=each) for each in labels),
            ),
        )

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Write it."""
        if self.client is None:
            raise LookupError("not connected")
        body = {"content": outgoing.text, "components": rows_of(outgoing)}
        route = discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=address.channel_id)
        sent = await self.client.http.request(route, json=body)
        return Receipt(platform_ids=(str(sent["id"]),))

    async def edit(self, address: Address, platform_id: str, outgoing: Outgoing) -> None:
        """Change it."""
        if self.client is None:
            raise LookupError("not connected")
        facts = {"channel_id": address.channel_id, "message_id": platform_id}
        route = discord.http.Route("PATCH", "/channels/{channel_id}/messages/{message_id}", **facts)
        await self.client.http.request(route, json={"content": outgoing.text, "components": rows_of(outgoing)})

    def closed(self, shown: Outgoing, question: Question, answer: str | None, by: str) -> Outgoing:
        """As the product does."""
        return closing.closed(shown, question, answer, by)

    async def answer(self, event: Pressed | Command, text: str) -> None:
        """As the product does."""
        if self.interactions is None:
            raise LookupError("not connected")
        await self.interactions.answer(event, text)

    async def ready(self) -> None:
        """A session began."""
        if self.interactions:
            await self.interactions.ready()
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

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Somebody pressed or gave a command."""
        self.heard.append(interaction)
        if self.interactions:
            await self.interactions.interaction(interaction)


@dataclass
class Stage:
    """Ada may talk, Eve may not, Ida is an admin; all are in the guild of `room`."""

    server: LoopbackDiscord
    folder: Path
    commands: CommandRegistry
    store: Store
    access: Access = field(default_factory=Access)
    patience: float = 5.0
    """Seconds for what is offered while somebody types."""
    bounds: FloodBounds = field(default_factory=FloodBounds)
    settings: dict[str, Any] = field(default_factory=dict)
    """More of the bot's configuration."""

    def __post_init__(self) -> None:
        self.guild = self.server.guild("Band")
        self.room = self.server.channel("room", guild=self.guild)
        self.ada, self.eve, self.ida = (self.server.user(name) for name in ("Ada", "Eve", "Ida"))
        for each in (self.ada, self.eve, self.ida):
            self.server.join(self.guild, each)
        self.access = Access(allow=(f"user:{self.ada.id}",), admins=(f"user:{self.ida.id}",))
        self.clock = WallClock()
        self.gateway = StoreGateway(self.store, self.clock, BusyPolicy(), FakePresence(), bounds=self.bounds)
        self.address = Address(chatbot_id="discord", channel_id=str(self.room.id))

    @property
    def desk(self) -> Desk:
        """The adapter that runs."""
        desk: Desk = self.runner.adapter
        return desk

    def person(self, user: Any) -> Principal:
        """Somebody, as the core sees them."""
        return Principal(user_id=str(user.id), display_name=user.name, guild=str(self.guild.id))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[AdapterRunner]:
        """The bot is connected, and Discord has its commands."""
        config = DiscordConfig.model_validate(
            {
                "token": self.server.token,
                "api_base_url": self.server.api_base_url,
                "gateway_url": self.server.gateway_url,
                **self.settings,
            }
        )
        desk = Desk(self.server, config, self.patience)
        capabilities = Capabilities(max_text=2000, buttons=True, edits=True)
        self.runner = AdapterRunner(
            manifest=replace(MANIFEST, capabilities=capabilities, visibility=NOTICES),
            store=self.store,
            gateway=self.gateway,
            clock=self.clock,
            folder=self.folder,
            adapter=desk,
            access=self.access,
            commands=self.commands,
            policy=DeliveryPolicy(drain_seconds=0.0),
        )
        async with self.runner:
            await until(lambda: holds(bool(desk.readies)), what="ready", seconds=SECONDS)
            yield self.runner

    async def shown(self, *texts: str, where: Any = None) -> None:
        """Wait until these messages, and no others, stand in the channel."""
        await until(
            lambda: holds(tuple(each.content for each in self.server.messages(where or self.room)) == texts),
            what=f"{texts} in {[each.content for each in self.server.messages(where or self.room)]}",
            seconds=SECONDS,
        )

    async def prompts(self) -> list[Record]:
        """What the agent was asked, in any channel."""
        return await self.store.read(
            lambda tx: [
                record
                for _, session in tx.sessions.channels()
                for record in tx.messages.session(session.id)
                if record.kind == "user_prompt"
            ]
        )


def product(on: Stage) -> CommandRegistry:
    """Every command of the product, over the stage's store."""
    request = TurnRequest(system="be kind", tools=())
    viewer = Viewer(assistants=always(ScriptedModel(), request=request), limits=TurnLimits())
    return registry(
        gateway=on.gateway,
        store=on.store,
        clock=on.clock,
        viewer=viewer,
        budget=Budget(),
        staging=Staging(on.folder / "staging"),
        hooks=["audit"],
    )


async def holds(value: bool) -> bool:
    """For `until`."""
    return value


@asynccontextmanager
async def stage(
    folder: Path, commands: CommandRegistry | Callable[[Stage], CommandRegistry] | None = None
) -> AsyncIterator[Stage]:
    """A stage whose bot runs."""
    async with LoopbackDiscord() as server:
        made = Stage(server, folder, Commands(), MemoryStore())
        made.commands = commands(made) if callable(commands) else commands or made.commands
        async with made.running():
            yield made
