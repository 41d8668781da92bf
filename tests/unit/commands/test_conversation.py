"""/help, /stop, /new and /status over a real gateway."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from kesoku.adapter.command import Invocation
from kesoku.adapter.event import Principal
from kesoku.commands.conversation import Conversation
from kesoku.commands.registry import Registry, SlashCommand
from kesoku.gateway.gateway import StoreGateway
from kesoku.gateway.policy import BusyPolicy
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.virtual import system_entry
from kesoku.testing.clock import VirtualClock
from kesoku.testing.memory import MemoryStore
from kesoku.testing.presence import NullPresence

HERE = Address(chatbot_id="chat", channel_id="1")
SERVING = Serving(addresses=frozenset({HERE}))


@dataclass
class Room:
    gateway: StoreGateway
    store: MemoryStore
    registry: Registry

    async def say(self, text: str) -> Record:
        post = Post(message=make.user_prompt(text, author="Ada", user_id="1"), address=HERE)
        (record,) = await self.gateway.accept([post], catch_up=True)
        return record

    async def command(self, name: str, *, admin: bool = False) -> str | None:
        principal = Principal(user_id="1", display_name="Ada")
        return await self.registry.run(Invocation(name=name, address=HERE, principal=principal, admin=admin))

    async def status(self, record: Record) -> MessageStatus:
        found = await self.store.read(lambda tx: tx.messages.get(record.id))
        assert found is not None
        return found.status


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    clock, store = VirtualClock(), MemoryStore()
    gateway = StoreGateway(store, clock, BusyPolicy(), NullPresence())
    conversation = Conversation(
        gateway=gateway, store=store, clock=clock, model="offline", system=system_entry("Be kind.")
    )
    yield Room(gateway=gateway, store=store, registry=Registry(conversation.commands()))
    await store.aclose()


async def test_help_lists_every_command(room: Room) -> None:
    text = await room.command("help")
    assert text is not None
    assert [line.split("`")[1] for line in text.splitlines()] == [f"/{each.name}" for each in room.registry.specs()]


async def test_stop_ends_the_turn_and_cancels_what_waits(room: Room) -> None:  # N-11
    first, second = await room.say("a"), await room.say("b")
    claim = await room.gateway.claim("me", SERVING)
    assert claim is not None
    assert claim.prompt.id == first.id
    assert await room.command("stop") == "Stopped, and 1 waiting message(s) cancelled."
    assert await room.status(first) is MessageStatus.INTERRUPTED
    assert await room.status(second) is MessageStatus.INTERRUPTED
    assert await room.gateway.claim("me", SERVING) is None
    assert await room.command("stop") == "Nothing is running here."


async def test_stop_before_anything_was_said_says_that_nothing_runs(room: Room) -> None:
    assert await room.command("stop") == "Nothing is running here."


async def test_new_binds_a_fresh_session_and_keeps_the_old_one(room: Room) -> None:
    old = await room.say("a")
    assert "A new conversation begins" in (await room.command("new") or "")
    fresh = await room.say("b")
    assert fresh.session_id != old.session_id
    assert await room.store.read(lambda tx: tx.messages.session(old.session_id))


async def test_status_tells_what_runs_and_what_waits(room: Room) -> None:
    assert await room.command("status") == "No conversation yet. Model: offline."
    await room.say("a")
    await room.say("b")
    await room.gateway.claim("me", SERVING)
    text = await room.command("status") or ""
    assert "a turn is running, 1 waiting" in text


async def test_the_system_prompt_is_an_entry_of_the_system_alone(room: Room) -> None:  # K-094 K-049 K-123
    assert await room.command("system", admin=True) == "System:\n\nBe kind."
    assert await room.command("system") == "Only an admin of this bot may use /system."
    row = system_entry("Be kind.").to_row()
    assert (row["chatbot_id"], row["channel_id"], row["sender"]) == ("system", "system", "System")


async def test_admin_commands_are_for_admins(room: Room) -> None:
    async def secret(_: Invocation) -> str:
        return "done"

    spec = room.registry.specs()[0]
    registry = Registry([SlashCommand(spec=spec, run=secret, admin=True)])
    guest = Invocation(name=spec.name, address=HERE, principal=Principal(user_id="1", display_name="Ada"))
    assert await registry.run(guest) == f"Only an admin of this bot may use /{spec.name}."
