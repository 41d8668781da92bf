"""The file itself: versions, foreign files, permissions, and what the tables forbid."""

import asyncio
import hashlib
import sqlite3
import stat
from pathlib import Path

import pytest

from kesoku.errors import StoreConflict, StoreForeign, StoreNewer, StoreOutdated
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.store import SqlStore
from kesoku.store.engine import Link
from kesoku.store.migrations import MIGRATIONS, prepare
from kesoku.store.queues import WRONG
from kesoku.testing.driver import intercepted
from kesoku.testing.store_material import ELSEWHERE, add, ids, move, prompt, said
from kesoku.testing.sync_store import SyncStore


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files(directory: Path) -> dict[str, int]:
    """Every file with its mode."""
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in directory.iterdir()}


async def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        await store.write(add(prompt()))
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 2}")
    raw.close()
    before = digest(path)
    with pytest.raises(StoreNewer) as caught:
        await SqlStore.open(path)
    error = caught.value
    assert (error.path, error.found, error.known) == (path, error.known + 1, len(MIGRATIONS) + 1)
    assert "upgrade" in str(error)
    assert digest(path) == before


@pytest.mark.parametrize("kind", ["text", "other application", "other version"])
async def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "kesoku.db"
    if kind == "text":
        path.write_text("Dear diary, " * 200)
    else:
        raw = sqlite3.connect(path)
        raw.execute("CREATE TABLE places (url)" if kind == "other application" else "PRAGMA user_version = 1")
        raw.commit()
        raw.close()
    before = digest(path)
    with pytest.raises(StoreForeign):
        await SqlStore.open(path)
    assert digest(path) == before


async def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    path.touch()
    async with await SqlStore.open(path) as store:
        await store.write(add(prompt()))


async def test_a_new_database_is_private(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        await store.write(add(prompt()))
        modes = files(tmp_path)
    assert len(modes) == 4
    assert set(modes.values()) == {0o600}


async def test_closing_leaves_one_file_and_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        stored = await store.write(add(prompt()))
        await store.read(lambda tx: tx.events.head())
        undo = store.on_commit(lambda: None)
    undo()
    assert files(tmp_path).keys() == {"kesoku.db", "kesoku.db.lock"}
    async with await SqlStore.open(path) as store:
        assert await store.read(lambda tx: tx.messages.session("s1")) == stored


async def test_several_open_a_new_file_at_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(SqlStore.open(tmp_path / "kesoku.db") for _ in range(6)))
    await asyncio.gather(*(store.write(add(prompt())) for store in stores))
    assert len(await stores[0].read(lambda tx: tx.messages.session("s1"))) == 6
    for store in stores:
        await store.aclose()


def test_every_connection_is_durable(sync_store: SyncStore) -> None:
    for readonly in (False, True):
        link = sync_store.database.link(readonly=readonly)
        pragmas = {
            name: link.script(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "foreign_keys")
        }
        pragmas |= {name: link.script(f"PRAGMA {name}")[0][0] for name in ("wal_autocheckpoint", "query_only")}
        assert pragmas == {
            "journal_mode": "wal",
            "synchronous": 2,
            "foreign_keys": 1,
            "wal_autocheckpoint": 0,
            "query_only": int(readonly),
        }
        link.close()


def test_an_older_database_is_brought_up_step_by_step(sync_store: SyncStore) -> None:
    stored = sync_store.run(add(prompt()))
    write_lock = sync_store.database.write_lock()

    now = len(MIGRATIONS) + 1

    def one_more(link: Link) -> None:
        link.script("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'")

    def broken(link: Link) -> None:
        link.script("ALTER TABLE sessions ADD COLUMN size TEXT")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        prepare(sync_store.database, sync_store.link, write_lock, (*MIGRATIONS, one_more, broken))
    assert sync_store.link.script("PRAGMA user_version") == [(now,)]
    for _ in range(2):
        prepare(sync_store.database, sync_store.link, write_lock, (*MIGRATIONS, one_more))
        assert sync_store.link.script("PRAGMA user_version") == [(now + 1,)]
    assert sync_store.link.script("SELECT colour FROM sessions") == [("red",)]
    assert sync_store.run(lambda tx: tx.messages.session("s1")) == stored
    with pytest.raises(StoreNewer):
        prepare(sync_store.database, sync_store.link, write_lock, MIGRATIONS)
    write_lock.close()


async def test_a_link_to_the_file_shares_its_lock(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "kesoku.db")
    async with await SqlStore.open(tmp_path / "link.db") as store:
        await store.write(add(prompt()))
        assert store.path == tmp_path / "kesoku.db"
    assert files(tmp_path).keys() == {"kesoku.db", "kesoku.db.lock", "link.db"}


def test_a_seq_never_comes_again(sync_store: SyncStore) -> None:
    (first, last) = sync_store.run(add(prompt(), prompt()))
    sync_store.link.script(f"DELETE FROM messages WHERE id = '{last.id}'")
    assert sync_store.run(lambda tx: [change.record.id for change in tx.events.after(0, 9)]) == [first.id]
    sync_store.link.script("UPDATE sessions SET last_n = 1")
    (again,) = sync_store.run(add(prompt()))
    assert again.seq > last.seq


def test_a_deleted_message_takes_its_rows_along_but_not_its_keys(sync_store: SyncStore) -> None:
    (stored,) = sync_store.run(add(prompt(keys=("k1",))))
    sync_store.run(lambda tx: tx.messages.rewrite(stored.message.update(text="x"), actor="a", at=1))
    sync_store.link.script("DELETE FROM messages")
    for table in ("events", "message_versions"):
        assert sync_store.link.script(f"SELECT count(*) FROM {table}") == [(0,)]
    assert sync_store.link.script("SELECT key, message_id FROM external_ids") == [("k1", None)]
    assert sync_store.run(lambda tx: tx.messages.find("discord", ["k1"])) is None


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET role = 'unset'",
        "UPDATE messages SET type = 'picture'",
        "UPDATE messages SET status = 'lost'",
        "UPDATE messages SET status = 'delivered'",
        "UPDATE messages SET session_n = 1",
        "UPDATE messages SET session_id = NULL",
        "UPDATE events SET kind = 'vanished'",
        "UPDATE events SET message_id = 'nobody'",
    ],
)
def test_the_tables_forbid(sync_store: SyncStore, change: str) -> None:
    # K-001, K-002
    stored = sync_store.run(add(prompt(), prompt()))
    with pytest.raises(StoreConflict):
        sync_store.link.script(change)
    assert ids(sync_store.run(lambda tx: tx.messages.session("s1"))) == ids(stored)


def test_the_length_of_a_queue_follows_every_change(sync_store: SyncStore) -> None:
    def lengths() -> list[tuple[str, int]]:
        return sync_store.link.script("SELECT chatbot_id, length FROM queues ORDER BY chatbot_id")

    one, two, three = sync_store.run(add(prompt(), prompt(), prompt(at=ELSEWHERE)))
    sync_store.run(add(said(make.notice("n"))))
    assert lengths() == [("discord", 2), ("wechat", 1)]
    sync_store.run(move(one, S.PROCESSING, S.PENDING_AGENT))
    sync_store.run(move(three, S.INTERRUPTED, S.PENDING_AGENT))
    assert lengths() == [("discord", 1), ("wechat", 0)]
    sync_store.run(move(one, S.PENDING_AGENT, S.PROCESSING))
    sync_store.run(add(prompt(), two.beside(two.message)))
    assert lengths() == [("discord", 3), ("wechat", 0)]
    sync_store.link.script(f"DELETE FROM messages WHERE id IN ('{two.id}', '{three.id}')")
    assert lengths() == [("discord", 2), ("wechat", 0)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE queues SET length = 100000",
        "UPDATE queues SET length = 'many'",
        "DELETE FROM queues",
        "UPDATE queues SET chatbot_id = 'other' WHERE chatbot_id = 'wechat'",
        "INSERT INTO queues VALUES ('other', 7)",
    ],
)
def test_a_length_that_was_changed_by_hand_is_counted_again_at_the_next_start(
    sync_store: SyncStore, damage: str
) -> None:
    sync_store.run(add(prompt(), prompt(), prompt(at=ELSEWHERE)))
    sync_store.link.script(damage)
    again = SyncStore(sync_store.path)
    assert again.link.script("SELECT * FROM queues ORDER BY chatbot_id") == [("discord", 2), ("wechat", 1)]
    again.close()


def test_nothing_is_counted_again_where_nothing_is_wrong(sync_store: SyncStore) -> None:
    sync_store.run(add(prompt()))
    before = sync_store.link.script("PRAGMA data_version")
    again = SyncStore(sync_store.path)
    assert sync_store.link.script("PRAGMA data_version") == before
    plan = again.link.script(f"EXPLAIN QUERY PLAN {WRONG}")
    looks = [each for *_, each in plan if "messages" in each]
    assert looks
    assert all("INDEX messages_queued" in each for each in looks)
    again.close()


def test_a_sqlite_that_is_too_old_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    old = intercepted(sqlite3, lambda sql, run: run())
    old.__dict__.update(sqlite_version="3.34.1", sqlite_version_info=(3, 34, 1))
    with pytest.raises(StoreOutdated, match=r"has SQLite 3\.34\.1, and Kesoku needs 3\.35\.0"):
        SyncStore(tmp_path / "kesoku.db", module=old)
    assert not list(tmp_path.iterdir())
