"""What the writer remembers of prompts is what is stored, whoever changed it and whatever came to nothing."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Record
from kesoku.ports import Transaction
from kesoku.store.memo import Memo
from kesoku.testing.store_material import add, move, prompt
from kesoku.testing.sync_store import SyncStore


def known(store: SyncStore) -> Record:
    """A prompt that the writer has read."""
    (record,) = store.run(add(prompt()))
    found = store.run(lambda tx: tx.messages.get(record.id))
    assert found is not None
    return found


def read(store: SyncStore, record: Record) -> Record | None:
    return store.run(lambda tx: tx.messages.get(record.id))


def test_a_prompt_is_read_once_for_all_its_moves(sync_store: SyncStore) -> None:
    record, statements = known(sync_store), list[str]()
    sync_store.link._raw.set_trace_callback(statements.append)
    assert sync_store.run(move(record, S.PROCESSING, S.PENDING_AGENT))
    assert sync_store.run(move(record, S.PROCESSED, S.PROCESSING))
    assert [each for each in statements if each.startswith("SELECT")] == []


def test_another_program_changes_a_prompt(sync_store: SyncStore) -> None:
    record = known(sync_store)
    with closing(sqlite3.connect(sync_store.path, isolation_level=None)) as other:
        other.execute("UPDATE messages SET status = 'processed', content = '{\"text\":\"new\"}'")
    assert sync_store.run(move(record, S.PROCESSING, S.PENDING_AGENT)) is None
    now = read(sync_store, record)
    assert now is not None
    assert (now.status, now.message.rendered) == (S.PROCESSED, "new")


def test_a_change_that_came_to_nothing_is_forgotten(sync_store: SyncStore) -> None:
    record = known(sync_store)

    def fails(tx: Transaction) -> None:
        assert move(record, S.PROCESSING, S.PENDING_AGENT)(tx)
        tx.messages.place(record.id, turn_id="other", round=3)
        raise LookupError

    with pytest.raises(LookupError):
        sync_store.run(fails)
    now = read(sync_store, record)
    assert now is not None
    assert (now.status, now.turn_id, now.round) == (S.PENDING_AGENT, record.turn_id, 0)


def rewrite(record: Record) -> Callable[[Transaction], object]:
    better = replace(record.message, content=replace(record.message.content, text="better"), version=2)
    return lambda tx: tx.messages.rewrite(better, actor="me", at=1)


CHANGES: dict[str, Callable[[Record], Callable[[Transaction], object]]] = {
    "rewrite": rewrite,
    "place": lambda record: lambda tx: tx.messages.place(record.id, turn_id="t", round=2),
    "supersede": lambda record: lambda tx: tx.messages.supersede(record.id, by="x"),
    "move": lambda record: move(record, S.PROCESSING, S.PENDING_AGENT),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_its_own_is_seen(sync_store: SyncStore, change: str) -> None:
    def state(record: Record | None) -> tuple[object, ...]:
        assert record is not None
        return record.message.rendered, record.status, record.turn_id, record.round, record.superseded_by

    record = known(sync_store)
    sync_store.run(CHANGES[change](record))
    now = state(read(sync_store, record))
    sync_store.committer._memo.clear()
    assert now == state(read(sync_store, record)) != state(record)


def test_only_short_prompts_are_kept_and_not_too_many(sync_store: SyncStore) -> None:
    (short, long), memo = sync_store.run(add(prompt(), prompt("x" * 5_000))), Memo()
    for each in (short, long):
        assert memo.put(each) is each
    assert memo.get(short.id) is short
    assert memo.get(long.id) is None
    for number in range(3_000):
        memo.put(replace(short, message=replace(short.message, id=f"m{number}")))
    assert memo.get(short.id) is None
    assert memo.get("m2999")
