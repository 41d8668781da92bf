"""How fast the store is on this machine: `python benchmarks/store.py`. Ratios count; absolute figures move with load.

The baseline of the first figure is plain sqlite3 that runs the same four statements of a post and commits each post.
"""

import asyncio
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kesoku.messages.lifecycle import Change, Serving
from kesoku.messages.record import Address, Post
from kesoku.ports import Transaction
from kesoku.store import SqlStore, event, message
from kesoku.store.engine import PRAGMAS
from kesoku.store.mapping import body_of, placement_of
from kesoku.testing.desk import Desk
from kesoku.testing.store_material import add, prompt

POSTS, CALLERS, ROUNDS = 6_000, 64, 5
SERVED = Serving(addresses=frozenset({Address(chatbot_id="b1", channel_id="*")}))
WRITER = """
import asyncio, sys, time
from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt

async def main(path):
    count, worst = 0, 0.0
    async with await SqlStore.open(path) as store:
        await store.write(add())
        print("ready", flush=True)
        end = float(input())
        while time.time() < end:
            before = time.perf_counter()
            await store.write(add(prompt()))
            worst, count = max(worst, time.perf_counter() - before), count + 1
    print(count, worst)

asyncio.run(main(sys.argv[1]))
"""


def report(what: str, measured: str, limit: str = "") -> None:
    """One line of the table."""
    print(f"{what:<52} {measured:>24}   {limit}")


def posts(count: int) -> list[Post]:
    """Prompts with a platform id each."""
    return [prompt("hello " * 10, keys=(f"{time.monotonic_ns()}-{n}",)) for n in range(count)]


async def grouped(path: Path, each: Sequence[Post]) -> float:
    """Posts a second of the store, with many callers."""
    async with await SqlStore.open(path) as store:
        await store.write(add())

        async def caller(mine: Sequence[Post]) -> None:
            for post in mine:
                await store.write(lambda tx: tx.messages.insert(post, session_id="s1", at=1))  # noqa: B023

        began = time.perf_counter()
        await asyncio.gather(*(caller(each[n::CALLERS]) for n in range(CALLERS)))
        return len(each) / (time.perf_counter() - began)


def plain(path: Path, each: Sequence[Post]) -> float:
    """Posts a second of sqlite3 alone, one commit a post, everything prepared before the clock starts."""
    desk = Desk(path)
    desk.run(add())
    desk.close()
    rows = [placement_of(p, session_id="s1", at=1, superseded_turn=None) | body_of(p.message) for p in each]
    raw = sqlite3.connect(path, isolation_level=None)
    for pragma in PRAGMAS:
        raw.execute(f"PRAGMA {pragma}")
    raw.execute("PRAGMA wal_autocheckpoint = 1000")
    began = time.perf_counter()
    for row, post in zip(rows, each, strict=True):
        raw.execute("BEGIN IMMEDIATE")
        seq, n = raw.execute(message.INSERT.sql, row | message.INSERT.defaults).fetchone()
        raw.execute(message.COUNT.sql, {"session": "s1", "last_n": n, "last_seq": seq})
        raw.execute(message.BIND_KEY.sql, {"chatbot_id": "discord", "key": post.keys[0], "message_id": row["id"]})
        noted = {"at": 1, "message_id": row["id"], "kind": "inserted", "before": None, "after": "pending_agent"}
        raw.execute(event.WRITE.sql, noted | {"actor": "", "reason": ""})
        raw.execute("COMMIT")
    rate = len(each) / (time.perf_counter() - began)
    raw.close()
    return rate


def throughput(room: Path) -> None:
    """Group commit against one commit a row, in turn."""
    ours, theirs = [], []
    for number in range(ROUNDS):
        ours.append(asyncio.run(grouped(room / f"grouped{number}.db", posts(POSTS))))
        theirs.append(plain(room / f"plain{number}.db", posts(POSTS // 3)))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    report(f"posts/s, {CALLERS} callers, synchronous FULL", f"{statistics.median(ours):,.0f}", ">= 8,000")
    report("posts/s, sqlite3 alone, one commit a post", f"{statistics.median(theirs):,.0f}")
    report("ratio of the two, median of the rounds", f"{ratio:.2f}", ">= 1.5")


async def lag(path: Path) -> float:
    """The longest time that the loop stood still while 5,000 posts came at once, in ms."""
    worst, running = 0.0, True

    async def watch() -> None:
        nonlocal worst
        while running:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            worst = max(worst, time.perf_counter() - before - 0.001)

    async with await SqlStore.open(path) as store:
        await store.write(add())
        each = [add(post) for post in posts(5_000)]
        writing = [asyncio.ensure_future(store.write(operation)) for operation in each]
        await asyncio.sleep(0)
        watching = asyncio.ensure_future(watch())
        await asyncio.gather(*writing)
        running = False
        await watching
    return worst * 1000


async def followed(path: Path, rate: int, seconds: float) -> list[float]:
    """Milliseconds from each post to a subscriber that reads by cursor, sorted."""
    sent, seen, cursor = dict[str, float](), dict[str, float](), 0
    async with await SqlStore.open(path) as store:
        await store.write(add())
        woken = asyncio.Event()
        undo = store.on_commit(woken.set)
        total = int(rate * seconds)

        def news(tx: Transaction) -> list[Change]:
            return tx.events.after(cursor, 500)

        async def follow() -> None:
            nonlocal cursor
            while len(seen) < total:
                await woken.wait()
                woken.clear()
                changes = await store.read(news)
                for change in changes:
                    seen[change.record.id], cursor = time.perf_counter(), change.seq

        async def send(post: Post) -> None:
            sent[post.message.id] = time.perf_counter()
            await store.write(add(post))

        following = asyncio.ensure_future(follow())
        began, sending = time.perf_counter(), []
        for number, post in enumerate(posts(total)):
            await asyncio.sleep(max(0, began + number / rate - time.perf_counter()))
            sending.append(asyncio.ensure_future(send(post)))
        await asyncio.gather(*sending, following)
        undo()
    return sorted((seen[each] - sent[each]) * 1000 for each in sent)


def median_us(desk: Desk, operation: Callable[[Transaction], object], times: int = 300) -> float:
    """Microseconds of an operation on a snapshot, the median."""
    spent = []
    for _ in range(times):
        before = time.perf_counter()
        desk.run(operation)
        spent.append(time.perf_counter() - before)
    return statistics.median(spent) * 1e6


def growth(room: Path) -> None:
    """Tail and claim in small and large databases."""
    figures: dict[str, list[float]] = {"tail of 50": [], "next prompt to claim": [], "50 events by cursor": []}
    for rows in (1_000, 100_000):
        desk = Desk(room / f"rows{rows}.db")
        desk.fill(rows)
        figures["tail of 50"].append(median_us(desk, lambda tx: tx.messages.tail("s1", 50)))
        figures["next prompt to claim"].append(median_us(desk, lambda tx: tx.leases.next(SERVED)))
        figures["50 events by cursor"].append(median_us(desk, lambda tx: tx.events.after(rows // 2, 50)))  # noqa: B023
        desk.close()
    for what, (small, large) in figures.items():
        report(f"{what}, 1,000 / 100,000 rows, us", f"{small:,.0f} / {large:,.0f}", "<= twice")


def processes(room: Path, count: int) -> None:
    """Several processes that write one file, each post for itself."""
    command = [sys.executable, "-c", WRITER, str(room / f"processes{count}.db")]
    pipe = subprocess.PIPE
    running = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(count)]
    for each in running:
        assert each.stdout
        each.stdout.readline()
    end = f"{time.time() + 2}\n"
    for each in running:
        assert each.stdin
        each.stdin.write(end)
        each.stdin.flush()
    told = [each.communicate()[0].split() for each in running]
    total, worst = sum(int(done) for done, _ in told), max(float(wait) for _, wait in told)
    report(
        f"{count} processes: posts/s in all, longest wait in ms", f"{total / 2:,.0f} / {worst * 1000:,.0f}", "<= 300 ms"
    )


def starting(room: Path) -> None:
    """Import and open."""
    code = "import time; t = time.perf_counter(); import kesoku.store; print(time.perf_counter() - t)"
    imports = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]

    async def opened(path: Path) -> float:
        before = time.perf_counter()
        store = await SqlStore.open(path)
        spent = time.perf_counter() - before
        await store.aclose()
        return spent * 1000

    new, old = [asyncio.run(opened(room / "open.db")) for _ in range(2)]
    report("import kesoku.store, ms", f"{min(imports) * 1000:.0f}")
    report("open a new / an existing file, ms", f"{new:.0f} / {old:.0f}", "<= 60")


def main() -> None:
    """Measure everything in a temporary directory, below a minute."""
    report("what", "measured", "limit")
    with tempfile.TemporaryDirectory(prefix="kesoku-store-") as name:
        room = Path(name)
        starting(room)
        throughput(room)
        report("loop lag while 5,000 posts come at once, ms", f"{asyncio.run(lag(room / 'lag.db')):.0f}", "<= 30")
        waits = asyncio.run(followed(room / "follow.db", 1000, 3))
        middle, high = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
        report("post to subscriber at 1,000/s, p50 / p99 ms", f"{middle:.2f} / {high:.2f}", "<= 1 / 3")
        growth(room)
        for count in (2, 4):
            processes(room, count)
        report("load average", f"{os.getloadavg()[0]:.1f}", "idle: < 1")


if __name__ == "__main__":
    main()
