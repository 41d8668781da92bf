"""The whole adapter with the core of a bot, and a turn that runs in a thread of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kesoku.adapter.access import Access
from kesoku.adapter.manifest import unpaced
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Claim
from kesoku.messages.record import Record
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.discord import Channel, Guild, LoopbackDiscord, Message, User
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import until
from kesoku_discord.adapter import DiscordAdapter
from kesoku_discord.manifest import MANIFEST

from .wire_stage import QUICK, configured, holds


@dataclass(kw_only=True, eq=False)
class Stage:
    """A Discord and a store that outlive each run of the bot."""

    server: LoopbackDiscord
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)
    """Of the config."""
    store: MemoryStore = field(default_factory=MemoryStore)

    def bot(self, person: User) -> AdapterRunner:
        """A new process."""
        clock = WallClock()
        timing = replace(QUICK, affirm=0.02)
        return AdapterRunner(
            manifest=replace(MANIFEST, capabilities=replace(MANIFEST.capabilities, pace=unpaced)),
            store=self.store,
            gateway=StoreGateway(self.store, clock, BusyPolicy(), FakePresence()),
            clock=clock,
            folder=self.folder,
            adapter=DiscordAdapter("discord", configured(self.server, **self.options), timing=timing),
            access=Access(allow=(f"user:{person.id}",)),
            policy=DeliveryPolicy(live_every=0.01, tick=0.05, first_retry=0.01),
        )


@dataclass(kw_only=True, eq=False)
class Turn:
    """A turn of Ada in a thread of the bot, and what stands there of it."""

    stage: Stage
    bot: AdapterRunner
    guild: Guild
    room: Channel
    thread: Channel
    ada: User
    asked: Message
    status: Message
    claim: Claim

    @property
    def server(self) -> LoopbackDiscord:
        """Discord."""
        return self.stage.server

    def shown(self) -> list[str]:
        """The first lines of what the bot has in the thread."""
        return [
            each.content.splitlines()[0]
            for each in self.server.messages(self.thread)
            if each.author_id == self.server.bot_id
        ]

    async def ends(self, *, as_: MessageStatus) -> Record:
        """The answer, once it came to this end."""
        answer = await self.bot.finish(self.claim, "42")

        async def ended() -> bool:
            return await self.bot.status(answer) is as_

        await until(ended, what=f"the answer is {as_}")
        return answer

    async def why(self, answer: Record) -> str:
        """Why its first part did not arrive."""
        parts = await self.bot.store.read(lambda tx: tx.deliveries.of(answer.id))
        return parts[0].error or ""

    async def answers_elsewhere(self) -> None:
        """The bot goes on."""
        chat = self.server.direct(self.ada)
        await self.bot.answer(str(chat.id), "still here")
        await holds(lambda: [each.content for each in self.server.messages(chat)] == ["still here"], "another answer")
        assert self.server.identifies == 1


@asynccontextmanager
async def turn(folder: Path, **options: Any) -> AsyncIterator[Turn]:
    """Ada has asked, and a tool runs. `options` are of the config."""
    async with LoopbackDiscord() as server:
        guild, ada = server.guild("Band"), server.user("Ada")
        server.join(guild, ada)
        room = server.channel("room", guild=guild)
        thread = server.thread(room, "songs", by=server.world.bot)
        stage = Stage(server=server, folder=folder, options=options)
        async with stage.bot(ada) as bot:
            await holds(lambda: server.connections, "a connection")
            asked = await server.say(thread, ada, "what is 6 * 7?")
            claim = await _claimed(bot)
            await bot.say(claim, make.tool_call("calculate", {"expression": "6 * 7"}, provider="p", model="m"))
            await holds(lambda: len(server.messages(thread)) == 2, "the status")
            yield Turn(
                stage=stage,
                bot=bot,
                guild=guild,
                room=room,
                thread=thread,
                ada=ada,
                asked=asked,
                status=server.messages(thread)[-1],
                claim=claim,
            )


async def _claimed(bot: AdapterRunner) -> Claim:
    found: list[Claim] = []

    async def there() -> bool:
        found.extend(filter(None, [await bot.gateway.claim("worker", bot.serving)]))
        return bool(found)

    await until(there, what="a prompt")
    return found[0]
