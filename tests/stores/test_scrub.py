"""What was overwritten is in no file of the database any more (C-16)."""

import asyncio
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kesoku.adapter.outgoing import Outgoing
from kesoku.adapter.part import row
from kesoku.errors import StoreLocked
from kesoku.messages.lifecycle import Delivery, Purpose
from kesoku.messages.record import Record
from kesoku.ports import Transaction
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt
from kesoku.testing.sync_store import SyncStore

SECRET = "correct horse battery staple"
LONG = f"{SECRET} " * 4_000
"""A text that needs pages of its own."""


def holds(folder: Path) -> list[str]:
    """The files in which the secret stands, as another process sees them: whoever opens and closes the file of a
    database here drops the locks of SQLite."""
    found = subprocess.run(["grep", "-rlF", SECRET, folder], capture_output=True, text=True, check=False)
    return sorted(Path(line).name for line in found.stdout.splitlines())


def parts(record: Record, text: str) -> list[Delivery]:
    return [
        row(Outgoing(text=text), message_id=record.id, address=record.address, part=0, purpose=purpose)
        for purpose in Purpose
    ]


async def told(store: SqlStore, *, neighbours: int = 200) -> Record:
    """Secrets of several versions and lengths among other messages, and a live status that showed them."""
    store._committer.link.script("PRAGMA secure_delete = OFF")  # as SQLite is usually built
    (record, *_) = await store.write(add(prompt(LONG), *(prompt(f"{n} " * 300) for n in range(neighbours))))
    message = record.message
    for text in (SECRET, f"short {SECRET}", LONG * 2, f"{SECRET} again"):
        message = message.update(text=text)
        await store.write(lambda tx, message=message: tx.messages.rewrite(message, actor="a", at=2))  # type: ignore[misc]
    await store.write(lambda tx: tx.deliveries.plan(parts(record, LONG)))
    await store.write(add(*(prompt("later " * 200) for _ in range(neighbours))))
    await store.write(lambda tx: tx.deliveries.remove(record.id, Purpose.LIVE))
    found = await store.read(lambda tx: tx.messages.get(record.id))
    assert found is not None
    return found


def forget(record: Record) -> Callable[[Transaction], int]:
    def operation(tx: Transaction) -> int:
        for each in parts(record, "[redacted]"):
            tx.archive.overwrite_part(each)
        return tx.archive.overwrite(record.message.update(text="[redacted]"), actor="a", at=3)

    return operation


async def test_no_file_holds_what_was_overwritten(tmp_path: Path) -> None:
    """C-16: long texts on pages of their own, several versions, and what older writes left between the rows."""
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        record = await told(store)
    assert holds(tmp_path) == ["kesoku.db"]
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        assert await store.write(forget(record)) == 5
        assert "kesoku.db" in holds(tmp_path)
        await store.scrub()
        assert holds(tmp_path) == []
        assert await store.check() == []
        assert (await store.read(lambda tx: tx.archive.versions(record.id)))[0].rendered == "[redacted]"
    assert holds(tmp_path) == []


async def test_a_reader_of_an_older_state_holds_scrubbing_up_and_is_named(tmp_path: Path) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db", patience=0.1) as store:
        record = await told(store, neighbours=3)
        with closing(sqlite3.connect(tmp_path / "kesoku.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM messages").fetchone()
            await store.write(forget(record))
            with pytest.raises(StoreLocked):
                await store.scrub()
            assert reader.execute("SELECT content FROM messages WHERE id = ?", [record.id]).fetchone()
            reader.execute("COMMIT")
            await store.scrub()
            assert holds(tmp_path) == []


async def test_a_reader_that_reads_nothing_now_does_not_disturb(tmp_path: Path) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        record = await told(store, neighbours=3)
        with closing(sqlite3.connect(tmp_path / "kesoku.db")) as reader:
            reader.execute("SELECT content FROM messages").fetchall()
            await store.write(forget(record))
            await store.scrub()
            assert holds(tmp_path) == []
            assert reader.execute("SELECT count(*) FROM messages").fetchone() == (7,)


async def test_a_store_works_on_while_others_scrub(tmp_path: Path) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db") as one, await SqlStore.open(tmp_path / "kesoku.db") as other:
        record = await told(one, neighbours=3)
        await one.write(forget(record))
        await asyncio.gather(one.scrub(), *(other.write(add(prompt(str(n)), session="s2")) for n in range(20)))
        found = await other.read(lambda tx: tx.messages.get(record.id))
        assert found is not None
        assert found.message.rendered == "[redacted]"
        (written,) = await other.write(add(prompt("still here")))
        assert written.session_n == 8


def test_zeros_are_written_in_the_overwriting_transaction_alone(sync_store: SyncStore) -> None:
    def secure() -> int:
        ((mode,),) = sync_store.link.script("PRAGMA secure_delete")
        return int(mode)

    sync_store.link.script("PRAGMA secure_delete = OFF")
    (record,) = sync_store.run(add(prompt(SECRET)))
    message = record.message.update(text="gone")
    assert sync_store.run(lambda tx: (tx.archive.overwrite(message, actor="a", at=1), secure())) == (1, 1)
    sync_store.run(add(prompt("next")))
    assert secure() == 0
