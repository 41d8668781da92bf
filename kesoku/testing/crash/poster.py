"""The role `poster`: people who write to the bots, answer questions, and stop, end and join sessions."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from random import Random

from kesoku.adapter.question import open_questions
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.record import Address, Mode, Post
from kesoku.ports import Transaction
from kesoku.testing.crash.actor import Actor
from kesoku.testing.crash.script import POISON
from kesoku.testing.crash.trace import Entry, Traces
from kesoku.testing.crash.watch import Side
from kesoku.tools.patience import retry

CHANNELS = ("c0", "c1", "c2", "c3")
"""Of each bot."""
FILE_BYTES = 100_000
"""Size of one file that is kept."""
_BUSY = 2
"""As many prompts may wait in a channel; then nobody writes there."""
_MODES: Sequence[tuple[Mode, int]] = (("followup", 8), ("steer", 2), ("inject", 1))
"""How often each of them is used."""


async def poster(actor: Actor) -> None:
    """Writes until it is killed. First it repeats what an earlier poster handed in without an acknowledgement."""
    people, sleep = _People(actor), actor.clock.sleep
    for entry in _unanswered(actor):
        here = Address(chatbot_id=entry["bot"], channel_id=entry["channel"])
        await retry("hand in", partial(people.hand_in, here, entry["key"], entry["mode"]), sleep=sleep)
    while True:
        await retry("act", people.act, sleep=sleep)


class _People:
    """Does one random thing after the other. The seed of the plan and the name of the process decide what."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._dice = Random(f"{actor.spec.plan.seed} {actor.spec.name}")
        self._staging = actor.wiring.staging(actor.layout.files)
        self._bots = actor.spec.plan.platforms
        self._platforms = {str(bot): bot.journal(actor.layout.journal(bot)) for bot in self._bots}

    async def act(self) -> None:
        """Do one thing somewhere, after a pause."""
        await asyncio.sleep(self._dice.uniform(0.005, 0.06))
        chance = self._dice.random()
        if chance < 0.1:
            await self._unsettle()
        elif chance < 0.2:
            await self._decide()
        else:
            await self._speak()

    async def _unsettle(self) -> None:
        """Stop all that a conversation does and has to do, end it, or go on with it in one more channel."""
        here = self._place()
        session = await self._actor.store.read(lambda tx: tx.sessions.bound(here))
        if session is None:
            return
        chance = self._dice.random()
        if chance < 0.4:
            await self._actor.gateway.interrupt(session.id, by="eve", reason="stopped", queued=True)
        elif chance < 0.6:
            at = self._actor.clock.now()
            await self._actor.store.write(lambda tx: tx.sessions.end(session.id, at=at))
        else:
            there = self._place()
            await self._actor.store.write(lambda tx: tx.sessions.bind(there, session.id))

    async def _decide(self) -> None:
        """Answer the question that waits longest in some channel, if there is one."""
        at, places = (
            self._actor.clock.now(),
            [Address(chatbot_id=bot, channel_id=each) for bot in self._bots for each in CHANNELS],
        )
        found = await self._actor.store.read(lambda tx: [open_questions(tx, each, at) for each in places])
        if waiting := [asked[0].question.id for asked in found if asked]:
            first, choice = self._dice.choice(waiting), self._dice.choice(("yes", "yes", "no"))
            await self._actor.store.write(lambda tx: tx.questions.answer(first, choice=choice, by="eve", at=at))

    async def _speak(self) -> None:
        """Write a message: sometimes where a turn runs, to interrupt it; mostly there if it is to join that turn."""
        ((mode, _),) = self._dice.choices(_MODES, [often for _, often in _MODES])
        here, running = self._place(), await self._actor.store.read(lambda tx: _running(tx, joining=mode != "followup"))
        if running and self._dice.random() < (1 / 6 if mode == "followup" else 0.9):
            here = self._dice.choice(running)
        if await self._actor.store.read(lambda tx: _waiting(tx, here)) >= _BUSY:
            return
        if mode != "followup" or self._dice.random() < 0.2:
            await self.hand_in(here, f"x-{self._dice.getrandbits(96):x}", mode)
        else:
            self._say(here)

    async def hand_in(self, here: Address, key: str, mode: Mode) -> None:
        """A prompt past the adapter, sometimes twice, as a platform does that was not told in time."""
        for _ in range(2 if self._dice.random() < 0.3 else 1):
            await self._accept(here, key, mode)

    async def _accept(self, here: Address, key: str, mode: Mode) -> None:
        files = await self._files(here.channel_id)
        message = make.user_prompt(self._words(), author="Eve", user_id="eve", attachments=files)
        post = Post(message=message, address=here, keys=(key,), mode=mode)
        facts = {"bot": here.chatbot_id, "channel": here.channel_id, "key": key}
        self._actor.trace.write("posting", id=message.id, mode=mode, **facts)
        (record,) = await self._actor.gateway.accept([post])
        self._actor.trace.write("acked", id=record.id, **facts)

    def _say(self, here: Address) -> None:
        platform, channel = self._platforms[here.chatbot_id], here.channel_id
        text, by = self._words(), self._dice.choice(("ada", "bob"))
        key = platform.say(channel, text, by=by)
        if self._dice.random() < 0.2:
            platform.say(channel, text, by=by, key=key)

    def _place(self) -> Address:
        return Address(chatbot_id=self._dice.choice(self._bots), channel_id=self._dice.choice(CHANNELS))

    async def _files(self, channel: str) -> Sequence[Attachment]:
        if self._dice.random() < 0.7:
            return ()

        async def content() -> AsyncIterator[bytes]:
            yield self._dice.randbytes(100)

        saved = await self._staging.save(
            channel, "photo.bin", content(), mime_type="application/octet-stream", limit=FILE_BYTES
        )
        self._actor.watch.passing("Staging.save", Side.AFTER)
        return (saved,)

    def _words(self) -> str:
        choice = ("look 1", "draw 2", "look 3 draw 4", "look 5 wait 20", "wait 60", "alter 6")
        steps = [self._dice.choice(choice) for _ in range(2)]
        return " then ".join(steps[: self._dice.randrange(3)]) or "hello"


def _running(tx: Transaction, *, joining: bool) -> list[Address]:
    """The channels in which a turn runs; nobody says anything to poison but to join it."""
    prompts = [tx.messages.get(lease.message_id) for lease in tx.leases.held() if lease.message_id]
    found = [each.address for each in prompts if each]
    poison = [here for here in found if here.channel_id.startswith(POISON.name)] if joining else []
    return poison or [here for here in found if here.channel_id in CHANNELS]


def _waiting(tx: Transaction, here: Address) -> int:
    """How many prompts of a channel wait for a turn."""
    session = tx.sessions.bound(here)
    return sum(each.mode != "inject" for each in tx.messages.queued(session.id)) if session else 0


def _unanswered(actor: Actor) -> list[Entry]:
    """What earlier posters handed in without an acknowledgement."""
    open_: dict[str, Entry] = {}
    for _, entry in Traces(actor.layout.traces).news():
        if entry["op"] == "posting":
            open_[entry["key"]] = entry
        elif entry["op"] == "acked":
            open_.pop(entry["key"], None)
    return list(open_.values())
