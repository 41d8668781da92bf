"""Several processes on one file, and processes that die in the middle."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from kesoku.messages.lifecycle import Change
from kesoku.ports import Transaction
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt
from kesoku.testing.sync_store import SyncStore
from kesoku.testing.waiting import PATIENCE

from ..forkserver import ForkedPopen, ForkServer  # noqa: TID252

KILLS = 7
WRITER = str(Path(__file__).with_name("writer.py"))
Writers = Callable[..., AbstractContextManager["subprocess.Popen[str]"]]


@pytest.fixture
def writer(forkserver: ForkServer) -> Writers:
    """A process that writes, tells on a pipe what was acknowledged, and is gone at the end."""

    @contextmanager
    def writer(path: Path, *, seconds: float, callers: int) -> Iterator["subprocess.Popen[str]"]:
        process = ForkedPopen(
            forkserver,
            [WRITER, str(path), str(seconds), str(callers)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=2,
            text=True,
            cwd=path.parent,
            env=os.environ,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()

    return writer


def told(process: subprocess.Popen[str], most: int = sys.maxsize) -> list[str]:
    """What the process has acknowledged: everything until its end, or the next `most`. A line cut by a kill is none."""
    assert process.stdout
    lines = [line for _, line in zip(range(most), process.stdout, strict=False)]
    said = [json.loads(line) for line in lines if line.endswith("\n")]
    return [each for each in said if each != "ready"]


def check(path: Path, acknowledged: list[str], *, more: bool) -> int:
    """The file is sound, numbered densely, and holds what was acknowledged (and nothing else, unless `more`)."""
    sync_store = SyncStore(path, patience=5)
    assert sync_store.link.script("PRAGMA integrity_check") == [("ok",)]
    stored = sync_store.link.script("SELECT id, session_n FROM messages ORDER BY seq")
    events = sync_store.link.script("SELECT message_id FROM events ORDER BY seq")
    sync_store.close()
    assert [n for _, n in stored] == list(range(1, len(stored) + 1))
    assert [(each,) for each, _ in stored] == events
    assert len(acknowledged) == len(set(acknowledged))
    assert set(acknowledged) <= {each for each, _ in stored}
    assert more or len(acknowledged) == len(stored)
    return len(stored)


@pytest.mark.slow
def test_several_processes_write_one_file(writer: Writers, tmp_path: Path) -> None:
    path, several = tmp_path / "kesoku.db", (1, 1, 8, 8)
    SyncStore(path).close()
    acknowledged = [list[str]() for _ in several]
    for seconds in (1, 3, 9):  # a busy machine needs longer until there is enough to judge
        with ExitStack() as stack:
            writers = [stack.enter_context(writer(path, seconds=seconds, callers=callers)) for callers in several]
            for kept, process in zip(acknowledged, writers, strict=True):
                kept += told(process)
            assert [process.wait() for process in writers] == [0] * len(several)
        shares = [len(each) for each in acknowledged]
        if is_fair := min(shares) > 10 and all(max(two) < 3 * min(two) for two in (shares[:2], shares[2:])):
            break
    assert is_fair, shares
    check(path, [each for one in acknowledged for each in one], more=False)


@pytest.mark.slow
def test_nothing_acknowledged_dies_with_its_process(writer: Writers, tmp_path: Path) -> None:
    path, chance = tmp_path / "kesoku.db", random.Random(1)
    acknowledged, stored = list[str](), 0
    for kill in range(KILLS):
        with writer(path, seconds=60, callers=(1, 8, 64)[kill % 3]) as process:
            acknowledged += told(process, chance.randrange(2, 150))
            time.sleep(chance.random() * 0.02)  # to die anywhere between two commits
            process.kill()
            acknowledged += told(process)
        stored = check(path, acknowledged, more=True)
    assert len(acknowledged) > 10 * KILLS
    assert stored > len(acknowledged), "nobody died between a commit and its acknowledgement"


@pytest.mark.slow
async def test_a_paused_subscriber_misses_nothing_from_another_process(writer: Writers, tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        woken, seen = asyncio.Event(), list[Change]()
        undo = store.on_commit(woken.set)

        def news(tx: Transaction) -> list[Change]:
            return tx.events.after(seen[-1].seq if seen else 0, 50)

        async def follow(until: int) -> None:
            while len(seen) < until:
                await asyncio.wait_for(woken.wait(), PATIENCE)
                woken.clear()
                while changes := await store.read(news):
                    seen.extend(changes)

        with writer(path, seconds=0.5, callers=4) as process:
            await follow(5)
            acknowledged = await asyncio.to_thread(told, process)  # does not read the log meanwhile
        await store.write(add(prompt()))
        await follow(len(acknowledged) + 1)
        undo()
    assert {change.record.id for change in seen} >= set(acknowledged)
    assert len({change.seq for change in seen}) == len(seen) == len(acknowledged) + 1


async def test_a_commit_elsewhere_wakes_this_process(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as here, await SqlStore.open(path) as elsewhere:
        woken = asyncio.Event()
        undo = here.on_commit(woken.set)
        await asyncio.wait_for(woken.wait(), PATIENCE)  # the wake-up that comes with every subscription
        for _ in range(3):
            woken.clear()
            await elsewhere.write(add(prompt()))
            await asyncio.wait_for(woken.wait(), PATIENCE)
        undo()
        again = here.on_commit(woken.set)
        woken.clear()
        await elsewhere.write(add(prompt()))
        await asyncio.wait_for(woken.wait(), PATIENCE)
        again()


async def test_a_callback_that_raises_hurts_no_other(tmp_path: Path) -> None:
    complaints = list[dict[str, object]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def broken() -> None:
        raise RuntimeError("mine")

    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        woken = asyncio.Event()
        undo = [store.on_commit(broken), store.on_commit(woken.set)]
        await store.write(add(prompt()))
        await asyncio.wait_for(woken.wait(), PATIENCE)
        for each in undo:
            each()
    assert {str(each["exception"]) for each in complaints} == {"mine"}


def test_a_loop_that_ends_too_early_leaves_no_mess(tmp_path: Path) -> None:
    async def careless() -> None:
        store = await SqlStore.open(tmp_path / "kesoku.db")
        store.on_commit(lambda: None)
        for _ in range(20):
            asyncio.ensure_future(store.write(add(prompt())))  # noqa: RUF006
        await asyncio.sleep(0)

    asyncio.run(careless())
    sync_store = SyncStore(tmp_path / "kesoku.db", patience=5)
    assert sync_store.link.script("PRAGMA integrity_check") == [("ok",)]
    sync_store.close()
