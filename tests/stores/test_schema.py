"""The file itself: versions, foreign files, permissions, and what the tables forbid."""

import asyncio
import hashlib
import sqlite3
import stat
from pathlib import Path

import pytest

from kesoku.errors import StoreConflict, StoreForeign, StoreNewer
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.store import SqlStore
from kesoku.store.engine import Link
from kesoku.store.migrations import MIGRATIONS, prepare
from kesoku.testing.desk import Desk
from kesoku.testing.store_material import ELSEWHERE, add, ids, move, prompt, said


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


def test_every_connection_is_durable(desk: Desk) -> None:
    for readonly in (False, True):
        link = desk.database.link(readonly=readonly)
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


def test_an_older_database_is_brought_up_step_by_step(desk: Desk) -> None:
    stored = desk.run(add(prompt()))
    turnstile = desk.database.turnstile()

    now = len(MIGRATIONS) + 1

    def one_more(link: Link) -> None:
        link.script("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'")

    def broken(link: Link) -> None:
        link.script("ALTER TABLE sessions ADD COLUMN size TEXT")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        prepare(desk.database, desk.link, turnstile, (*MIGRATIONS, one_more, broken))
    assert desk.link.script("PRAGMA user_version") == [(now,)]
    for _ in range(2):
        prepare(desk.database, desk.link, turnstile, (*MIGRATIONS, one_more))
        assert desk.link.script("PRAGMA user_version") == [(now + 1,)]
    assert desk.link.script("SELECT colour FROM sessions") == [("red",)]
    assert desk.run(lambda tx: tx.messages.session("s1")) == stored
    with pytest.raises(StoreNewer):
        prepare(desk.database, desk.link, turnstile, MIGRATIONS)
    turnstile.close()


async def test_a_link_to_the_file_shares_its_lock(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "kesoku.db")
    async with await SqlStore.open(tmp_path / "link.db") as store:
        await store.write(add(prompt()))
        assert store.path == tmp_path / "kesoku.db"
    assert files(tmp_path).keys() == {"kesoku.db", "kesoku.db.lock", "link.db"}


def test_a_seq_never_comes_again(desk: Desk) -> None:
    (first, last) = desk.run(add(prompt(), prompt()))
    desk.link.script(f"DELETE FROM messages WHERE id = '{last.id}'")
    assert desk.run(lambda tx: [change.record.id for change in tx.events.after(0, 9)]) == [first.id]
    desk.link.script("UPDATE sessions SET last_n = 1")
    (again,) = desk.run(add(prompt()))
    assert again.seq > last.seq


def test_a_deleted_message_takes_its_rows_along_but_not_its_keys(desk: Desk) -> None:
    (stored,) = desk.run(add(prompt(keys=("k1",))))
    desk.run(lambda tx: tx.messages.rewrite(stored.message.update(text="x"), actor="a", at=1))
    desk.link.script("DELETE FROM messages")
    for table in ("events", "message_versions"):
        assert desk.link.script(f"SELECT count(*) FROM {table}") == [(0,)]
    assert desk.link.script("SELECT key, message_id FROM external_ids") == [("k1", None)]
    assert desk.run(lambda tx: tx.messages.find("discord", ["k1"])) is None


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
def test_the_tables_forbid(desk: Desk, change: str) -> None:
    # K-001, K-002
    stored = desk.run(add(prompt(), prompt()))
    with pytest.raises(StoreConflict):
        desk.link.script(change)
    assert ids(desk.run(lambda tx: tx.messages.session("s1"))) == ids(stored)


def test_the_length_of_a_queue_follows_every_change(desk: Desk) -> None:
    def lengths() -> list[tuple[str, int]]:
        return desk.link.script("SELECT chatbot_id, length FROM queues ORDER BY chatbot_id")

    one, two, three = desk.run(add(prompt(), prompt(), prompt(at=ELSEWHERE)))
    desk.run(add(said(make.notice("n"))))
    assert lengths() == [("discord", 2), ("wechat", 1)]
    desk.run(move(one, S.PROCESSING, S.PENDING_AGENT))
    desk.run(move(three, S.INTERRUPTED, S.PENDING_AGENT))
    assert lengths() == [("discord", 1), ("wechat", 0)]
    desk.run(move(one, S.PENDING_AGENT, S.PROCESSING))
    desk.run(add(prompt(), two.beside(two.message)))
    assert lengths() == [("discord", 3), ("wechat", 0)]
    desk.link.script(f"DELETE FROM messages WHERE id IN ('{two.id}', '{three.id}')")
    assert lengths() == [("discord", 2), ("wechat", 0)]
