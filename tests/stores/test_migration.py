"""A file of an older version, with a conversation in it, comes up to the current one and loses nothing."""

import asyncio
import sqlite3
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kesoku.messages.lifecycle import Expense
from kesoku.messages.turn import Usage
from kesoku.store import SqlStore
from kesoku.store.migrations import APPLICATION_ID, MIGRATIONS
from kesoku.testing.sync_store import SyncStore

OLD = {n: Path(__file__).with_name(f"version_{n}.sql").read_text(encoding="utf-8") for n in (1, 2, 3)}
"""What `sqlite3.Connection.iterdump` gave of a file of each version: a turn was answered, a prompt waits."""
HALF = textwrap.dedent(
    """
    import sys
    from kesoku.store import migrations

    def stopped(link):
        migrations.MIGRATIONS[-1](link)
        print("half", flush=True)
        sys.stdin.read()

    from pathlib import Path
    from kesoku.store.engine import Database
    database = Database(Path(sys.argv[1]), module=__import__("sqlite3"), patience=1)
    steps = (*migrations.MIGRATIONS[:-1], stopped)
    migrations.prepare(database, database.link(readonly=False), database.write_lock(), steps)
    """
)


def raw(path: Path, work: Callable[[sqlite3.Connection], Any]) -> Any:
    link = sqlite3.connect(path)
    try:
        return work(link)
    finally:
        link.close()


def rows(link: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    names = [name for (name,) in link.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: link.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def version_of(link: sqlite3.Connection) -> int:
    return int(link.execute("PRAGMA user_version").fetchone()[0])


def shape(link: sqlite3.Connection) -> dict[str, Any]:
    """Columns, indexes and triggers, however they came to be."""
    tables = link.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    found = {name: link.execute(f"PRAGMA table_xinfo({name})").fetchall() for (name,) in tables}
    others = link.execute("SELECT name, sql FROM sqlite_schema WHERE type <> 'table'").fetchall()
    return found | {name: " ".join((sql or "").split()) for name, sql in others}


@pytest.fixture(params=sorted(OLD))
def old(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path, version = tmp_path / "kesoku.db", request.param

    def make(link: sqlite3.Connection) -> None:
        link.executescript(f"{OLD[version]} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};")

    raw(path, make)
    return path


async def test_nothing_is_lost(old: Path, tmp_path: Path) -> None:
    raw(old, lambda link: link.executescript("UPDATE leases SET failures = 2"))
    charged = 0 if raw(old, version_of) == 3 else 2  # version 3 counts the crashes of turns
    before = raw(old, rows)
    (prompt,) = {turn for turn, *_ in before["turns"]}
    async with await SqlStore.open(old) as store:
        assert await store.check() == []
        assert [step.usage.prompt for step in await store.read(lambda tx: tx.steps.of(prompt))] == [100, 150]
        session = (await store.read(lambda tx: tx.messages.get(prompt))).session_id  # type: ignore[union-attr]
        kinds = [record.kind for record in await store.read(lambda tx: tx.messages.session(session))]
        assert kinds == ["user_prompt", "thought", "tool_call", "tool_result", "answer", "user_prompt"]
        used = Expense(usage=Usage(prompt=250, cached=40, thoughts=3, answer=15), cost=None)
        assert await store.read(lambda tx: tx.steps.expense(session)) == used
        assert await store.read(lambda tx: tx.steps.spent(0)) == 0
    after = raw(old, rows)
    steps = [(*step[:6], "", None) for step in before["steps"]]
    crashes = {"turns": [(*turn[:4], charged) for turn in before["turns"]]}
    assert {name: found for name, found in after.items() if found or name in before} == (
        before | crashes | {"steps": steps, "queues": [("discord", 1)]}
    )
    fresh = tmp_path / "fresh.db"
    await (await SqlStore.open(fresh)).aclose()
    assert raw(old, shape) == raw(fresh, shape)
    assert raw(old, version_of) == len(MIGRATIONS) + 1


async def test_a_migration_that_is_killed_leaves_the_old_version_whole(old: Path) -> None:
    before, version = raw(old, rows), raw(old, version_of)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HALF, str(old), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"half\n"
    process.kill()
    await process.wait()
    assert raw(old, rows) == before
    assert raw(old, version_of) == version
    async with await SqlStore.open(old) as store:
        assert await store.check() == []
    assert raw(old, version_of) == len(MIGRATIONS) + 1


async def test_several_open_an_old_file_at_once(old: Path) -> None:
    stores = await asyncio.gather(*(SqlStore.open(old) for _ in range(6)))
    assert await asyncio.gather(*(store.read(lambda tx: tx.steps.spent(0)) for store in stores)) == [0] * 6
    for store in stores:
        await store.aclose()


def test_what_was_spent_today_is_read_from_the_index_alone(sync_store: SyncStore) -> None:
    sync_store.link.begin()
    sync_store.link.script(
        "INSERT INTO steps (turn_id, n, request, reply, usage, at, cost)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        " SELECT 't' || i, 1, '{}', '{}', '{}', i, iif(i % 2, NULL, 7) FROM n"
    )
    sync_store.link.commit()
    assert sync_store.run(lambda tx: tx.steps.spent(0)) == 350_000
    plan = sync_store.link.script("EXPLAIN QUERY PLAN SELECT sum(cost) FROM steps WHERE at >= 9 AND cost IS NOT NULL")
    assert "COVERING INDEX steps_paid (at>?)" in str(plan)
