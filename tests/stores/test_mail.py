"""Mail in the database: what is stored how often, and what becomes of damaged rows."""

import logging
import re
from uuid import UUID

import pytest

from kesoku.exchange import Exchange
from kesoku.messages.mail import DeadReason
from kesoku.ports import Transaction
from kesoku.store.damage import damage
from kesoku.testing.sync_store import SyncStore

A = UUID(int=1)
OTHERS = [UUID(int=n) for n in range(2, 102)]


def registered(sync_store: SyncStore, *owners: UUID) -> None:
    def operation(tx: object) -> None:
        for owner in owners:
            Exchange(tx.mail).register(owner)  # type: ignore[attr-defined]

    sync_store.run(operation)


def count(sync_store: SyncStore, table: str) -> int:
    return int(sync_store.link.script(f"SELECT count(*) FROM {table}")[0][0])


def test_a_broadcast_is_one_body_and_one_line_for_each_receiver(sync_store: SyncStore) -> None:
    # C-23
    registered(sync_store, A, *OTHERS)
    sync_store.run(lambda tx: Exchange(tx.mail).send(A, None, "x"))
    assert sync_store.run(lambda tx: Exchange(tx.mail).collect(A)) == 1
    assert (count(sync_store, "mail"), count(sync_store, "mail_entries")) == (1, 100)


def test_what_was_popped_stays_as_a_line(sync_store: SyncStore) -> None:
    registered(sync_store, A, *OTHERS[:2])
    sync_store.run(lambda tx: Exchange(tx.mail).send(A, None, "x"))
    sync_store.run(lambda tx: Exchange(tx.mail).collect(A))
    assert sync_store.run(lambda tx: Exchange(tx.mail).pop(OTHERS[0], A)) is not None
    lines = sync_store.link.script("SELECT owner, state FROM mail_entries ORDER BY seq")
    assert lines == [(str(OTHERS[0]), "taken"), (str(OTHERS[1]), "queued")]


def test_a_deleted_message_takes_its_lines_along(sync_store: SyncStore) -> None:
    registered(sync_store, A, *OTHERS[:2])
    sync_store.run(lambda tx: Exchange(tx.mail).send(A, None, "x"))
    sync_store.run(lambda tx: Exchange(tx.mail).collect(A))
    sync_store.link.script("DELETE FROM mail")
    assert count(sync_store, "mail_entries") == 0


@pytest.mark.parametrize("body", ["{}", "no json", '{"kind": "future", "source": {"kind": "relay"}}'])
def test_a_damaged_letter_is_a_dead_one_and_holds_up_no_other(
    sync_store: SyncStore, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    registered(sync_store, A, *OTHERS[:1])
    broken, whole = (sync_store.run(lambda tx: Exchange(tx.mail).send(A, OTHERS[0], "x")) for _ in range(2))
    sync_store.link.script(f"UPDATE mail SET body = '{body}' WHERE id = '{broken.id}'")
    with caplog.at_level(logging.ERROR):
        report = sync_store.run(lambda tx: Exchange(tx.mail).route(A))
    assert report.dead == ((broken.id, DeadReason.UNADDRESSED),)
    assert report.delivered == ((whole.id, OTHERS[0]),)
    assert broken.id in caplog.text


def test_damaged_mail_in_an_inbox_can_be_read_around_and_taken_out(sync_store: SyncStore) -> None:
    registered(sync_store, A, *OTHERS[:1])
    broken, whole = (sync_store.run(lambda tx: Exchange(tx.mail).send(A, OTHERS[0], "x")) for _ in range(2))
    sync_store.run(lambda tx: Exchange(tx.mail).collect(A))
    sync_store.link.script(f"UPDATE mail SET body = '{{' WHERE id = '{broken.id}'")
    assert damage(sync_store.link) == ["1 damaged row in mail (body): rowid 1"]
    lost, read = sync_store.run(lambda tx: Exchange(tx.mail).receive(OTHERS[0], A))
    assert (read, lost.id) == (whole, broken.id)
    assert "damaged" in lost.content
    assert [sync_store.run(lambda tx: Exchange(tx.mail).pop(OTHERS[0], A)) for _ in range(2)] == [lost, whole]


@pytest.mark.parametrize(
    ("damaged", "column"),
    [
        ("owners SET owner = '{junk'", "owner"),
        ("owners SET owner = ''", "owner"),
        ("owners SET owner = x'00ff'", "owner"),
        ("owners SET left_at = 'x'", "left_at"),
        ("aliases SET owner = '[]'", "owner"),
        ("mail_entries SET owner = CAST(x'7bff' AS TEXT)", "owner"),
        ("mail_entries SET peer = 'x'", "peer"),
        ("mail_entries SET box = 'attic'", "box"),
        ("mail_entries SET state = 'lost'", "state"),
        ("mail_entries SET reason = 'why not'", "reason"),
        ("mail_entries SET mail_id = 'x'", "mail_id"),
    ],
)
def test_damaged_rows_are_named_and_hold_up_nobody(sync_store: SyncStore, damaged: str, column: str) -> None:
    """Of each table the first row is damaged, and a letter of others arrives all the same."""
    first, *others = OTHERS[:4]
    registered(sync_store, first, *others)

    def prepare(tx: Transaction) -> None:
        exchange = Exchange(tx.mail)
        exchange.name("first", first)
        exchange.send(first, "nobody", "dead")
        exchange.collect(first)
        exchange.send(first, others[0], "arrived")
        exchange.collect(first)
        exchange.send(first, None, "queued")

    sync_store.run(prepare)
    sync_store.link.script("PRAGMA foreign_keys = OFF")
    table = damaged.partition(" ")[0]
    sync_store.link.script(f"UPDATE {damaged} WHERE rowid = (SELECT min(rowid) FROM {table})")
    (named, *_) = damage(sync_store.link)
    assert re.match(rf"\d damaged row in {table} \((\w+, )?{column}\)", named)

    def work(tx: Transaction) -> bool:
        exchange = Exchange(tx.mail)
        known = [*tx.mail.senders(), *tx.mail.receivers(), *exchange.owners(), *exchange.names().values()]
        for owner in known:
            exchange.get(owner)
            exchange.receive(owner)
        exchange.dead_letters()
        sent = exchange.send(others[1], others[2], "on time")
        exchange.sync()
        return sent in exchange.receive(others[2])

    assert sync_store.run(work)
