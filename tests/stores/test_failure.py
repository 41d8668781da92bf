"""Every failure of the database or the disk: one clear error, nothing acknowledged lost, and work goes on after it."""

import asyncio
import errno
import fcntl
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from kesoku import errors
from kesoku.errors import (
    NotStorable,
    StoreClosed,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFailed,
    StoreForeign,
    StoreFull,
    StoreLocked,
    StoreNewer,
    StoreOutdated,
    StoreReadOnly,
    StoreUnreachable,
)
from kesoku.store import SqlStore
from kesoku.store.failure import Failures
from kesoku.testing import disk
from kesoku.testing.driver import SqliteFault, failure, faulty_sqlite
from kesoku.testing.store_material import add, ids, prompt
from kesoku.testing.waiting import PATIENCE

PATH = Path("/somewhere/kesoku.db")
OF_SQLITE = {
    sqlite3.SQLITE_BUSY: StoreLocked,
    sqlite3.SQLITE_LOCKED: StoreLocked,
    sqlite3.SQLITE_PROTOCOL: StoreLocked,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_READONLY: StoreReadOnly,
    sqlite3.SQLITE_CORRUPT: StoreCorrupt,
    sqlite3.SQLITE_FORMAT: StoreCorrupt,
    sqlite3.SQLITE_NOTADB: StoreForeign,
    sqlite3.SQLITE_CANTOPEN: StoreUnreachable,
    sqlite3.SQLITE_PERM: StoreUnreachable,
    sqlite3.SQLITE_AUTH: StoreUnreachable,
    sqlite3.SQLITE_CONSTRAINT: StoreConflict,
}
OF_SYSTEM = {
    errno.ENOSPC: StoreFull,
    errno.EDQUOT: StoreFull,
    errno.EROFS: StoreReadOnly,
    errno.ENOENT: StoreUnreachable,
    errno.EACCES: StoreUnreachable,
    errno.EPERM: StoreUnreachable,
    errno.EISDIR: StoreUnreachable,
    errno.ENOTDIR: StoreUnreachable,
    errno.ELOOP: StoreUnreachable,
    errno.ENAMETOOLONG: StoreUnreachable,
}
RESULT_CODES = range(1, 29)
"""SQLite's primary result codes of failures and warnings."""


def mapped(error: Exception) -> StoreError:
    with pytest.raises(StoreError) as caught, Failures(PATH, module=sqlite3, patience=5):
        raise error
    return caught.value


def test_every_result_code_of_sqlite_becomes_an_error_that_names_the_file() -> None:
    seen: set[type] = set()
    for code in RESULT_CODES:
        for detail in (0, 1, 7, 40):
            error = mapped(failure(code | detail << 8))
            assert type(error) is OF_SQLITE.get(code, StoreFailed)
            assert str(PATH) in str(error)
            seen.add(type(error))
    others = {StoreNewer, StoreOutdated, StoreClosed, NotStorable, StoreError}
    assert seen | others == {e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, StoreError)}


def test_every_error_of_the_driver_and_the_system_is_mapped() -> None:
    kinds: list[type[Exception]] = [sqlite3.Error]
    kinds += [*sqlite3.Error.__subclasses__(), *sqlite3.DatabaseError.__subclasses__()]
    for kind in kinds:
        assert str(PATH) in str(mapped(kind("odd")))
    for number in errno.errorcode:
        assert type(mapped(OSError(number, "odd"))) is OF_SYSTEM.get(number, StoreFailed)


def test_what_is_not_the_databases_passes_through() -> None:
    for error in (ValueError("mine"), StoreClosed(path=PATH)):
        with pytest.raises(type(error)) as caught, Failures(PATH, module=sqlite3, patience=5):
            raise error
        assert caught.value is error


FAULTS = [sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT]


class Journal:
    """Writes and remembers what was acknowledged."""

    def __init__(self, store: SqlStore) -> None:
        self.store, self.acknowledged = store, list[str]()

    async def write(self, text: str = "hello") -> None:
        self.acknowledged += ids(await self.store.write(add(prompt(text))))

    async def fill(self, text: str) -> None:
        """Write until an error."""
        for _ in range(500):
            await self.write(text)

    async def intact(self) -> bool:
        """Whether exactly the acknowledged messages are there."""
        return ids(await self.store.read(lambda tx: tx.messages.session("s1"))) == self.acknowledged


@asynccontextmanager
async def journal(path: Path, **options: object) -> AsyncIterator[Journal]:
    async with await SqlStore.open(path, **options) as store:  # type: ignore[arg-type]
        journal = Journal(store)
        await journal.write()
        yield journal


@pytest.mark.parametrize("begins", ["BEGIN", "INSERT INTO messages", "INSERT INTO events", "COMMIT", "UPDATE sessions"])
@pytest.mark.parametrize("code", [*FAULTS, sqlite3.SQLITE_IOERR])
async def test_any_statement_may_fail(tmp_path: Path, begins: str, code: int) -> None:
    fault = SqliteFault(code=code)
    async with journal(tmp_path / "kesoku.db", module=faulty_sqlite(fault)) as kept:
        fault.begins = begins
        with pytest.raises(OF_SQLITE.get(code, StoreFailed)):
            await kept.write()
        fault.begins = None
        assert await kept.intact()
        await kept.write()
        assert await kept.intact()
    assert fault.hits
    async with await SqlStore.open(tmp_path / "kesoku.db") as again:
        kept.store = again
        assert await kept.intact()


async def test_a_log_that_cannot_be_folded_costs_no_commit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fault = SqliteFault(begins="PRAGMA wal_checkpoint(RESTART)", code=sqlite3.SQLITE_FULL)
    async with journal(tmp_path / "kesoku.db", module=faulty_sqlite(fault)) as kept:
        for _ in range(10):
            await kept.write("x" * 1_000_000)
        assert await kept.intact()
    assert fault.hits
    assert "was not moved into it" in caplog.text


async def test_a_full_database_takes_no_more_and_loses_nothing(tmp_path: Path) -> None:
    async with journal(tmp_path / "kesoku.db") as kept:
        link = kept.store._committer.link
        await kept.store.write(lambda _: link.script("PRAGMA max_page_count = 1"))  # as many as there are
        with pytest.raises(StoreFull, match="disk"):
            await kept.fill("x" * 5_000)
        assert await kept.intact()
        await kept.store.write(lambda _: link.script("PRAGMA max_page_count = 100000"))
        await kept.write("x" * 5_000)
        assert await kept.intact()


async def test_a_full_disk_loses_nothing_that_was_acknowledged(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_500_000)
    async with journal(small_disk / "kesoku.db") as kept:
        with pytest.raises(StoreFull):
            await kept.fill("x" * 20_000)
        assert len(kept.acknowledged) > 5
        assert await kept.intact()
        with pytest.raises(StoreFull):
            await kept.write("x" * 20_000)
        ballast.unlink()
        await kept.write("x" * 20_000)
        assert await kept.intact()
    async with await SqlStore.open(small_disk / "kesoku.db") as again:
        kept.store = again
        assert await kept.intact()
        assert again._committer.link.script("PRAGMA integrity_check") == [("ok",)]


async def test_a_disk_that_is_full_from_the_start_is_reported_and_works_later(small_disk: Path) -> None:
    ballast = disk.fill(small_disk)
    with pytest.raises(StoreFull):
        await SqlStore.open(small_disk / "kesoku.db")
    ballast.unlink()
    async with journal(small_disk / "kesoku.db") as kept:
        assert await kept.intact()


async def test_a_read_only_disk_is_reported(small_disk: Path, tmp_path: Path) -> None:
    async with journal(small_disk / "kesoku.db") as kept:
        pass
    with disk.read_only(small_disk, at=tmp_path / "frozen") as frozen, pytest.raises(StoreReadOnly):
        await SqlStore.open(frozen / "kesoku.db")
    async with await SqlStore.open(small_disk / "kesoku.db") as again:
        kept.store = again
        await kept.write()
        assert await kept.intact()


async def test_a_database_that_turns_read_only_can_be_written_again_later(tmp_path: Path) -> None:
    async with journal(tmp_path / "kesoku.db") as kept:
        link = kept.store._committer.link
        link.script("PRAGMA query_only = 1")
        with pytest.raises(StoreReadOnly):
            await kept.write()
        link.script("PRAGMA query_only = 0")
        await kept.write()
        assert await kept.intact()


async def test_a_database_that_another_program_holds_is_reported_as_locked(tmp_path: Path) -> None:
    # complaint 134
    async with journal(tmp_path / "kesoku.db", patience=0.2) as kept:
        other = sqlite3.connect(tmp_path / "kesoku.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        results = await asyncio.gather(*(kept.write() for _ in range(20)), return_exceptions=True)
        assert {type(each) for each in results} == {StoreLocked}
        assert await kept.intact()
        other.execute("ROLLBACK")
        await kept.write()
        assert await kept.intact()
        other.close()


async def test_a_turnstile_that_another_process_holds_is_reported_as_locked(tmp_path: Path) -> None:
    async with journal(tmp_path / "kesoku.db", patience=0.2) as kept:
        with (tmp_path / "kesoku.db.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for _ in range(2):
                with pytest.raises(StoreLocked) as caught:
                    await kept.write()
            assert (caught.value.seconds, caught.value.path) == (0.2, tmp_path / "kesoku.db")
            assert await kept.intact()
            fcntl.flock(lock, fcntl.LOCK_UN)
            # The wait that was given up must not keep the lock for itself.
            await asyncio.wait_for(asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX), PATIENCE)
        await kept.write()
        assert await kept.intact()


async def test_a_writer_waits_for_its_turn(tmp_path: Path) -> None:
    async with journal(tmp_path / "kesoku.db", patience=10) as kept:
        with (tmp_path / "kesoku.db.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            writing = asyncio.ensure_future(kept.write())
            await kept.store.read(lambda tx: tx.events.head())
            assert not writing.done()
        await asyncio.wait_for(writing, PATIENCE)
        assert await kept.intact()


async def test_a_damaged_file_is_reported_and_a_backup_works(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with journal(path) as kept:
        for _ in range(80):
            await kept.write("x" * 3_000)
    shutil.copy(path, tmp_path / "backup")
    damaged = bytearray(path.read_bytes())
    half = len(damaged) // 2
    damaged[half:] = b"\xa5" * (len(damaged) - half)
    path.write_bytes(damaged)
    async with await SqlStore.open(path) as broken:
        assert await broken.check()
        with pytest.raises(StoreCorrupt, match="backup"):
            await broken.read(lambda tx: tx.messages.session("s1"))
        with pytest.raises(StoreCorrupt):
            await broken.write(add(prompt()))
    shutil.copy(tmp_path / "backup", path)
    async with await SqlStore.open(path) as again:
        kept.store = again
        assert await kept.intact()
        assert await again.check() == []


@pytest.mark.parametrize(
    "make",
    [
        lambda root: root / "missing" / "kesoku.db",
        lambda root: root,
        lambda root: touched(root / "file") / "kesoku.db",
        lambda root: root / ("x" * 300),
        lambda root: linked(root / "loop"),
    ],
    ids=["no directory", "a directory", "below a file", "long name", "loop of links"],
)
async def test_a_place_where_no_database_can_be_is_named(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    with pytest.raises(StoreUnreachable) as caught:
        await SqlStore.open(path)
    assert str(path) in str(caught.value)
    assert "directory" in str(caught.value)


def touched(path: Path) -> Path:
    path.touch()
    return path


def linked(path: Path) -> Path:
    path.symlink_to(path)
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    with disk.small_disk(tmp_path / "disk", size="3m") as folder:
        yield folder


@pytest.mark.parametrize("table", ["messages", "events"])
async def test_numbers_that_are_used_up_are_damage_and_no_full_disk(tmp_path: Path, table: str) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        await store.write(add(prompt()))
        with closing(sqlite3.connect(store.path)) as raw, raw:
            raw.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (2**63 - 1, table))
        with pytest.raises(StoreCorrupt, match=f"the numbers of its {table} are used up"):
            await store.write(add(prompt()))
