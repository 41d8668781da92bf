"""/help, /stop, /new and /status over a real gateway."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from kesoku.adapter.command import EXCESS, Argument, Invocation
from kesoku.adapter.event import Principal
from kesoku.agent.budget import Budget
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.conversation import Conversation
from kesoku.commands.here import message_here, session_here
from kesoku.commands.registry import Registry, SlashCommand, command
from kesoku.errors import CommandMisused, EarlierConversation, NoSuchMessage
from kesoku.exchange.kin import Kin, add_child
from kesoku.gateway.gateway import StoreGateway
from kesoku.gateway.policy import BusyPolicy
from kesoku.llm.offline import OfflineModel
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Serving, Step
from kesoku.messages.price import Price
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.turn import TurnRequest, Usage
from kesoku.messages.virtual import system_entry
from kesoku.testing.assistant import always
from kesoku.testing.clock import START, VirtualClock
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore

HERE = Address(chatbot_id="chat", channel_id="1")
SERVING = Serving(addresses=frozenset({HERE}))
PRICES = {"offline": Price(prompt=1, answer=1)}


@dataclass
class Room:
    gateway: StoreGateway
    store: MemoryStore
    registry: Registry

    async def say(self, text: str) -> Record:
        post = Post(message=make.user_prompt(text, author="Ada", user_id="1"), address=HERE)
        (record,) = await self.gateway.accept([post], catch_up=True)
        return record

    async def command(self, name: str, *, admin: bool = False, **arguments: str) -> str | None:
        principal = Principal(user_id="1", display_name="Ada")
        given = Invocation(name=name, address=HERE, principal=principal, arguments=arguments, admin=admin)
        return await self.registry.run(given)

    async def status(self, record: Record) -> MessageStatus:
        found = await self.store.read(lambda tx: tx.messages.get(record.id))
        assert found is not None
        return found.status


def conversation(gateway: StoreGateway, store: MemoryStore, budget: Budget | None = None) -> Conversation:
    assistants = always(OfflineModel(), request=TurnRequest(system="Be kind."))
    viewer = Viewer(assistants=assistants, limits=TurnLimits())
    return Conversation(gateway=gateway, store=store, clock=VirtualClock(), viewer=viewer, budget=budget)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    store = MemoryStore()
    gateway = StoreGateway(store, VirtualClock(), BusyPolicy(), FakePresence())
    yield Room(gateway=gateway, store=store, registry=Registry(conversation(gateway, store).commands()))
    await store.aclose()


async def test_help_lists_every_command(room: Room) -> None:
    text = await room.command("help")
    assert text is not None
    listed = [line.split("`")[1].split()[0] for line in text.splitlines() if line.startswith("- ")]
    assert listed == [f"/{each.name}" for each in room.registry.specs()]


async def test_help_says_what_commands_are_about_and_whom_they_are_for(room: Room) -> None:
    async def nothing(_: Invocation) -> None:
        return None

    message = Argument(name="message", description="its number", required=True)
    more = {
        "What was said": (command("why", "say why", nothing, message), command("hush", "hush", nothing, admin=True))
    }
    room = replace(room, registry=Registry(conversation(room.gateway, room.store).commands(more)))
    text = await room.command("help")
    assert text is not None
    assert text.startswith("**This conversation**\n\n- `/help`: list the commands\n")
    assert text.endswith("\n\n**What was said**\n\n- `/why MESSAGE`: say why\n- `/hush`: hush (admins)")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "MESSAGE is missing: its number. Usage: `/why MESSAGE [short|long]`."),
        (
            {"message": "1", "form": "loud"},
            "I know no `loud` here, only short, long. Usage: `/why MESSAGE [short|long]`.",
        ),
    ],
)
async def test_a_command_given_wrongly_says_how_it_is_given(given: dict[str, str], told: str) -> None:
    async def nothing(_: Invocation) -> None:
        return None

    message = Argument(name="message", description="its number", required=True)
    form = Argument(name="form", description="how much", choices=("short", "long"))
    registry = Registry([command("why", "say why", nothing, message, form)])
    principal = Principal(user_id="1", display_name="Ada")
    with pytest.raises(CommandMisused, match=re.escape(told)):
        await registry.run(Invocation(name="why", address=HERE, principal=principal, arguments=given))


async def test_words_behind_a_command_that_takes_none_are_not_dropped_in_silence(room: Room) -> None:
    await room.say("a")
    before = await room.store.read(lambda tx: session_here(tx, HERE))
    told = "I know nothing to do with `and buy milk` here. Usage: `/new`."
    principal = Principal(user_id="1", display_name="Ada")
    given = Invocation(name="new", address=HERE, principal=principal, arguments={EXCESS: "and buy milk"})
    with pytest.raises(CommandMisused, match=re.escape(told)):
        await room.registry.run(given)
    assert (await room.store.read(lambda tx: session_here(tx, HERE))).id == before.id


async def test_stop_ends_the_turn_and_cancels_what_waits(room: Room) -> None:  # N-11
    first, second = await room.say("a"), await room.say("b")
    claim = await room.gateway.claim("me", SERVING)
    assert claim is not None
    assert claim.prompt.id == first.id
    assert await room.command("stop") == "Stopped, and 1 waiting message cancelled."
    assert await room.status(first) is MessageStatus.INTERRUPTED
    assert await room.status(second) is MessageStatus.INTERRUPTED
    assert await room.gateway.claim("me", SERVING) is None
    assert await room.command("stop") == "Nothing is running here."


async def test_stop_ends_what_agents_do_that_were_given_work_here(room: Room) -> None:
    asked = await room.say("a")
    first = await room.gateway.claim("me", SERVING)
    assert first is not None
    for name, parent in (("child", asked.session_id), ("grandchild", "child")):
        desk = Address(chatbot_id="agent", channel_id=name)
        kin = Kin(session_id=name, parent=parent, name=name, depth=1, root=asked.session_id, home=HERE, desk=desk)
        await room.store.write(lambda tx, kin=kin: add_child(tx, kin))  # type: ignore[misc]
        await room.gateway.post(Post(message=make.task("work"), address=desk, session_id=name))
    assert await room.command("stop") == "Stopped, with 2 agents."
    agents = Serving(addresses=frozenset({Address(chatbot_id="agent", channel_id="*")}))
    assert await room.gateway.claim("me", agents) is None
    assert await room.command("stop") == "Nothing is running here."


async def test_stop_of_a_message_ends_its_turn_and_leaves_what_waits(room: Room) -> None:
    first, second = await room.say("a"), await room.say("b")
    claim = await room.gateway.claim("me", SERVING)
    assert claim is not None
    assert await room.command("stop", message=first.id) == "Stopped: the turn of #1."
    assert await room.status(first) is MessageStatus.INTERRUPTED
    assert await room.status(second) is MessageStatus.PENDING_AGENT
    assert await room.command("stop", message="2") == "#2 is cancelled."
    assert await room.status(second) is MessageStatus.INTERRUPTED


async def test_stop_of_an_old_message_never_ends_a_newer_turn(room: Room) -> None:
    first = await room.say("a")
    claim = await room.gateway.claim("me", SERVING)
    assert claim is not None
    answer = Post(message=make.answer("done", provider="p", model="m"), address=HERE)
    said = await room.gateway.finish(claim.fence, answer, status=MessageStatus.PROCESSED, metrics={})
    second, third = await room.say("b"), await room.say("c")
    assert await room.gateway.claim("me", SERVING) is not None
    for old in (first, said):
        assert await room.command("stop", message=old.id) == "That turn is over."
    assert await room.status(second) is MessageStatus.PROCESSING
    assert await room.status(third) is MessageStatus.PENDING_AGENT
    with pytest.raises(NoSuchMessage):
        await room.command("stop", message="nobody")


async def test_stop_of_a_message_of_an_earlier_conversation_ends_that_turn_alone(room: Room) -> None:
    first = await room.say("a")
    await room.command("new")
    second = await room.say("b")
    claims = [await room.gateway.claim("me", SERVING) for _ in range(2)]
    assert {claim.prompt.id for claim in claims if claim} == {first.id, second.id}
    assert await room.command("stop", message=first.id) == "Stopped: the turn of #1."
    assert await room.command("stop", message=first.id) == "That turn is over."
    assert await room.status(second) is MessageStatus.PROCESSING
    with pytest.raises(EarlierConversation, match="belongs to an earlier conversation of this channel"):
        await room.store.read(lambda tx: message_here(tx, session_here(tx, HERE), first.id))


async def test_stop_of_a_message_ends_the_agents_of_its_turn_and_of_no_other(room: Room) -> None:
    asked = await room.say("a")
    assert await room.gateway.claim("me", SERVING) is not None
    waiting = await room.say("b")
    desk = Address(chatbot_id="agent", channel_id="child")
    kin = Kin(
        session_id="child", parent=asked.session_id, name="child", depth=1, root=asked.session_id, home=HERE, desk=desk
    )
    await room.store.write(lambda tx: add_child(tx, kin))
    work = await room.gateway.post(Post(message=make.task("work"), address=desk, session_id="child"))
    assert await room.command("stop", message=waiting.id) == "#2 is cancelled."
    assert await room.status(work) is MessageStatus.PENDING_AGENT
    assert "a turn is running, 1 agent at work, 0 waiting" in (await room.command("status") or "")
    assert await room.command("stop", message=asked.id) == "Stopped: the turn of #1, with 1 agent."
    assert await room.status(work) is MessageStatus.INTERRUPTED


async def test_stop_before_anything_was_said_says_that_nothing_runs(room: Room) -> None:
    assert await room.command("stop") == "Nothing is running here."


async def test_new_binds_a_fresh_session_and_keeps_the_old_one(room: Room) -> None:
    old = await room.say("a")
    assert "A new conversation begins" in (await room.command("new") or "")
    fresh = await room.say("b")
    assert fresh.session_id != old.session_id
    assert await room.store.read(lambda tx: tx.messages.session(old.session_id))


async def test_new_says_what_it_stopped(room: Room) -> None:
    assert (await room.command("new") or "").endswith("`.")
    await room.say("a")
    await room.gateway.claim("me", SERVING)
    assert (await room.command("new") or "").endswith("`. What was running here is stopped.")


async def test_status_tells_what_runs_and_what_waits(room: Room) -> None:
    assert await room.command("status") == "No conversation yet. Model: offline."
    await room.say("a")
    await room.say("b")
    await room.gateway.claim("me", SERVING)
    text = await room.command("status") or ""
    assert "a turn is running, 1 waiting" in text


@pytest.mark.parametrize(
    ("budget", "cost", "today"),
    [
        (Budget(), (None, ""), ""),
        (Budget(prices=PRICES), (12_300_000, ", $0.0123"), "\n- All conversations today: $0.0123"),
        (Budget(prices=PRICES, day=10**10), (0, ", $0.00"), "\n- All conversations today: $0.00 of $10.00"),
    ],
    ids=["no price", "price", "budget"],
)
async def test_status_tells_what_was_used(room: Room, budget: Budget, cost: tuple[int | None, str], today: str) -> None:
    record = await room.say("a")
    room = replace(room, registry=Registry(conversation(room.gateway, room.store, budget).commands()))
    claim = await room.gateway.claim("me", SERVING)
    assert claim is not None
    assert "Last turn" not in (await room.command("status") or "")
    used = Usage(prompt=1_000, cached=400, thoughts=30, answer=2)
    for n in (1, 2):
        paid = cost[0] if n == 2 else None
        step = Step(turn_id=record.id, n=n, request=EMPTY, reply=EMPTY, usage=used, at=START, cost=paid)
        await room.gateway.step(claim.fence, step, [])
    await room.say("b")  # it waits, and has no step
    words = f"2,000 tokens read (800 from cache), 60 thought, 4 answered{cost[1]}"
    text = await room.command("status") or ""
    assert text.endswith(f"Model: offline.\n\n- Last turn: {words}\n- Conversation: {words}{today}")


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
