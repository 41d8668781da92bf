"""The people of the crash kit, who speak on the platforms and hand in prompts past them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from random import Random

from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.record import Address, Post
from kesoku.ports import Transaction
from kesoku.testing.crash.actor import Actor
from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.trace import Entry, Traces
from kesoku.testing.crash.watch import When

CHANNELS = ("c0", "c1", "c2", "c3")
"""Of each bot."""
FILE_BYTES = 100_000
"""Size of one file that is kept."""
_BUSY = 2
"""Prompts that wait in a channel; then people are silent there."""


async def poster(actor: Actor) -> None:
    """Speaks until it is killed. What a former life began to hand in and was never told of, it hands in again."""
    people = _People(actor)
    for entry in _unanswered(actor):
        await people.hand_in(entry["bot"], entry["channel"], entry["key"])
    while True:
        await people.speak()


class _People:
    """Who talks to the bots."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._dice = Random(f"{actor.birth.plan.seed} {actor.birth.name}")
        self._staging = actor.wiring.staging(actor.scene.files)
        self._platforms = {bot: bot.journal(actor.scene.journal(bot)) for bot in actor.birth.plan.platforms}

    async def speak(self) -> None:
        """Say one thing somewhere, after a pause; in one of six cases where a turn runs, which it interrupts."""
        await asyncio.sleep(self._dice.uniform(0.005, 0.06))
        bot: Platform = self._dice.choice(self._actor.birth.plan.platforms)
        channel = self._dice.choice(CHANNELS)
        running = await self._actor.store.read(lambda tx: _running(tx, bot))
        if running and self._dice.random() < 1 / 6:
            channel = self._dice.choice(running)
        here = Address(chatbot_id=bot, channel_id=channel)
        if await self._actor.store.read(lambda tx: _waiting(tx, here)) >= _BUSY:
            return
        if self._dice.random() < 0.3:
            await self.hand_in(bot, channel, f"x-{self._dice.getrandbits(96):x}")
        else:
            self._say(bot, channel)

    async def hand_in(self, bot: str, channel: str, key: str) -> None:
        """A prompt past the adapter, sometimes twice, as a platform does that was not told in time."""
        for _ in range(2 if self._dice.random() < 0.3 else 1):
            await self._accept(bot, channel, key)

    async def _accept(self, bot: str, channel: str, key: str) -> None:
        message = make.user_prompt(self._words(), author="Eve", user_id="eve", attachments=await self._files(channel))
        post = Post(message=message, address=Address(chatbot_id=bot, channel_id=channel), keys=(key,))
        facts = {"bot": bot, "channel": channel, "key": key}
        self._actor.trace.write("posting", id=message.id, **facts)
        (record,) = await self._actor.gateway.accept([post])
        self._actor.trace.write("acked", id=record.id, **facts)

    def _say(self, bot: Platform, channel: str) -> None:
        platform, text, by = self._platforms[bot], self._words(), self._dice.choice(("ada", "bob"))
        key = platform.say(channel, text, by=by)
        if self._dice.random() < 0.2:
            platform.say(channel, text, by=by, key=key)

    async def _files(self, channel: str) -> Sequence[Attachment]:
        if self._dice.random() < 0.7:
            return ()

        async def content() -> AsyncIterator[bytes]:
            yield self._dice.randbytes(100)

        saved = await self._staging.save(
            channel, "photo.bin", content(), mime_type="application/octet-stream", limit=FILE_BYTES
        )
        self._actor.watch.passing("Staging.save", When.AFTER)
        return (saved,)

    def _words(self) -> str:
        choice = ("look 1", "draw 2", "look 3 draw 4", "look 5 wait 20", "wait 60")
        steps = [self._dice.choice(choice) for _ in range(2)]
        return " then ".join(steps[: self._dice.randrange(3)]) or "hello"


def _running(tx: Transaction, bot: str) -> list[str]:
    """The channels of a bot in which a turn runs."""
    prompts = [tx.messages.get(lease.message_id) for lease in tx.leases.held() if lease.message_id]
    found = [each.address for each in prompts if each]
    return [here.channel_id for here in found if here.chatbot_id == bot and here.channel_id in CHANNELS]


def _waiting(tx: Transaction, here: Address) -> int:
    """How many prompts of a channel wait."""
    session = tx.sessions.bound(here)
    return len(tx.messages.queued(session.id)) if session else 0


def _unanswered(actor: Actor) -> list[Entry]:
    """What earlier lives were posting when they ended."""
    open_: dict[str, Entry] = {}
    for _, entry in Traces(actor.scene.traces).news():
        if entry["op"] == "posting":
            open_[entry["key"]] = entry
        elif entry["op"] == "acked":
            open_.pop(entry["key"], None)
    return list(open_.values())
