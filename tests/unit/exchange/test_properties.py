"""What holds for any mail traffic, in memory and in the database alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.exchange import Exchange, MemoryMailStore
from kesoku.messages.enums import MessageRole
from kesoku.messages.kinds import message_from_dict
from kesoku.messages.mail import DeadReason
from kesoku.messages.message import Message
from kesoku.messages.party import UNADDRESSED, Broadcast, Direct, Named, ToRole, Unaddressed, party
from kesoku.messages.source import RelaySource
from kesoku.store.mail import SqlMailStore
from kesoku.testing.sync_store import SyncStore

OWNERS = [UUID(int=n) for n in range(1, 5)]
RECIPIENTS = st.one_of(
    st.none(),
    st.sampled_from(OWNERS),
    st.sampled_from(["alice", "bob"]),
    st.sampled_from(MessageRole),
    st.just(UNADDRESSED),
    st.sampled_from(OWNERS).map(str),
)
OWNER = st.sampled_from(OWNERS)
WORK = st.one_of(
    st.tuples(st.just("register"), OWNER, st.sampled_from([None, None, 0, 1])),
    st.tuples(st.just("unregister"), OWNER),
    st.tuples(st.just("send"), OWNER, RECIPIENTS),
    st.tuples(st.just("collect"), OWNER),
    st.tuples(st.just("pop"), OWNER, OWNER),
    st.tuples(st.just("name"), st.sampled_from(["alice", "bob"]), st.one_of(st.none(), OWNER)),
    st.tuples(st.just("redeliver"), st.integers(0, 9)),
)


class Traffic:
    """An exchange at work. Messages are known by the order in which they were sent, which is the same everywhere."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.sent: list[Message] = []
        self.delivered: set[str] = set()
        for owner in OWNERS[:3]:
            exchange.register(owner)

    def do(self, name: str, *given: Any) -> Any:
        """Do one thing; what came of it, in numbers and words."""
        if name == "send":
            sender, recipient = given
            self.sent.append(self.exchange.send(sender, recipient, "x"))
        elif name == "collect":
            return self.noted(self.exchange.route(*given))
        elif name == "register":
            self.exchange.register(given[0], capacity=given[1])
        elif name == "redeliver":
            dead = self.exchange.dead_letters()
            return self.noted(self.exchange.redeliver(dead[given[0] % len(dead)].id)) if dead else None
        elif name == "pop":
            return self.number(self.exchange.pop(*given))
        else:
            getattr(self.exchange, name)(*given)
        return None

    def noted(self, report: Any) -> Any:
        self.delivered |= {id_ for id_, _ in report.delivered}
        ids = {each.id: number for number, each in enumerate(self.sent)}
        return [sorted((ids[id_], *map(str, rest)) for id_, *rest in part) for part in (report.delivered, report.dead)]

    def number(self, message: Message | None) -> int | None:
        return None if message is None else self.sent.index(message)

    def state(self) -> Any:
        """Everything that can be seen."""
        inboxes = {owner: [self.number(each) for each in self.exchange.receive(owner)] for owner in OWNERS}
        dead = [(self.number(each.letter.message), each.reason) for each in self.exchange.dead_letters()]
        return inboxes, sorted(dead, key=str), self.waiting(), self.exchange.names(), self.exchange.owners()

    def waiting(self) -> list[tuple[int | None, int]]:
        letters = [each for owner in self.exchange.owners() for each in self.exchange.waiting(owner)]
        return [(self.number(each.message), each.attempts) for each in letters]


@contextmanager
def database(sync_store: SyncStore) -> Iterator[SqlMailStore]:
    """Mail in a transaction that comes to nothing."""
    sync_store.link.begin()
    try:
        yield SqlMailStore(sync_store.link)
    finally:
        sync_store.link.rollback()


@pytest.fixture(scope="module")
def sync_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncStore]:
    sync_store = SyncStore(tmp_path_factory.mktemp("mail") / "kesoku.db")
    yield sync_store
    sync_store.close()


def attempt(traffic: Traffic, work: tuple[Any, ...]) -> Any:
    try:
        return traffic.do(*work)
    except ValueError as error:
        return type(error)


@given(work=st.lists(WORK, max_size=40))
def test_nothing_vanishes(work: list[tuple[Any, ...]]) -> None:
    """Every message that was sent has been delivered, is dead with a reason, or waits in an outbox (C-24)."""
    traffic = Traffic(Exchange(MemoryMailStore()))
    for each in work:
        attempt(traffic, each)
        dead = {letter.id for letter in traffic.exchange.dead_letters()}
        waiting = {traffic.sent[number].id for number, _ in traffic.waiting() if number is not None}
        assert {message.id for message in traffic.sent} == traffic.delivered | dead | waiting


@given(work=st.lists(WORK, max_size=30))
def test_the_database_and_the_memory_behave_alike(sync_store: SyncStore, work: list[tuple[Any, ...]]) -> None:
    with database(sync_store) as sql:
        here, there = Traffic(Exchange(MemoryMailStore())), Traffic(Exchange(sql))
        for each in work:
            assert attempt(here, each) == attempt(there, each)
        assert here.state() == there.state()


@given(work=st.lists(WORK, max_size=30))
def test_looking_changes_nothing(work: list[tuple[Any, ...]]) -> None:
    """However often anybody receives, looks at a flow or lists dead letters (L-168)."""
    traffic = Traffic(Exchange(MemoryMailStore()))
    for each in work:
        attempt(traffic, each)
    before = traffic.state()
    for owner in OWNERS:
        for sender in (None, *OWNERS):
            traffic.exchange.receive(owner, sender)
        traffic.exchange.get(owner)
    assert traffic.state() == before


@given(recipient=RECIPIENTS)
def test_a_recipient_says_the_same_everywhere(recipient: Any) -> None:
    """Constructor, predicates, JSON and database agree on each of the five kinds of recipient (R-2, L-163)."""
    message = Message.create(source=RelaySource(), sender=OWNERS[0], recipient=recipient)
    again = message_from_dict(message.to_dict())
    assert type(again.recipient) is type(message.recipient)
    assert again.recipient == message.recipient == party(recipient)
    assert (again.is_broadcast, again.is_direct) == (message.is_broadcast, message.is_direct)
    assert message.is_broadcast == (recipient is None)
    exchange = Exchange(MemoryMailStore())
    for owner in OWNERS:
        exchange.register(owner)
    exchange.post(again)
    report = exchange.route(OWNERS[0])
    expected = {
        Broadcast: (3, ()),
        Direct: (1, ()),
        Named: (0, (DeadReason.NOT_AN_ADDRESS,)),
        ToRole: (0, (DeadReason.NOT_AN_ADDRESS,)),
        Unaddressed: (0, (DeadReason.UNADDRESSED,)),
    }
    assert (len(report.delivered), tuple(reason for _, reason in report.dead)) == expected[type(message.recipient)]
