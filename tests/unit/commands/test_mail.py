"""/mail, /relay and /announce."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from kesoku.adapter.command import Invocation
from kesoku.adapter.event import Principal
from kesoku.commands.mail import Mail
from kesoku.commands.registry import Registry
from kesoku.errors import CommandMisused, KesokuError, NoConversation, NotPossible
from kesoku.exchange import Exchange
from kesoku.exchange.announcement import ANNOUNCER, announce
from kesoku.exchange.kin import enrolled
from kesoku.messages import make
from kesoku.messages.branch import Branch
from kesoku.messages.content import Attachment
from kesoku.messages.mail import DeadReason
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.clock import VirtualClock
from kesoku.testing.memory import MemoryStore
from kesoku.testing.sync_store import SyncStore

HERE = Address(chatbot_id="discord", channel_id="lounge")
THERE = Address(chatbot_id="wechat", channel_id="kitchen")
STRANGER = UUID(int=9)
GOES = "It goes to wechat:kitchen, and is shown there as soon as that bot runs."


@pytest.fixture(params=["memory", "sql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store
    opened = await SqlStore.open(tmp_path / "kesoku.db") if request.param == "sql" else MemoryStore(rerun=True)
    await opened.write(converse)
    yield opened
    await opened.aclose()


def converse(tx: Transaction) -> None:
    """Two conversations with people, each in its channel."""
    for name, address in (("s1", HERE), ("s2", THERE)):
        tx.sessions.create(session_id=name, at=1)
        tx.sessions.bind(address, name)
        prompt = make.user_prompt("hello", author="Ada", user_id="id-Ada")
        tx.messages.insert(Post(message=prompt, address=address, turn_id=prompt.id), session_id=name, at=1)


async def give(store: Store, line: str, *, admin: bool = True, at: Address = HERE, keys: tuple[str, ...] = ()) -> str:
    """Give a command as people type it, and return the reply."""
    registry = Registry(Mail(store=store, clock=VirtualClock()).commands())
    name, _, rest = line.removeprefix("/").partition(" ")
    spec = next(each for each in registry.specs() if each.name == name)
    person = Principal(user_id="id-Ada", display_name="Ada")
    given = Invocation(name=name, address=at, principal=person, arguments=spec.read(rest), admin=admin, keys=keys)
    return await registry.run(given) or ""


async def shown(store: Store, session: str = "s2") -> list[Record]:
    records = await store.read(lambda tx: tx.messages.session(session))
    return [each for each in records if each.kind == "notice"]


async def sent(store: Store, to: object, *, of: str = "s1", routed: bool = True) -> str:
    """Mail of a session, routed or still on its way; its id."""

    def operation(tx: Transaction) -> str:
        exchange, session = Exchange(tx.mail), tx.sessions.get(of)
        assert session is not None
        other = tx.sessions.get("s2")
        assert other is not None
        owner = enrolled(tx, exchange, session)
        recipient = enrolled(tx, exchange, other) if to == "s2" else to
        mail = exchange.send(owner, recipient, "Dinner is ready.", "status")
        if routed:
            exchange.collect(owner)
        return mail.id

    return await store.write(operation)


async def test_mail_lists_what_waits_and_what_is_on_its_way(store: Store) -> None:
    assert await give(store, "/mail") == "No mail waits for this conversation."
    await sent(store, "s2")
    await sent(store, STRANGER, routed=False)
    assert await give(store, "/mail", at=THERE) == "- from another conversation on status: `Dinner is ready.`"
    assert await give(store, "/mail") == f"- to {STRANGER} on status, on its way: `Dinner is ready.`"
    with pytest.raises(NoConversation):
        await give(store, "/mail", at=Address(chatbot_id="discord", channel_id="empty"))


async def test_dead_letters_are_listed_with_their_reason_those_of_others_for_admins_alone(store: Store) -> None:
    letter = await sent(store, STRANGER)
    told = f"- `{letter}` to {STRANGER}: no such owner; `Dinner is ready.`"
    assert await give(store, "/mail dead", at=THERE) == told
    assert await give(store, "/mail dead", admin=False) == told
    assert await give(store, "/mail dead", admin=False, at=THERE) == "There are no dead letters."


async def test_a_dead_letter_is_delivered_to_somebody_else(store: Store) -> None:
    letter = await sent(store, STRANGER)
    assert await give(store, "/mail name kitchen", at=THERE) == "Agents may write to this conversation as `kitchen`."
    with pytest.raises(NotPossible, match="nobody has this name; there are: kitchen"):
        await give(store, f"/mail redeliver {letter} cellar")
    assert (
        await give(store, f"/mail redeliver {letter}")
        == "It was not delivered, and is a dead letter again: no such owner."
    )
    assert await give(store, f"/mail redeliver {letter} kitchen") == "Delivered to 1 mailbox."
    assert "Dinner is ready." in await give(store, "/mail", at=THERE)
    with pytest.raises(NotPossible, match="/mail dead lists no letter of this id"):
        await give(store, f"/mail redeliver {letter}")


async def test_mail_needs_an_admin_for_more_than_looking_and_says_what_is_missing(store: Store) -> None:
    for line in ("/mail redeliver x", "/mail name x"):
        with pytest.raises(NotPossible, match="only an admin may"):
            await give(store, line, admin=False)
    for line in ("/mail redeliver", "/mail name", "/mail burn", "/mail dead x", "/mail name living room"):
        with pytest.raises(CommandMisused):
            await give(store, line)
    for name in ("assistant", str(STRANGER), "parent", "a`b", "kit\u202echen", "zero\u200bwidth", "x" * 41):
        with pytest.raises(KesokuError, match="address book"):
            await give(store, f"/mail name {name}")


async def test_a_text_is_relayed_with_a_line_of_where_it_comes_from(store: Store) -> None:
    assert await give(store, "/relay wechat:kitchen Dinner is **ready**.") == GOES
    (notice,) = await shown(store)
    assert notice.address == THERE
    assert notice.message.text == "From discord:lounge, by Ada:\n\nDinner is **ready**."


@pytest.mark.parametrize("line", ["/relay wechat:kitchen Dinner is ready.", "/announce Dinner is ready."])
async def test_a_command_that_is_delivered_twice_is_done_once(store: Store, line: str) -> None:
    for _ in range(2):
        await give(store, line, keys=("event-1",))
    assert len(await shown(store)) == 1
    await give(store, line, keys=("event-2",))
    assert len(await shown(store)) == 2


async def test_the_last_answer_is_relayed_with_its_files_named(store: Store) -> None:
    with pytest.raises(NotPossible, match="what the model reads here holds no answer"):
        await give(store, "/relay wechat:kitchen")
    answer = make.answer(
        "Here it is.", provider="p", model="m", attachments=[Attachment(name="plan.pdf", path="/tmp/plan.pdf")]
    )
    await store.write(lambda tx: tx.messages.insert(Post(message=answer, address=HERE), session_id="s1", at=2))
    await give(store, "/relay wechat:kitchen")
    (notice,) = await shown(store)
    assert notice.message.text == "From discord:lounge, by Ada:\n\nHere it is.\n\nFiles: `plan.pdf`"
    assert notice.message.metadata == {"relayed": answer.id}


async def test_an_answer_that_was_left_behind_is_not_relayed(store: Store) -> None:
    """What /relay shows to others is what /last says: of the branch that goes on, and nothing that was cleared."""
    one, two = (make.answer(text, provider="p", model="m") for text in ("one", "two"))
    for answer in (one, two):
        post = Post(message=answer, address=HERE)
        await store.write(lambda tx, post=post: tx.messages.insert(post, session_id="s1", at=2))  # type: ignore[misc]
    main = Branch(session_id="s1")
    await store.write(lambda tx: tx.branches.select(replace(main.ending(2), name="fork-2")))
    await give(store, "/relay wechat:kitchen")
    assert [each.message.metadata["relayed"] for each in await shown(store)] == [one.id]
    await store.write(lambda tx: tx.branches.select(main.clearing(3)))
    with pytest.raises(NotPossible, match="what the model reads here holds no answer"):
        await give(store, "/relay wechat:kitchen")


async def test_a_name_of_the_address_book_is_a_destination(store: Store) -> None:
    await give(store, "/mail name kitchen", at=THERE)
    assert await give(store, "/relay kitchen hi") == GOES


async def test_an_unknown_destination_is_refused_with_those_that_there_are(store: Store) -> None:
    with pytest.raises(NotPossible, match="there are: discord:lounge, wechat:kitchen"):
        await give(store, "/relay wechat:cellar hi")
    assert "Only an admin" in await give(store, "/relay wechat:kitchen hi", admin=False)
    assert await shown(store) == []


async def test_everybody_hears_an_announcement(store: Store) -> None:
    assert "Only an admin" in await give(store, "/announce Closed on Monday.", admin=False)
    assert await give(store, "/announce Closed on Monday.") == "Announced in 2 channels of 2 conversations."
    for session in ("s1", "s2"):
        (notice,) = await shown(store, session)
        assert notice.message.text == "📣 Closed on Monday."
    assert await give(store, "/mail") == "No mail waits for this conversation."


def test_a_hundred_sessions_are_one_mail_a_hundred_entries_and_a_hundred_notices(sync_store: SyncStore) -> None:
    def prepare(tx: Transaction) -> None:
        for n in range(100):
            tx.sessions.create(session_id=f"s{n}", at=1)
            tx.sessions.bind(Address(chatbot_id="discord", channel_id=f"c{n}"), f"s{n}")
        tx.sessions.create(session_id="old", at=1)
        tx.sessions.bind(Address(chatbot_id="discord", channel_id="old"), "old")
        tx.sessions.end("old", at=2)
        tx.sessions.create(session_id="child", at=1)
        tx.sessions.bind(Address(chatbot_id="agent", channel_id="child"), "child")

    sync_store.run(prepare)
    done = sync_store.run(lambda tx: announce(tx, "Closed on Monday.", at=5))
    assert (done.sessions, len(done.destinations)) == (100, 100)
    assert sync_store.link.script("SELECT id FROM mail") == [(done.mail_id,)]
    entries = sync_store.link.script("SELECT mail_id, peer, box, state, count(*) FROM mail_entries GROUP BY 1, 2, 3, 4")
    assert entries == [(done.mail_id, str(ANNOUNCER), "inbox", "taken", 100)]
    notices = sync_store.link.script("SELECT count(DISTINCT id), count(DISTINCT session_id) FROM messages")
    assert notices == [(100, 100)]


async def test_an_announcement_to_nobody_is_a_dead_letter(store: Store) -> None:
    for session in ("s1", "s2"):
        await store.write(lambda tx, session=session: tx.sessions.end(session, at=2))  # type: ignore[misc]
    done = await store.write(lambda tx: announce(tx, "Hello?", at=3))
    assert done.destinations == ()
    (dead,) = await store.read(lambda tx: tx.mail.dead())
    assert (dead.id, dead.reason) == (done.mail_id, DeadReason.NO_RECEIVERS)


@pytest.fixture
def sync_store(tmp_path: Path) -> Iterator[SyncStore]:
    sync_store = SyncStore(tmp_path / "kesoku.db")
    yield sync_store
    sync_store.close()
