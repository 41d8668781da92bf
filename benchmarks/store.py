"""How much the database takes: posts a second, and whether anything slows down as it grows.

The baseline of the first figure is plain sqlite3 that runs the same four statements of a post and commits each post.
"""

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from figure import Figure, Physical, amount, at_least, at_most

from kesoku.gateway import FloodBounds
from kesoku.gateway.admission import refusal
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address, Post
from kesoku.ports import Transaction
from kesoku.store import SqlStore, event, message
from kesoku.store.engine import PRAGMAS
from kesoku.store.mapping import body_of, placement_of
from kesoku.testing.store_material import add, prompt
from kesoku.testing.sync_store import SyncStore

CALLERS = 64
SMALL = 1_000
BOT = Serving(addresses=frozenset({Address(chatbot_id="b1", channel_id="*")}))
Operation = Callable[[Transaction], object]
GROWING: dict[str, tuple[str, Operation]] = {
    "the last 50 messages": (
        "Opening an old conversation is as fast as a new one.",
        lambda tx: tx.messages.tail("s1", 50),
    ),
    "the next prompt to claim": (
        "A bot with a long past answers as soon as a new one.",
        lambda tx: tx.leases.next(BOT),
    ),
    "50 events by cursor": (
        "Adapters and hooks follow a large database as easily.",
        lambda tx: tx.events.after(500, 50),
    ),
}
QUEUE = """
INSERT INTO sessions SELECT 'q' || i, 'o', '', 0, NULL, {each}, 0 FROM n WHERE i <= {sessions};
INSERT INTO messages (id, session_id, session_n, round, chatbot_id, channel_id, kind, role, type, status, mode, author,
 author_id, source, source_kind, content, version, created_at, accepted_at) SELECT 'q' || i,
 'q' || (1 + (i - 1) / {each}), 1 + (i - 1) % {each}, 0, 'b1', 'c' || ((i - 1) / {each}), 'user_prompt', 'user',
 'text', 'pending_agent', 'followup', 'Chii', 'u', '{{"kind":"user"}}', 'user', '{{"text":"hello"}}', 1, i, i FROM n;
INSERT INTO leases SELECT 'q' || i, NULL, 'somebody', 1, 0, 0, 9 FROM n WHERE i <= {busy}
"""


def measure(room: Path) -> Iterator[Figure]:
    """Group commit against one commit a row; admission, claim, tail and cursor in small and large databases."""
    yield from throughput(room)
    yield from admission(room)
    yield from growth(room)
    yield from claims(room)


def throughput(room: Path) -> Iterator[Figure]:
    """Durable posts a second, and those of sqlite3 alone in the same minute."""
    ours, theirs, count = list[float](), list[float](), amount(6_000, 300)
    for number in range(amount(5, 1)):
        ours.append(asyncio.run(_grouped(room / f"grouped{number}.db", _posts(count))))
        theirs.append(_plain(room / f"plain{number}.db", _posts(count // 3)))
    yield Figure(
        name=f"durable posts, {CALLERS} callers, synchronous FULL",
        samples=tuple(ours),
        unit="posts/s",
        limit=at_least(8_000),
        physical=Physical(name="sqlite3 alone, one commit a post", value=statistics.median(theirs)),
        meaning="How many messages a second survive a power cut from the moment they are acknowledged.",
        obstacle="The processor: some 60 posts share an fsync, so what counts is how fast Python runs the SQL of each.",
    )
    yield Figure(
        name="the same against sqlite3 alone",
        samples=tuple(a / b for a, b in zip(ours, theirs, strict=True)),
        unit="x",
        limit=at_least(1.5),
        meaning="What sharing one fsync among many callers gains on this disk.",
    )


def admission(room: Path) -> Iterator[Figure]:
    """Whether a prompt is taken in, with nothing and with much in the queue."""
    spent = dict[int, float]()
    waiting = (0, amount(10_000, 400), amount(100_000, 2_000))
    for count in waiting:
        with_queue = _queue(room / f"queue{count}.db", sessions=max(1, count // 10), each=10, busy=0) if count else None
        sync_store = with_queue or SyncStore(room / "queue0.db")
        post, bounds = prompt(at=Address(chatbot_id="b1", channel_id="c1")), FloodBounds(queued_total=10**9)
        spent[count] = _cpu(sync_store, lambda tx: refusal(tx, post, bounds, at=10**9, catch_up=False))  # noqa: B023
        sync_store.close()
    for count in waiting[1:]:
        yield Figure(
            name=f"admission of a prompt, {count:,} waiting against none",
            samples=(spent[count] / spent[0],),
            unit="x",
            limit=at_most(1.5),
            meaning="A crowd does not make it slower to take in the next message.",
        )


def growth(room: Path) -> Iterator[Figure]:
    """What is read most, in a small and in a large database."""
    large = amount(1_000_000, 20_000)
    sync_stores = {rows: SyncStore(room / f"rows{rows}.db") for rows in (SMALL, large)}
    for rows, sync_store in sync_stores.items():
        sync_store.fill(rows)
    for what, (meaning, operation) in GROWING.items():
        few, many = (_cpu(sync_stores[rows], operation) for rows in (SMALL, large))
        yield Figure(
            name=f"{what}, {large:,} rows against {SMALL:,}",
            samples=(many / few,),
            unit="x",
            limit=at_most(2),
            meaning=meaning,
        )
    for sync_store in sync_stores.values():
        sync_store.close()


def claims(room: Path) -> Iterator[Figure]:
    """The next prompt behind sessions that are busy."""
    scale = amount(1, 50)
    for what, sessions, each, busy in (
        ("20,000 prompts behind one busy session", 1, 20_000 // scale, 1),
        ("100,000 prompts of 10,000 sessions, the oldest 128 busy", 10_000 // scale, 10, 128 // scale),
        ("100,000 prompts of 1,000 busy sessions", 1_000 // scale, 100, 1_000 // scale),
    ):
        sync_store = _queue(room / f"busy{sessions}.db", sessions=sessions, each=each, busy=busy)
        yield Figure(
            name=f"claim, {what}",
            samples=(_cpu(sync_store, lambda tx: tx.leases.next(BOT)) / 1000,),
            unit="ms",
            limit=at_most(8),
            meaning="One that talks without a pause does not hold up the others.",
            obstacle="The search looks at one prompt of each session until one is free: it grows with the busy ones.",
        )
        sync_store.close()


def _posts(count: int) -> list[Post]:
    """Prompts with a platform id each."""
    return [prompt("hello " * 10, keys=(f"{time.monotonic_ns()}-{n}",)) for n in range(count)]


async def _grouped(path: Path, posts: Sequence[Post]) -> float:
    """Posts a second of the store, with many callers."""
    async with await SqlStore.open(path) as store:
        await store.write(add(prompt()))

        async def caller(mine: Sequence[Post]) -> None:
            for post in mine:
                await store.write(lambda tx: tx.messages.insert(post, session_id="s1", at=1))  # noqa: B023

        began = time.perf_counter()
        await asyncio.gather(*(caller(posts[n::CALLERS]) for n in range(CALLERS)))
        return len(posts) / (time.perf_counter() - began)


def _plain(path: Path, posts: Sequence[Post]) -> float:
    """Posts a second of sqlite3 alone, one commit a post, everything prepared before the clock starts."""
    sync_store = SyncStore(path)
    sync_store.run(add())
    sync_store.close()
    rows = [placement_of(p, session_id="s1", at=1, superseded_turn=None) | body_of(p.message) for p in posts]
    raw = sqlite3.connect(path, isolation_level=None)
    for pragma in PRAGMAS:
        raw.execute(f"PRAGMA {pragma}")
    raw.execute("PRAGMA wal_autocheckpoint = 1000")
    began = time.perf_counter()
    for row, post in zip(rows, posts, strict=True):
        raw.execute("BEGIN IMMEDIATE")
        seq, n = raw.execute(message.INSERT.sql, row | message.INSERT.defaults).fetchone()
        raw.execute(message.COUNT.sql, {"session": "s1", "last_n": n, "last_seq": seq})
        raw.execute(message.BIND_KEY.sql, {"chatbot_id": "discord", "key": post.keys[0], "message_id": row["id"]})
        noted = {"at": 1, "message_id": row["id"], "kind": "inserted", "before": None, "after": "pending_agent"}
        raw.execute(event.WRITE.sql, noted | {"actor": "", "reason": ""})
        raw.execute("COMMIT")
    rate = len(posts) / (time.perf_counter() - began)
    raw.close()
    return rate


def _queue(path: Path, *, sessions: int, each: int, busy: int) -> SyncStore:
    """A database in which every session has so many prompts, and the oldest sessions run."""
    sync_store = SyncStore(path)
    sync_store.link.begin()
    sync_store.link.script(
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS"
        f" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {sessions * each}) SELECT i FROM n"
    )
    for sql in QUEUE.format(sessions=sessions, each=each, busy=busy).split(";"):
        sync_store.link.script(sql)
    sync_store.link.commit()
    return sync_store


def _cpu(sync_store: SyncStore, operation: Operation) -> float:
    """Microseconds of this thread for an operation, the median."""
    spent = []
    for _ in range(amount(300, 20)):
        before = time.thread_time()
        sync_store.run(operation)
        spent.append(time.thread_time() - before)
    return statistics.median(spent) * 1e6
