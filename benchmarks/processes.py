"""Several processes on one file, for a minute: nobody starves, the log stays short, the file stays sound.

Half of the processes post one message after the other, half with eight callers. Meanwhile a reader keeps a snapshot
for a second at a time, as a backup would.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from figure import Figure, amount, at_least, at_most

from kesoku.testing.sync_store import SyncStore

COUNT = 8
CALLERS = (1, 8)
WRITER = """
import asyncio, json, sys, time
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt

async def main(path, callers):
    waits = []

    async def caller(end):
        while time.time() < end:
            before = time.perf_counter()
            await store.write(add(prompt()))
            waits.append((time.perf_counter() - before) * 1000)

    async with await SqlStore.open(path) as store:
        await store.write(add(prompt()))
        print("ready", flush=True)
        end = float(await asyncio.to_thread(input))
        await asyncio.gather(*(caller(end) for _ in range(callers)))
    print(json.dumps([len(waits), max(waits)]))

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def measure(room: Path) -> Iterator[Figure]:
    """Waits, shares, the length of the log, and what SQLite says about the file afterwards."""
    path, seconds = room / "kesoku.db", amount(60, 2)
    SyncStore(path).close()
    pipe = subprocess.PIPE
    commands = [[sys.executable, "-c", WRITER, str(path), str(CALLERS[n % 2])] for n in range(COUNT)]
    writers = [subprocess.Popen(each, stdin=pipe, stdout=pipe, text=True) for each in commands]
    try:
        longest = _run(writers, path, seconds)
        told = [json.loads(writer.communicate()[0]) for writer in writers]
    finally:
        for writer in writers:
            writer.kill()
    counts, waits = zip(*told, strict=True)
    several = f"{COUNT} processes for {seconds} s"
    yield Figure(
        name=f"{several}: posts in all",
        samples=(sum(counts) / seconds,),
        unit="posts/s",
        meaning="What a service, its chats and its commands may write together.",
    )
    yield Figure(
        name=f"{several}: the longest write",
        samples=(max(waits),),
        unit="ms",
        limit=at_most(250),
        meaning="A command that writes while the bot is busy does not hang.",
    )
    yield Figure(
        name=f"{several}: the smallest share of equals",
        samples=(min(min(counts[n :: len(CALLERS)]) / max(counts[n :: len(CALLERS)]) for n in range(len(CALLERS))),),
        unit="x",
        limit=at_least(0.5),
        meaning="No process is starved by the others.",
    )
    yield Figure(
        name=f"{several}: the write-ahead log at its longest",
        samples=(longest / 1e6,),
        unit="MB",
        limit=at_most(128),
        meaning="What the database takes on the disk beside its file.",
    )
    yield Figure(
        name=f"{several}: faults that integrity_check finds",
        samples=(float(_faults(path)),),
        unit="faults",
        limit=at_most(0),
        meaning="The file is sound afterwards.",
    )


def _run(writers: list[subprocess.Popen[str]], path: Path, seconds: float) -> int:
    """Let all begin at once; the greatest size of the log in bytes."""
    for writer in writers:
        assert writer.stdout
        writer.stdout.readline()
    end, longest, log = time.time() + seconds, 0, path.with_name(f"{path.name}-wal")
    for writer in writers:
        assert writer.stdin
        writer.stdin.write(f"{end}\n")
        writer.stdin.flush()
    sync_store = SyncStore(path)
    reader = sync_store.database.link(readonly=True)
    while time.time() < end:
        reader.begin()
        reader.script("SELECT count(*) FROM events")
        time.sleep(1)
        reader.rollback()
        longest = max(longest, log.stat().st_size)
        time.sleep(0.2)
    reader.close()
    sync_store.close()
    return longest


def _faults(path: Path) -> int:
    sync_store = SyncStore(path, patience=5)
    found = [text for (text,) in sync_store.link.script("PRAGMA integrity_check") if text != "ok"]
    sync_store.close()
    return len(found)
