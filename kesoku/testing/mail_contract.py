"""What every mail store must do; part of `kesoku.testing.store_contract`. The rules of routing are not its business."""

# ruff: noqa: S101 - a contract is made of assertions

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from kesoku.errors import StoreReadOnly
from kesoku.messages.mail import DeadLetter, DeadReason, Letter, Mailbox
from kesoku.messages.message import Message
from kesoku.messages.record import Address
from kesoku.messages.source import RelaySource
from kesoku.ports import Store, Transaction
from kesoku.testing.store_material import add

ALICE, BOB, CAROL = (UUID(int=n) for n in (1, 2, 3))


def mail(sender: UUID = ALICE, recipient: Any = BOB, content: Any = "hi", **fields: Any) -> Message:
    """A message of no role."""
    return Message.create(source=RelaySource(), content=content, sender=sender, recipient=recipient, **fields)


async def opened(store: Store, *owners: UUID, **facts: Any) -> None:
    """Open mailboxes."""
    for number, owner in enumerate(owners):
        box = Mailbox(owner=owner, at=number, **facts)
        await store.write(lambda tx, box=box: tx.mail.open(box))  # type: ignore[misc]


async def queued(store: Store, *messages: Message, sender: UUID = ALICE) -> list[Letter]:
    """Queue messages; everything that waits then."""
    for each in messages:
        assert await store.write(lambda tx, each=each: tx.mail.add(each, sender, at=5))  # type: ignore[misc]
    return list(await store.read(lambda tx: tx.mail.outbox(sender)))


async def arrived(store: Store, message: Message, *owners: UUID, sender: UUID = ALICE) -> None:
    """Put a message into inboxes."""
    letter = (await queued(store, message, sender=sender))[-1]
    await store.write(lambda tx: tx.mail.deliver(letter, owners, at=6))
    await store.write(lambda tx: tx.mail.settle(letter))


class MailContract:
    """The behaviour of `MailStore`."""

    async def test_a_mailbox_is_found_by_its_owner_and_by_its_session(self, store: Store) -> None:
        await opened(store, ALICE)
        box = Mailbox(owner=BOB, session_id="s1", capacity=3, at=7)
        await store.write(lambda tx: tx.mail.open(box))
        assert await store.read(lambda tx: tx.mail.mailbox(BOB)) == box
        assert await store.read(lambda tx: tx.mail.mailbox_of("s1")) == box
        assert await store.read(lambda tx: tx.mail.mailbox(CAROL)) is None
        assert await store.read(lambda tx: tx.mail.mailbox_of("s2")) is None
        assert [each.owner for each in await store.read(lambda tx: tx.mail.mailboxes())] == [ALICE, BOB]

    async def test_a_mailbox_that_was_given_up_is_remembered_and_opens_empty(self, store: Store) -> None:
        await opened(store, BOB, session_id="s1")
        await arrived(store, mail(), BOB)
        await store.write(lambda tx: tx.mail.close(BOB, at=9))
        await store.write(lambda tx: tx.mail.close(CAROL, at=9))
        left = await store.read(lambda tx: tx.mail.mailbox(BOB))
        assert left == Mailbox(owner=BOB, session_id="s1", at=0, left_at=9)
        assert await store.read(lambda tx: (tx.mail.mailbox_of("s1"), list(tx.mail.mailboxes()))) == (None, [])
        await opened(store, BOB, session_id="s2")
        assert await store.read(lambda tx: tx.mail.mailbox(BOB)) == Mailbox(owner=BOB, session_id="s2", at=0)
        assert await store.read(lambda tx: (tx.mail.inbox(BOB), tx.mail.held(BOB))) == ([], 0)

    async def test_the_address_book_names_owners(self, store: Store) -> None:
        for name, owner in (("zoë \ud800", ALICE), ("bob", ALICE), ("bob", BOB), ("eve", CAROL), ("eve", None)):
            await store.write(lambda tx, name=name, owner=owner: tx.mail.name(name, owner))  # type: ignore[misc]
        await store.write(lambda tx: tx.mail.name("nobody", None))
        assert await store.read(lambda tx: tx.mail.names()) == {"bob": BOB, "zoë \ud800": ALICE}
        assert await store.read(lambda tx: [tx.mail.named(name) for name in ("bob", "eve", "Bob")]) == [BOB, None, None]

    async def test_a_message_is_queued_once_and_read_as_it_was(self, store: Store) -> None:
        message = mail(content={"text": "Zoë \ud800", "n": [1, 2.5, None]}, channel="result", metadata={"k": "v"})
        (letter,) = await queued(store, message)
        assert not await store.write(lambda tx: tx.mail.add(message, ALICE, at=9))
        assert (letter.sender, letter.target, letter.attempts) == (ALICE, None, 0)
        assert letter.message.to_dict() == message.to_dict()
        assert await store.read(lambda tx: tx.mail.message(message.id)) == message
        assert await store.read(lambda tx: tx.mail.message("other")) is None
        assert await store.read(lambda tx: tx.mail.letter(ALICE, letter.number)) == letter
        assert await store.read(lambda tx: tx.mail.letter(BOB, letter.number)) is None
        assert await store.read(lambda tx: tx.mail.letter(ALICE, letter.number + 1)) is None

    async def test_an_outbox_keeps_its_order(self, store: Store) -> None:
        messages = [mail(content=n, recipient=to) for n, to in enumerate((BOB, None, "eve", BOB))]
        other = mail(sender=BOB)
        await queued(store, other, sender=BOB)
        letters = await queued(store, *messages)
        assert [each.message for each in letters] == messages
        assert [each.number for each in letters] == sorted({each.number for each in letters})
        assert sorted(await store.read(lambda tx: tx.mail.senders())) == [ALICE, BOB]
        await store.write(lambda tx: tx.mail.settle(letters[1]))
        await store.write(lambda tx: tx.mail.settle(letters[1]))
        assert await store.read(lambda tx: tx.mail.outbox(ALICE)) == [letters[0], *letters[2:]]
        assert await store.read(lambda tx: tx.mail.outbox(CAROL)) == []

    async def test_inboxes_hold_one_message_for_many(self, store: Store) -> None:
        await opened(store, BOB, CAROL)
        one, two, three = mail(recipient=None), mail(sender=CAROL), mail()
        await arrived(store, one, BOB, CAROL)
        await arrived(store, two, BOB, sender=CAROL)
        await arrived(store, three, BOB)
        assert await store.read(lambda tx: tx.mail.inbox(BOB)) == [one, two, three]
        assert await store.read(lambda tx: tx.mail.inbox(BOB, CAROL)) == [two]
        assert await store.read(lambda tx: tx.mail.inbox(CAROL)) == [one]
        assert await store.read(lambda tx: tx.mail.inbox(ALICE)) == []
        assert await store.read(lambda tx: [tx.mail.held(owner) for owner in (ALICE, BOB, CAROL)]) == [0, 3, 1]
        assert await store.read(lambda tx: tx.mail.oldest(BOB, ALICE)) == one
        assert await store.read(lambda tx: (tx.mail.oldest(BOB, BOB), tx.mail.oldest(ALICE, BOB))) == (None, None)
        assert await store.read(lambda tx: [tx.mail.oldest(owner) for owner in (BOB, ALICE)]) == [one, None]
        await store.write(lambda tx: tx.mail.take(BOB, one))
        assert await store.read(lambda tx: (tx.mail.oldest(BOB), tx.mail.oldest(BOB, ALICE))) == (two, three)

    async def test_what_is_taken_is_gone_for_that_owner_alone(self, store: Store) -> None:
        await opened(store, BOB, CAROL)
        one, two = mail(recipient=None), mail()
        await arrived(store, one, BOB, CAROL)
        await arrived(store, two, BOB)
        assert sorted(await store.read(lambda tx: tx.mail.receivers())) == [BOB, CAROL]
        assert [await store.write(lambda tx: tx.mail.take(BOB, one)) for _ in range(2)] == [True, False]
        assert not await store.write(lambda tx: tx.mail.take(ALICE, one))
        assert await store.read(lambda tx: (tx.mail.inbox(BOB), tx.mail.oldest(BOB, ALICE))) == ([two], two)
        assert await store.read(lambda tx: tx.mail.inbox(CAROL)) == [one]
        assert await store.write(lambda tx: tx.mail.take(CAROL, one))
        assert await store.read(lambda tx: tx.mail.receivers()) == [BOB]

    async def test_a_letter_that_is_deferred_becomes_one_for_each_who_is_left(self, store: Store) -> None:
        (letter,) = await queued(store, mail(recipient=None))
        again = await store.write(lambda tx: tx.mail.defer(letter, [BOB, CAROL]))
        assert [(each.target, each.attempts, each.message) for each in again] == [
            (BOB, 1, letter.message),
            (CAROL, 1, letter.message),
        ]
        assert await store.read(lambda tx: tx.mail.outbox(ALICE)) == again
        (third,) = await store.write(lambda tx: tx.mail.defer(again[0], [BOB]))
        assert (third.target, third.attempts) == (BOB, 2)
        assert await store.read(lambda tx: tx.mail.outbox(ALICE)) == [again[1], third]

    async def test_dead_letters_wait_to_be_revived(self, store: Store) -> None:
        one, two = await queued(store, mail(recipient="eve"), mail(recipient=None))
        (other,) = await queued(store, mail(sender=BOB), sender=BOB)
        (half,) = await store.write(lambda tx: tx.mail.defer(two, [CAROL]))
        await store.write(lambda tx: tx.mail.bury(one, DeadReason.NOT_AN_ADDRESS, at=8))
        await store.write(lambda tx: tx.mail.bury(other, DeadReason.SENDER_LEFT, at=8))
        await store.write(lambda tx: tx.mail.bury(half, DeadReason.DELIVERY_ERROR, error="full \ud800", at=9))
        dead = await store.read(lambda tx: tx.mail.dead(ALICE))
        assert dead == [
            DeadLetter(letter=one, reason=DeadReason.NOT_AN_ADDRESS, at=8),
            DeadLetter(letter=half, reason=DeadReason.DELIVERY_ERROR, error="full \ud800", at=9),
        ]
        assert [each.id for each in await store.read(lambda tx: tx.mail.dead())] == [
            each.message.id for each in sorted((one, other, half), key=lambda each: each.number)
        ]
        assert await store.read(lambda tx: tx.mail.outbox(ALICE)) == []
        (again,) = await store.write(lambda tx: tx.mail.revive(half.message.id))
        assert again == replace(half, number=again.number, attempts=0)
        assert await store.read(lambda tx: tx.mail.outbox(ALICE)) == [again]
        assert await store.read(lambda tx: tx.mail.dead(ALICE)) == dead[:1]
        assert await store.write(lambda tx: tx.mail.revive(half.message.id)) == []

    async def test_dead_letters_of_one_message_become_one_when_somebody_else_shall_have_it(self, store: Store) -> None:
        (letter,) = await queued(store, mail(recipient=None))
        for each in await store.write(lambda tx: tx.mail.defer(letter, [BOB, CAROL])):
            await store.write(lambda tx, each=each: tx.mail.bury(each, DeadReason.DELIVERY_ERROR, at=8))  # type: ignore[misc]
        elsewhere = uuid4()
        (again,) = await store.write(lambda tx: tx.mail.revive(letter.message.id, elsewhere))
        assert (again.target, again.attempts) == (elsewhere, 0)
        assert await store.read(lambda tx: (tx.mail.outbox(ALICE), tx.mail.dead())) == ([again], [])

    async def test_what_is_forgotten_lies_nowhere(self, store: Store) -> None:
        await opened(store, BOB)
        gone, kept, dead = mail(), mail(), mail()
        await arrived(store, gone, BOB)
        letters = await queued(store, dead, kept)
        await store.write(lambda tx: tx.mail.bury(letters[0], DeadReason.UNADDRESSED, at=8))
        for each in (gone, dead, mail()):
            await store.write(lambda tx, each=each: tx.mail.forget(each.id))  # type: ignore[misc]
        assert await store.read(lambda tx: (tx.mail.inbox(BOB), tx.mail.dead(), tx.mail.held(BOB))) == ([], [], 0)
        assert await store.read(lambda tx: tx.mail.outbox(ALICE)) == letters[1:]
        await store.write(lambda tx: tx.mail.forget(kept.id))
        assert await store.read(lambda tx: (tx.mail.outbox(ALICE), tx.mail.senders())) == ([], [])

    async def test_the_channels_of_live_sessions_are_known(self, store: Store) -> None:
        places = [Address(chatbot_id=bot, channel_id=channel) for bot, channel in (("b", "2"), ("a", "1"), ("b", "1"))]
        for number, address in enumerate(places):
            await store.write(add(session=f"s{number % 2}"))
            await store.write(lambda tx, a=address, n=number: tx.sessions.bind(a, f"s{n % 2}"))  # type: ignore[misc]
        found = await store.read(lambda tx: tx.sessions.channels())
        assert [(address, session.id) for address, session in found] == [
            (places[1], "s1"),
            (places[2], "s0"),
            (places[0], "s0"),
        ]
        await store.write(lambda tx: tx.sessions.end("s0", at=5))
        assert [address for address, _ in await store.read(lambda tx: tx.sessions.channels())] == [places[1]]

    async def test_who_only_reads_sends_nothing(self, store: Store) -> None:
        with pytest.raises(StoreReadOnly):
            await store.read(lambda tx: tx.mail.open(Mailbox(owner=ALICE)))
        with pytest.raises(StoreReadOnly):
            await store.read(lambda tx: tx.mail.add(mail(), ALICE, at=1))
        assert await store.read(lambda tx: tx.mail.mailbox(ALICE)) is None

    async def test_a_failing_operation_leaves_the_mail_as_it_was(self, store: Store) -> None:
        await opened(store, BOB)
        first = mail()
        await arrived(store, first, BOB)

        def fail(tx: Transaction) -> None:
            tx.mail.take(BOB, first)
            tx.mail.close(BOB, at=9)
            tx.mail.name("bob", BOB)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.write(fail)
        assert await store.read(lambda tx: (tx.mail.inbox(BOB), tx.mail.held(BOB))) == ([first], 1)
        assert await store.read(lambda tx: tx.mail.names()) == {}
