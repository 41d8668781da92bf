"""How operations share a commit, and what happens when one of them fails."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from kesoku.errors import StoreLocked
from kesoku.ports import Transaction
from kesoku.store import SqlStore, store
from kesoku.store.columns import METADATA
from kesoku.store.committer import CHECKPOINT_WEIGHT, GROUP_WEIGHT, Job
from kesoku.store.writer import GROUP_JOBS
from kesoku.testing.driver import SqliteFault, faulty_sqlite
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.store_material import add, prompt
from kesoku.testing.sync_store import SyncStore, job

LOG = CHECKPOINT_WEIGHT + 2 * GROUP_WEIGHT
"""Bytes that the log may have."""


class Refusal(Exception):
    pass


def refuse(tx: Transaction) -> NoReturn:
    tx.state.set("group", "refused", 1)
    raise Refusal


def counted(counter: list[str], name: str) -> Callable[[Transaction], str]:
    """An operation that tells how often it ran."""

    def operation(tx: Transaction) -> str:
        counter.append(name)
        tx.state.set("group", name, 1)
        return name

    return operation


def test_a_group_is_one_commit(tmp_path: Path) -> None:
    fault, ran = SqliteFault(begins="COMMIT", spared=10**6), list[str]()
    sync_store = SyncStore(tmp_path / "kesoku.db", module=faulty_sqlite(fault))
    before = fault.spared
    jobs = [job(counted(ran, str(n))) for n in range(64)]
    assert sync_store.committer.commit(jobs) == (64, True)
    assert before - fault.spared == 1
    assert [each.result for each in jobs] == ran == [str(n) for n in range(64)]
    sync_store.close()


def test_one_failure_makes_every_operation_run_alone(sync_store: SyncStore) -> None:
    ran = list[str]()
    jobs = [job(counted(ran, "a")), job(refuse), job(counted(ran, "b"))]
    assert sync_store.committer.commit(jobs) == (3, True)
    assert ran == ["a", "a", "b"]
    assert [type(each.error) for each in jobs] == [type(None), Refusal, type(None)]
    stored = [sync_store.run(lambda tx, key=key: tx.state.get("group", key)) for key in ("a", "b", "refused")]  # type: ignore[misc]
    assert stored == [1, 1, None]


def test_a_lone_failure_is_not_repeated(sync_store: SyncStore) -> None:
    ran = list[str]()

    def operation(tx: Transaction) -> NoReturn:
        ran.append("once")
        refuse(tx)

    lone = job(operation)
    assert sync_store.committer.commit([lone]) == (1, False)
    assert (ran, type(lone.error)) == (["once"], Refusal)


def test_what_changes_nothing_wakes_nobody(sync_store: SyncStore) -> None:
    (stored,) = sync_store.run(add(prompt(keys=("k",))))
    for nothing_new in (lambda tx: tx.events.head(), lambda tx: tx.messages.add_keys("discord", ["k"], stored.id)):
        assert sync_store.committer.commit([job(nothing_new)] * 3) == (3, False)


def test_a_heavy_group_is_cut(sync_store: SyncStore) -> None:
    sync_store.run(add())
    jobs = [job(add(prompt("x" * (GROUP_WEIGHT // 4)))) for _ in range(10)]
    assert sync_store.committer.commit(jobs) == (4, True)
    assert [bool(each.result) for each in jobs] == [True] * 4 + [False] * 6


def test_a_lock_that_cannot_be_had_is_waited_for_once(tmp_path: Path) -> None:
    fault = SqliteFault(code=5)
    sync_store = SyncStore(tmp_path / "kesoku.db", module=faulty_sqlite(fault))
    fault.begins = "BEGIN"
    jobs = [job(refuse) for _ in range(5)]
    assert sync_store.committer.commit(jobs) == (5, False)
    assert fault.hits == 1
    fault.spared = 2  # the group, then the first operation alone
    assert sync_store.committer.commit(jobs) == (5, False)
    assert fault.hits == 2
    assert [type(each.error) for each in jobs] == [Refusal] + [StoreLocked] * 4
    fault.begins = None
    sync_store.close()


def megabytes(sync_store: SyncStore, count: int) -> int:
    """Write so much; the size of the log afterwards."""
    for _ in range(count):
        sync_store.run(add(prompt("x" * 1_000_000)))
    return sync_store.path.with_name("kesoku.db-wal").stat().st_size


def test_the_log_is_folded_now_and_then(sync_store: SyncStore) -> None:
    # complaint 136
    assert megabytes(sync_store, 12) < LOG
    assert sync_store.path.stat().st_size > 6_000_000


def test_many_small_commits_are_folded_too(sync_store: SyncStore) -> None:
    folded = 0
    for _ in range(180):
        sync_store.run(add(prompt()))
        folded = max(folded, sync_store.path.stat().st_size)
    assert sync_store.path.with_name("kesoku.db-wal").stat().st_size < LOG
    assert folded > 2 * 4096 * len(METADATA.tables)


def test_several_connections_share_one_log(sync_store: SyncStore) -> None:
    others = [SyncStore(sync_store.path) for _ in range(4)]
    for _ in range(4):
        assert max(megabytes(other, 1) for other in others) < LOG
    for other in others:
        other.close()


@pytest.mark.no_cover
def test_a_reader_that_stays_stops_the_log_only_while_it_reads(
    sync_store: SyncStore, caplog: pytest.LogCaptureFixture
) -> None:
    reader = sync_store.database.link(readonly=True)
    reader.begin()
    reader.script("SELECT count(*) FROM events")
    long = megabytes(sync_store, 12)
    assert long > LOG
    reader.rollback()
    reader.close()
    assert megabytes(sync_store, 24) < long + LOG
    assert "grows" not in caplog.text


def test_the_log_is_folded_only_under_the_lock(sync_store: SyncStore, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(9):
        sync_store.committer.commit([job(add(prompt("x" * 1_000_000)))])
    before = sync_store.path.stat().st_size
    with sync_store.database.write_lock():
        sync_store.committer.checkpoint()
    assert sync_store.path.stat().st_size == before
    assert "was not moved into it" in caplog.text
    sync_store.run(add(prompt()))
    assert sync_store.path.stat().st_size > before


async def test_a_subscriber_that_sleeps_keeps_no_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as kept:
        bench = GatewayHarness(kept)
        async with bench.gateway.listen(lambda _: True) as news:
            await kept.write(add(prompt()))
            await anext(news)
            for _ in range(12):
                await kept.write(add(prompt("x" * 1_000_000)))
            assert path.with_name("kesoku.db-wal").stat().st_size < LOG
            assert [(await anext(news)).record.session_n for _ in range(12)] == list(range(2, 14))


@pytest.mark.no_cover
async def test_waiting_operations_are_grouped_and_admitted_in_turn(tmp_path: Path) -> None:
    sizes, most = list[int](), 0

    class Counted(SqlStore):
        def _settle(self, jobs: list[Job], wrote: bool) -> None:  # type: ignore[override]
            nonlocal most
            sizes.append(len(jobs))
            most = max(most, store.ADMITTED - self._admission._value)
            super()._settle(jobs, wrote)

    async with await Counted.open(tmp_path / "kesoku.db") as kept:
        await asyncio.gather(*(kept.write(add(prompt())) for _ in range(1000)))
    assert sum(sizes) == 1000
    assert max(sizes) == GROUP_JOBS
    assert most == store.ADMITTED


async def test_one_store_may_be_opened_twice_in_a_process(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as one, await SqlStore.open(path) as two:
        await asyncio.gather(*(each.write(add(prompt())) for each in (one, two) for _ in range(100)))
        assert len(await one.read(lambda tx: tx.messages.session("s1"))) == 200


async def test_closing_waits_for_what_was_put(tmp_path: Path) -> None:
    kept = await SqlStore.open(tmp_path / "kesoku.db")
    writing = [asyncio.ensure_future(kept.write(add(prompt()))) for _ in range(200)]
    await asyncio.sleep(0)
    await kept.aclose()
    assert len(await asyncio.gather(*writing)) == 200
    async with await SqlStore.open(tmp_path / "kesoku.db") as again:
        assert len(await again.read(lambda tx: tx.messages.session("s1"))) == 200


@pytest.mark.parametrize("count", [1, 300])
async def test_callers_that_give_up_leave_room_for_others(tmp_path: Path, count: int) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db") as kept:
        for _ in range(5):
            tasks = [asyncio.ensure_future(kept.write(add(prompt()))) for _ in range(count)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        await asyncio.gather(*(kept.write(lambda tx: tx.events.head()) for _ in range(300)))
        assert kept._admission._value == store.ADMITTED
        assert len(await kept.read(lambda tx: tx.messages.session("s1"))) <= 5 * count
