"""Mail between owners, seed 000 part D5: every row over mail in memory and over the database.

Where decisions C-24, C-25 and R-3 change a row, a letter that reaches nobody is kept as a dead letter with its reason.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kesoku.errors import KesokuError, OwnerKnown, OwnerUnknown
from kesoku.exchange import Exchange, MemoryMailStore
from kesoku.messages.enums import MessageRole
from kesoku.messages.mail import DeadReason
from kesoku.messages.message import Message
from kesoku.messages.party import UNADDRESSED
from kesoku.messages.source import RelaySource
from kesoku.ports import MailStore
from kesoku.store.mail import SqlMailStore
from kesoku.testing.sync_store import SyncStore

A, B, C, D = (UUID(int=n) for n in range(1, 5))
STRANGER = UUID(int=99)


@pytest.fixture(params=["memory", "sql"])
def mail(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MailStore]:
    """A mail store: alone in memory, and the database within one transaction."""
    if request.param == "memory":
        yield MemoryMailStore()
        return
    sync_store = SyncStore(tmp_path / "kesoku.db")
    sync_store.link.begin()
    yield SqlMailStore(sync_store.link)
    sync_store.link.rollback()
    sync_store.close()


@pytest.fixture
def exchange(mail: MailStore) -> Exchange:
    """An exchange on which A, B and C have mailboxes."""
    exchange = Exchange(mail)
    for owner in (A, B, C):
        exchange.register(owner)
    return exchange


def dead(exchange: Exchange) -> list[tuple[str, DeadReason]]:
    return [(each.id, each.reason) for each in exchange.dead_letters()]


def test_who_is_registered_cannot_register_again(exchange: Exchange) -> None:
    # L-152
    with pytest.raises(OwnerKnown) as caught:
        exchange.register(A)
    assert isinstance(caught.value, ValueError)


def test_nobody_sends_without_a_mailbox(exchange: Exchange) -> None:
    # L-153
    with pytest.raises(OwnerUnknown) as caught:
        exchange.send(STRANGER, A, "x")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, KesokuError)


def test_nobody_collects_without_a_mailbox(exchange: Exchange) -> None:
    # L-154
    for work in (exchange.collect, exchange.route):
        with pytest.raises(ValueError, match=str(STRANGER)):
            work(STRANGER)


def test_a_stranger_has_nothing(exchange: Exchange) -> None:
    # L-155
    assert exchange.unregister(STRANGER) is None
    assert exchange.get(STRANGER) is None
    assert exchange.receive(STRANGER) == []
    assert exchange.pop(STRANGER, A) is None


def test_a_new_owner_has_an_empty_outbox_and_nothing_else(exchange: Exchange) -> None:
    # L-156
    flow = exchange.register(D)
    assert (flow.owner, flow.progressions, flow.messages) == (D, {"outbox": ()}, {})
    assert exchange.get(D) == flow
    assert exchange.owners() == [A, B, C, D]


def test_what_is_sent_is_a_message_of_no_role_in_the_outbox(exchange: Exchange) -> None:
    # L-157
    sent = exchange.send(A, B, "x", channel="c")
    assert type(sent) is Message
    assert (sent.role, sent.content, sent.channel) == (MessageRole.UNSET, "x", "c")
    assert [sent.sender, sent.recipient] == [A, B]
    flow = exchange.get(A)
    assert flow is not None
    assert flow.progressions == {"outbox": (sent.id,)}
    assert flow.messages[sent.id].to_dict() == sent.to_dict()


def test_a_recipient_may_register_after_the_sending(exchange: Exchange) -> None:
    # L-158
    sent = exchange.send(A, D, "x")
    exchange.register(D)
    assert exchange.collect(A) == 1
    assert exchange.receive(D) == [sent]


def test_a_queued_message_that_is_gone_is_passed_over(exchange: Exchange, mail: MailStore) -> None:
    # L-159
    gone, stays = exchange.send(A, B, "gone"), exchange.send(A, B, "stays")
    waiting = exchange.waiting(A)
    mail.forget(gone.id)
    assert exchange.route_each(waiting).delivered == ((stays.id, B),)
    assert exchange.receive(B) == [stays]


def test_a_broadcast_reaches_everybody_but_its_sender_and_counts_once(exchange: Exchange) -> None:
    # L-160
    exchange.register(D)
    sent = exchange.send(A, None, "x")
    assert exchange.collect(A) == 1
    assert [exchange.receive(owner) for owner in (A, B, C, D)] == [[], [sent], [sent], [sent]]


def test_no_receiver_can_change_what_the_others_read(exchange: Exchange) -> None:
    # L-161, C-23
    exchange.send(A, None, {"list": [1]})
    exchange.collect(A)
    (mine,) = exchange.receive(B)
    with pytest.raises(TypeError):
        mine.content["list"] = []
    with pytest.raises(AttributeError):
        mine.content = "other"  # type: ignore[misc]
    assert exchange.receive(C)[0].content == {"list": (1,)}


@pytest.mark.parametrize(
    ("recipient", "reason"),
    [
        (STRANGER, DeadReason.NO_SUCH_OWNER),  # L-162
        ("bob", DeadReason.NOT_AN_ADDRESS),  # L-163
        (MessageRole.USER, DeadReason.NOT_AN_ADDRESS),
        (UNADDRESSED, DeadReason.UNADDRESSED),  # L-163
        (MessageRole.UNSET, DeadReason.UNADDRESSED),
    ],
)
def test_what_can_reach_nobody_is_a_dead_letter(exchange: Exchange, recipient: Any, reason: DeadReason) -> None:
    sent = exchange.send(A, recipient, "x")
    assert exchange.collect(A) == 0
    assert [exchange.receive(owner) for owner in (A, B, C)] == [[], [], []]
    assert dead(exchange) == [(sent.id, reason)]
    assert exchange.waiting(A) == []


def test_a_message_without_recipient_is_unaddressed(exchange: Exchange) -> None:
    # L-163
    message = Message.create(source=RelaySource(), content="x", sender=A)
    assert exchange.post(message)
    assert exchange.route(A).dead == ((message.id, DeadReason.UNADDRESSED),)


def test_the_text_of_a_uuid_is_an_address(exchange: Exchange) -> None:
    # L-164
    sent = exchange.send(str(A), str(B), "x")
    assert exchange.collect(str(A)) == 1
    assert exchange.receive(str(B), sender=str(A)) == [sent]


def test_who_leaves_before_delivery_gets_nothing_and_the_sender_no_exception(exchange: Exchange) -> None:
    # L-165
    sent = exchange.send(A, B, "x")
    exchange.unregister(B)
    assert exchange.collect(A) == 0
    assert dead(exchange) == [(sent.id, DeadReason.LEFT_BEFORE_DELIVERY)]


def test_a_mailbox_that_refuses_hurts_no_other(exchange: Exchange) -> None:
    # L-166, R-3
    exchange.register(D, capacity=0)
    sent = exchange.send(A, None, "x")
    report = exchange.route(A)
    assert report.delivered == ((sent.id, B), (sent.id, C))
    assert report.failed == ((sent.id, D, "the mailbox is full"),)
    assert [exchange.receive(owner) for owner in (B, C, D)] == [[sent], [sent], []]


def test_collecting_counts_messages(exchange: Exchange) -> None:
    # L-167, C-25
    for recipient in (B, C, None):
        exchange.send(A, recipient, "x")
    assert exchange.collect(A) == 3


def test_receiving_takes_nothing_away(exchange: Exchange) -> None:
    # L-168
    sent = [exchange.send(A, B, n) for n in range(3)]
    exchange.collect(A)
    assert exchange.receive(B) == exchange.receive(B) == sent


def test_what_one_sender_sent_can_be_read_alone(exchange: Exchange) -> None:
    # L-169
    sent = [exchange.send(sender, C, sender.int) for sender in (A, B)]
    exchange.collect_all()
    assert exchange.receive(C, sender=B) == sent[1:]
    assert exchange.receive(C) == sent


def test_popping_takes_the_oldest_of_a_sender(exchange: Exchange) -> None:
    # L-170, L-171
    assert exchange.pop(B, A) is None
    sent = [exchange.send(A, B, n) for n in (1, 2)]
    exchange.collect(A)
    assert exchange.pop(B, C) is None
    assert [exchange.pop(B, A) for _ in range(3)] == [*sent, None]
    assert exchange.get(B).progressions == {"outbox": ()}  # type: ignore[union-attr]


def test_an_inbox_is_a_progression_for_each_sender(exchange: Exchange) -> None:
    # L-172
    sent = exchange.send(A, B, "x")
    exchange.collect(A)
    flow = exchange.get(B)
    assert flow is not None
    assert flow.progressions == {"outbox": (), f"inbox_{A}": (sent.id,)}
    assert flow.messages == {sent.id: sent}


def test_collecting_for_all_skips_who_is_removed_meanwhile() -> None:
    # L-173
    class Impatient(MemoryMailStore):
        """B leaves as soon as anything is delivered, and D comes with a letter."""

        def settle(self, letter: Any) -> None:
            super().settle(letter)
            if alone.unregister(B) is not None:
                alone.register(D)
                alone.send(D, A, "later")

    alone = exchange = Exchange(Impatient())
    for owner in (A, B, C):
        exchange.register(owner)
    sent = [exchange.send(sender, to, "x") for sender, to in ((A, C), (B, C), (C, A))]
    assert exchange.collect_all() == 2
    assert (exchange.receive(C), exchange.receive(A)) == ([sent[0]], [sent[2]])
    assert dead(exchange) == [(sent[1].id, DeadReason.SENDER_LEFT)]
    assert [each.message.content for each in exchange.waiting(D)] == ["later"]


def test_sync_collects_for_all(exchange: Exchange) -> None:
    # L-174
    sent = [exchange.send(sender, None, "x") for sender in (A, B, C)]
    assert exchange.sync() == 3
    assert exchange.sync() == 0
    assert exchange.receive(C) == sent[:2]


def test_a_channel_is_a_label_and_no_route(exchange: Exchange) -> None:
    # L-175
    sent = [exchange.send(A, B, "x", channel=channel) for channel in ("result", "question", None)]
    assert exchange.collect(A) == 3
    assert exchange.receive(B) == sent
    assert exchange.receive(B, channel="question") == sent[1:2]


def test_one_may_write_to_oneself(exchange: Exchange) -> None:
    # L-176
    sent = exchange.send(A, A, "x")
    assert exchange.collect(A) == 1
    assert exchange.receive(A) == [sent]


def test_a_broadcast_of_one_who_is_alone_is_a_dead_letter(mail: MailStore) -> None:
    # L-177
    exchange = Exchange(mail)
    exchange.register(A)
    sent = exchange.send(A, None, "x")
    assert exchange.collect(A) == 0
    assert dead(exchange) == [(sent.id, DeadReason.NO_RECEIVERS)]


def test_who_leaves_gets_the_mail_and_comes_back_to_an_empty_box(exchange: Exchange) -> None:
    # L-178, R-3
    came = exchange.send(A, B, "x")
    exchange.collect(A)
    waits = exchange.send(B, A, "y")
    flow = exchange.unregister(B)
    assert flow is not None
    assert flow.progressions == {"outbox": (waits.id,), f"inbox_{A}": (came.id,)}
    assert flow.messages == {came.id: came, waits.id: waits}
    assert exchange.get(B) is None
    assert exchange.register(B).progressions == {"outbox": ()}
    assert exchange.collect(B) == 0
    assert dead(exchange) == [(waits.id, DeadReason.SENDER_LEFT)]


def test_an_outbox_is_empty_after_collecting_except_for_what_was_refused(exchange: Exchange) -> None:
    # L-179
    exchange.register(D, capacity=0)
    for recipient in (B, STRANGER, "nobody"):
        exchange.send(A, recipient, "x")
    refused = [exchange.send(A, to, "x") for to in (None, D)]
    exchange.collect(A)
    waiting = [(each.message, each.target, each.attempts) for each in exchange.waiting(A)]
    assert waiting == [(refused[0], D, 1), (refused[1], D, 1)]
    assert exchange.get(A).progressions["outbox"] == tuple(each.id for each in refused)  # type: ignore[union-attr]
    assert exchange.unregister(D) is not None
    exchange.collect(A)
    assert exchange.get(A).progressions == {"outbox": ()}  # type: ignore[union-attr]


def test_what_is_refused_five_times_is_dead(exchange: Exchange) -> None:
    #
    exchange.register(D, capacity=1)
    exchange.send(A, D, "fills it")
    exchange.collect(A)
    refused = exchange.send(A, D, "x")
    reports = [exchange.route(A) for _ in range(6)]
    assert [len(report.failed) for report in reports] == [1, 1, 1, 1, 0, 0]
    assert reports[4].dead == ((refused.id, DeadReason.DELIVERY_ERROR),)
    (letter,) = exchange.dead_letters(A)
    assert (letter.error, letter.letter.attempts, letter.letter.target) == ("the mailbox is full", 5, D)
    assert exchange.dead_letters(B) == []


def test_what_was_refused_arrives_once_there_is_room(exchange: Exchange) -> None:
    #
    exchange.register(D, capacity=1)
    first, second = exchange.send(A, D, 1), exchange.send(A, None, 2)
    assert exchange.route(A).failed == ((second.id, D, "the mailbox is full"),)
    assert exchange.pop(D, A) == first
    assert exchange.route(A).delivered == ((second.id, D),)
    assert (exchange.receive(D), exchange.receive(B)) == ([second], [second])


@pytest.mark.parametrize("to", [None, C, "carol"])
def test_a_dead_letter_is_delivered_again_under_its_own_id(exchange: Exchange, to: Any) -> None:
    #
    exchange.name("carol", C)
    sent = exchange.send(A, "bob", "x")
    exchange.collect(A)
    exchange.name("bob", B)
    report = exchange.redeliver(sent.id, to)
    reader = B if to is None else C
    assert report.delivered == ((sent.id, reader),)
    assert exchange.receive(reader) == [sent]
    assert exchange.dead_letters() == []
    with pytest.raises(LookupError, match=sent.id):
        exchange.redeliver(sent.id)


def test_what_was_read_and_is_delivered_again_comes_last(exchange: Exchange) -> None:
    #
    exchange.register(D, capacity=0)
    first = exchange.send(A, None, 1)
    for _ in range(5):
        exchange.collect(A)
    assert exchange.pop(B, A) == first
    second = exchange.send(A, B, 2)
    exchange.collect(A)
    assert exchange.redeliver(first.id, B).delivered == ((first.id, B),)
    assert exchange.receive(B) == [second, first]
    third = exchange.send(A, B, 3)
    exchange.collect(A)
    assert [exchange.pop(B, A) for _ in range(4)] == [second, first, third, None]


def test_a_letter_of_one_who_left_can_still_be_delivered_or_is_dead_again(exchange: Exchange) -> None:
    #
    sent = exchange.send(A, B, "x")
    exchange.unregister(A)
    exchange.register(D, capacity=0)
    assert exchange.redeliver(sent.id, D).dead == ((sent.id, DeadReason.DELIVERY_ERROR),)
    assert exchange.redeliver(sent.id, B).delivered == ((sent.id, B),)


def test_redelivering_to_an_unknown_name_changes_nothing(exchange: Exchange) -> None:
    #
    sent = exchange.send(A, STRANGER, "x")
    exchange.collect(A)
    with pytest.raises(OwnerUnknown, match="nobody"):
        exchange.redeliver(sent.id, "nobody")
    assert dead(exchange) == [(sent.id, DeadReason.NO_SUCH_OWNER)]


def test_a_name_is_looked_up_when_the_mail_is_collected(exchange: Exchange) -> None:
    #
    exchange.name("bob", C)
    sent = exchange.send(A, "bob", "x")
    exchange.name("bob", B)
    assert exchange.names() == {"bob": B}
    assert exchange.collect(A) == 1
    assert (exchange.receive(B), exchange.receive(C)) == ([sent], [])
    exchange.name("bob", None)
    exchange.send(A, "bob", "x")
    assert exchange.collect(A) == 0


@pytest.mark.parametrize("name", ["", "assistant", "3d1f9c2e-6a51-4b1d-9a68-0f6f3a3d7c11"])
def test_a_name_that_would_be_read_as_something_else_is_refused(exchange: Exchange, name: str) -> None:
    #
    with pytest.raises(ValueError, match="address book"):
        exchange.name(name, B)


def test_a_message_that_was_sent_already_is_not_sent_again(exchange: Exchange) -> None:
    sent = exchange.send(A, B, "x")
    assert not exchange.post(sent)
    exchange.collect(A)
    assert not exchange.post(sent)
    assert exchange.receive(B) == [sent]
