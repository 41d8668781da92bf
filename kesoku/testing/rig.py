"""What an adapter contract stands on: the platform's side, the bot's side, and waiting for either."""

# ruff: noqa: S101 - parts of a contract are assertions

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from kesoku.adapter import Address, Manifest
from kesoku.adapter.access import Access
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Claim
from kesoku.messages.record import Post, Record
from kesoku.ports import Store
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import until


class Rig(Protocol):
    """A platform and the people on it. `room` is a name that the rig maps to a channel of its own."""

    manifest: Manifest
    chatbot_id: str
    person: str
    """Id of someone who may talk to the bot."""
    stranger: str
    """Id of someone who may not."""

    def adapter(self) -> Any:
        """A fresh adapter on the same platform, as after a restart of the process."""
        ...

    def address(self, room: str) -> Address:
        """The address that messages of this room have."""
        ...

    async def say(self, room: str, text: str, *, by: str, key: str | None = None, bot: bool = False) -> str:
        """Someone writes to the bot, in whatever way the platform wants that; returns the message's key.

        `key` repeats an earlier message: the platform delivers it once more.
        """
        ...

    async def choose(self, room: str, label: str, *, by: str) -> None:
        """Someone presses the button with this label in the newest message that has one, or types its number."""
        ...

    async def shown(self, room: str) -> list[str]:
        """The texts that people see in the room now, in order, and names of files."""
        ...

    async def typing(self, room: str) -> list[bool]:
        """Every change of typing in the room so far."""
        ...

    async def fail(self, room: str, kind: str) -> None:
        """Make the next send in the room fail: retry, refuse, lost (not shown), arrived (shown); no answer for both."""
        ...


class Stage:
    """The bot's side of a contract test: one store, started and stopped at will."""

    def __init__(self, rig: Rig, folder: Path, store: Store | None = None) -> None:
        self._rig, self._folder = rig, folder
        self.store, self.clock = store or MemoryStore(), WallClock()
        self.gateway = StoreGateway(self.store, self.clock, BusyPolicy(), FakePresence(), poll=0.05)

    def stopped(self) -> AdapterRunner:
        """A runner that was not started."""
        rig = self._rig
        return AdapterRunner(
            manifest=rig.manifest,
            store=self.store,
            gateway=self.gateway,
            clock=self.clock,
            folder=self._folder,
            chatbot_id=rig.chatbot_id,
            adapter=rig.adapter(),
            access=Access(allow=(f"user:{rig.person}",), local=rig.manifest.capabilities.local),
            policy=DeliveryPolicy(first_retry=0.02, live_every=0.05, send_timeout=2.0),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[AdapterRunner]:
        """A started runner; leaving it stops adapter and outbox within the time of a shutdown."""
        async with self.stopped() as runner:
            yield runner

    def answer(self, text: str) -> Post:
        """An answer for the room that belongs to no turn."""
        return Post(message=make.answer(text, provider="p", model="m"), address=self._rig.address("room"))


def needs(rig: Rig, has: bool, what: str) -> None:
    """Skip where the manifest declares that the platform has no such thing."""
    if not has:
        pytest.skip(f"{rig.manifest.name} has not declared {what}")


async def begin(rig: Rig, bot: AdapterRunner) -> Claim:
    """A person says something and its turn begins."""
    await rig.say("room", "go", by=rig.person)
    await until(lambda: queued(bot), what="the prompt arrives")
    return await bot.claim()


async def queued(bot: AdapterRunner) -> bool:
    """Whether a prompt waits."""
    return any(each.status is MessageStatus.PENDING_AGENT for each in await _stored_prompts(bot))


async def prompts(bot: AdapterRunner, number: int) -> list[Record]:
    """All prompts, once there are so many."""
    await until(lambda: _at_least(bot, number), what=f"{number} prompts")
    found = await _stored_prompts(bot)
    assert len(found) == number
    return found


async def said(bot: AdapterRunner, text: str) -> None:
    """Wait until a prompt with this text is stored."""

    async def there() -> bool:
        return any(text in each.message.rendered for each in await _stored_prompts(bot))

    await until(there, what=f"{text!r} arrives")


async def settled(bot: AdapterRunner, record: Record, status: MessageStatus = MessageStatus.DELIVERED) -> None:
    """Wait until a record stands where it should."""

    async def there() -> bool:
        return await bot.status(record) is status

    await until(there, what=f"{record.message} becomes {status}")


async def seen(rig: Rig, text: str) -> None:
    """Wait until people see a text."""

    async def there() -> bool:
        return await count(rig, text) > 0

    await until(there, what=f"{text!r} is shown")


async def gone(rig: Rig, text: str) -> bool:
    """Whether nobody sees a text."""
    return await count(rig, text) == 0


async def count(rig: Rig, text: str) -> int:
    """How many messages with this text people see."""
    return sum(text in each for each in await rig.shown("room"))


async def types(rig: Rig) -> bool:
    """Whether typing is shown."""
    return (await rig.typing("room"))[-1:] == [True]


async def _at_least(bot: AdapterRunner, number: int) -> bool:
    return len(await _stored_prompts(bot)) >= number


async def _stored_prompts(bot: AdapterRunner) -> list[Record]:
    changes = await bot.store.read(lambda tx: tx.events.after(0, 1000))
    return [each.record for each in changes if each.kind == "inserted" and each.record.kind == "user_prompt"]
