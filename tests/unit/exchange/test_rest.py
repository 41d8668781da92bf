"""Mail wakes only so often in a row, and after /stop not at all until somebody speaks."""

from uuid import UUID

import pytest

from kesoku.adapter.command import Invocation
from kesoku.adapter.event import Principal
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.conversation import Conversation
from kesoku.commands.registry import Registry
from kesoku.exchange import Exchange, delivery, rest
from kesoku.exchange.kin import enrolled
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.message import Message
from kesoku.messages.record import Post, Record
from kesoku.ports import Transaction
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.waiting import until

from .office import Office, Rule, write

SELF: dict[str, Rule] = {"again": write("me", "again"), "has it": "written", "Mail from": write("me", "again")}
LONG_TURN = 1_100
"""Records."""


async def told(office: Office, prompt: Record, text: str, count: int = 1) -> list[str]:
    """Wait until people were told something so many times; all that they were told."""

    async def enough() -> bool:
        return sum(text in each for each in await office.texts(prompt)) >= count

    await until(enough, what=text)
    return await office.texts(prompt)


async def command(office: Office, name: str) -> str:
    """What a command of the conversation replies."""
    viewer = Viewer(assistants=office.assistants, limits=TurnLimits())
    conversation = Conversation(gateway=office.gateway, store=office.store, clock=office.clock, viewer=viewer)
    person = Principal(user_id="id-Ada", display_name="Ada")
    given = Invocation(name=name, address=ROOM, principal=person)
    return await Registry(conversation.commands()).run(given) or ""


async def letter(office: Office, session_id: str, *, to: str | None = None) -> None:
    """A letter of a session, by default to itself, that has arrived."""

    def operation(tx: Transaction) -> None:
        exchange = Exchange(tx.mail)
        sender, recipient = (_enrolled(tx, exchange, each) for each in (session_id, to or session_id))
        exchange.send(sender, recipient, "hi")
        exchange.collect(sender)

    await office.store.write(operation)


def _enrolled(tx: Transaction, exchange: Exchange, session_id: str) -> UUID:
    session = tx.sessions.get(session_id)
    assert session is not None
    return enrolled(tx, exchange, session)


async def test_long_turns_are_counted_like_short_ones() -> None:
    """However much an agent does in a turn that mail began, the next one is one in a row."""
    office = Office(SELF, wakes=2)

    def fill(tx: Transaction, session_id: str) -> None:
        for _ in range(LONG_TURN):
            post = Post(message=make.notice("busy", reason="reply"), address=ROOM)
            tx.messages.insert(post, session_id=session_id, at=1)

    async with office.open():
        prompt = await office.say("hello")
        await office.answered(prompt)
        await office.named(prompt.session_id, "me")
        await letter(office, prompt.session_id)
        await office.clock.advance(10)
        await told(office, prompt, "written")
        await office.store.write(lambda tx: fill(tx, prompt.session_id))
        await office.clock.advance(60)
        await told(office, prompt, "in a row")
        assert (await office.texts(prompt)).count("written") == 2


async def test_an_agent_that_rests_tells_whoever_gave_it_its_task_whose_letter_wakes_it() -> None:
    """No person ever speaks at its desk."""
    office = Office({})
    prompt = await office.say("hello")
    parent = await office.named(prompt.session_id, "me")
    await office.agents.spawn(session_id=prompt.session_id, call_id="c", task="t", name="scout")
    (scout,) = await office.children(prompt.session_id)

    def wake(tx: Transaction) -> Record | None:
        """The next letter begins a turn, which ends at once."""
        for each in tx.messages.queued(scout.session_id):
            tx.messages.move(each.id, S.INTERRUPTED, {each.status}, actor="test", reason="", at=1)
        return delivery.wake(tx, scout.session_id, at=1, wakes=2)

    for _ in range(4):
        await letter(office, scout.session_id)
    woken = [await office.store.write(wake) for _ in range(4)]
    assert [each is None for each in woken] == [False, False, True, True]
    (told,) = await office.store.read(lambda tx: tx.mail.outbox(_enrolled(tx, Exchange(tx.mail), scout.session_id)))
    assert told.message.recipient == parent
    assert told.message.channel == "result"
    assert told.message.content["failed"]
    assert "woken me 2 times in a row" in told.message.content["answer"]
    await letter(office, prompt.session_id, to=scout.session_id)
    again = await office.store.write(wake)
    assert again is not None
    assert "Mail from parent" in again.message.text
    assert len(await office.inbox(scout.session_id)) == 2
    assert (await office.store.write(wake)) is not None


async def test_after_a_stop_mail_waits_until_somebody_speaks() -> None:
    office = Office({"go": "working", "Mail from": "woken", "well": "well?"})
    prompt = await office.say("go")
    claim = await office.claim()
    await letter(office, prompt.session_id)
    async with office.open("w2"):
        assert await command(office, "stop") == "Stopped."
        await office.clock.advance(60)
        assert len(await office.inbox(prompt.session_id)) == 1
        assert await office.texts(prompt) == []
        await office.say("well")
        assert await told(office, prompt, "woken") == ["well?", "woken"]
    assert await office.status(claim.prompt) is S.INTERRUPTED


async def test_a_stop_of_nothing_keeps_no_mail_back() -> None:
    office = Office({"Mail from": "woken"})
    prompt = await office.say("go")
    await office.gateway.withdraw(prompt.id, by="Ada")
    assert await command(office, "stop") == "Nothing is running here."
    await letter(office, prompt.session_id)
    async with office.open():
        assert await told(office, prompt, "woken") == ["woken"]


async def test_a_stopped_turn_begins_nothing_any_more() -> None:
    office = Office({})
    prompt = await office.say("go")
    claim = await office.claim()
    call = await office.call(claim, "spawn_agent")
    await command(office, "stop")
    for name in ("spawn", "send"):
        facts = {"task": "t", "name": "scout"} if name == "spawn" else {"to": "x", "text": "t", "channel": None}
        with pytest.raises(ValueError, match="this turn was stopped"):
            await getattr(office.agents, name)(session_id=prompt.session_id, call_id=call.id, **facts)
    assert await office.children(prompt.session_id) == []


async def test_a_new_conversation_stops_the_agents_of_the_old_one_and_takes_its_names_over() -> None:
    office = Office({})
    prompt = await office.say("go")
    old = await office.named(prompt.session_id, "kitchen")
    await office.agents.spawn(session_id=prompt.session_id, call_id="c", task="t", name="scout")
    await command(office, "new")
    (child,) = await office.children(prompt.session_id)
    records = await office.store.read(lambda tx: tx.messages.session(child.session_id))
    assert {each.status for each in records} == {S.INTERRUPTED}
    fresh = await office.bound()
    assert fresh is not None
    names = await office.store.read(lambda tx: tx.mail.names())
    assert {name: str(owner) for name, owner in names.items()} == {"kitchen": fresh.owner}
    assert str(old) != fresh.owner


async def test_whether_a_person_spoke_is_seen_behind_any_number_of_records() -> None:
    office = Office({})
    prompt = await office.say("hello")

    def fill(tx: Transaction) -> None:
        rest.stop(tx, prompt.session_id)
        for _ in range(LONG_TURN):
            post = Post(message=make.notice("busy", reason="reply"), address=ROOM)
            tx.messages.insert(post, session_id=prompt.session_id, at=1)

    def letter_for(tx: Transaction) -> Message | None:
        owner = tx.mail.mailbox_of(prompt.session_id)
        assert owner is not None
        return rest.next_letter(tx, prompt.session_id, owner.owner, wakes=2)

    await office.named(prompt.session_id, "me")
    await letter(office, prompt.session_id)
    await office.store.write(fill)
    assert await office.store.read(letter_for) is None
    await office.say("and now?", catch_up=True)
    assert await office.store.read(letter_for) is not None
