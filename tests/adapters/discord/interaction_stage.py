"""The room of interactions alone: a loopback Discord, the library, and the inbox and outbox of the core."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import discord

from kesoku.adapter import (
    Address,
    Capabilities,
    Choice,
    Command,
    CommandRegistry,
    CommandSpec,
    Inbox,
    Invocation,
    Outgoing,
    Pressed,
    Principal,
    Question,
)
from kesoku.adapter.access import Access
from kesoku.adapter.staging import Staging
from kesoku.agent.budget import Budget
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.app.commands import registry
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.turn import TurnRequest
from kesoku.render.mask import NOTHING
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.assistant import always
from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.model import ScriptedModel
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import closing
from kesoku_discord.interaction.interactions import Interactions
from kesoku_discord.wire.client import Gateway

from .room_stage import RoomAdapter, RoomStage
from .wire_stage import configured, holds


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


class Desk(RoomAdapter):
    """An adapter that hears interactions only."""

    def __init__(self, config: DiscordConfig, patience: float) -> None:
        super().__init__(config)
        self.patience = patience
        self.interactions: Interactions | None = None
        self.heard: list[discord.Interaction] = []

    def furnish(self, inbox: Inbox, client: Gateway) -> None:
        """Make the room."""
        self.interactions = Interactions(
            chatbot_id="discord", config=self.config, inbox=inbox, client=client, patience=self.patience
        )

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
        await super().ready()

    async def interaction(self, interaction: discord.Interaction) -> None:
        """Somebody pressed or gave a command."""
        self.heard.append(interaction)
        if self.interactions:
            await self.interactions.interaction(interaction)


@dataclass
class Stage(RoomStage):
    """Ada may talk, Eve may not, Ida is an admin; all are in the guild."""

    commands: CommandRegistry = field(default_factory=Commands)
    patience: float = 5.0
    """Seconds for what is offered while somebody types."""
    settings: dict[str, Any] = field(default_factory=dict)
    """More of the bot's configuration."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ada, self.eve, self.ida = self.people("Ada", "Eve", "Ida")
        self.access = Access(allow=(f"user:{self.ada.id}",), admins=(f"user:{self.ida.id}",))
        self.address = Address(chatbot_id="discord", channel_id=str(self.room.id))

    @property
    def desk(self) -> Desk:
        """The adapter that runs."""
        desk: Desk = self.bot.adapter
        return desk

    def person(self, user: Any) -> Principal:
        """Somebody, as the core sees them."""
        return Principal(user_id=str(user.id), display_name=user.name, guild=str(self.guild.id))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[AdapterRunner]:
        """The bot is connected, and Discord has its commands."""
        desk = Desk(configured(self.server, **self.settings), self.patience)
        capabilities = Capabilities(max_text=2000, buttons=True, edits=True)
        self.bot = self.runner(desk, access=self.access, capabilities=capabilities, commands=self.commands)
        async with self.bot:
            await holds(lambda: desk.readies, "ready")
            yield self.bot

    async def shown(self, *texts: str, where: Any = None) -> None:
        """Wait until these messages, and no others, stand in the channel."""
        place = where or self.room
        await holds(
            lambda: tuple(each.content for each in self.server.messages(place)) == texts,
            f"{texts} in {[each.content for each in self.server.messages(place)]}",
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
        mask=NOTHING,
    )


@asynccontextmanager
async def stage(
    folder: Path, commands: CommandRegistry | Callable[[Stage], CommandRegistry] | None = None
) -> AsyncIterator[Stage]:
    """A stage whose bot runs."""
    async with LoopbackDiscord() as server:
        made = Stage(server, folder)
        made.commands = commands(made) if callable(commands) else commands or made.commands
        async with made.running():
            yield made
