"""No statement reads a whole table: each finds its rows by an index, however many there are, by a plan made once."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import select

from kesoku.messages.lifecycle import DeliveryState, Serving
from kesoku.messages.record import Address
from kesoku.ports import Transaction
from kesoku.store import archive, branch, delivery, event, hook, lease, mail, message, question, session, state, step
from kesoku.store.columns import METADATA
from kesoku.store.serving import Served
from kesoku.store.statement import Statement
from kesoku.store.tables import OPEN_STATES, messages
from kesoku.testing.store_material import add, prompt
from kesoku.testing.sync_store import SyncStore

ROWS = 50_000
MODULES = (archive, branch, delivery, event, hook, lease, mail, message, question, session, state, step)
HOT = {
    "message.INSERT",
    "event.WRITE",
    "message.MOVE",
    "lease.NEAR.of_bot",
    "lease.NEAR.in_channel",
    "lease.TAKE",
    "lease.RENEW",
    "lease.WORST",
    "message.TAIL",
    "event.AFTER",
    "delivery.STORE",
}
SEARCHES = {"archive.NAMING", "archive.LETTERS", "archive.HOLDING"}
LISTS = {"session.RECENT", "session.CHANNELS", "mail.MAILBOXES", "mail.NAMES", "mail.DEAD"}
SCANS = (SEARCHES | LISTS) | {
    f"delivery.BY_STATE.{each}.{form}"
    for each in set(DeliveryState) - set(OPEN_STATES)
    for form in ("of_bot", "in_channel")
}
"""Statements that may read everything: lists of sessions, mailboxes, names and dead letters, the search for copies, and
states that nobody waits for."""


def found(name: str, value: object) -> Iterator[tuple[str, Statement]]:
    if isinstance(value, Statement):
        yield name, value
    elif isinstance(value, Served):
        yield f"{name}.of_bot", value.of_bot
        yield f"{name}.in_channel", value.in_channel
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from found(f"{name}.{key}", each)


def statements(module: ModuleType) -> Iterator[tuple[str, Statement]]:
    for name, value in vars(module).items():
        if name.isupper():
            yield from found(f"{module.__name__.rpartition('.')[2]}.{name}", value)


ALL = {name: each for module in MODULES for name, each in statements(module)}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncStore]:
    """A database with many rows."""
    sync_store = SyncStore(tmp_path_factory.mktemp("plans") / "kesoku.db")
    sync_store.fill(ROWS)
    yield sync_store
    sync_store.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncStore]:
    """A database without rows."""
    sync_store = SyncStore(tmp_path_factory.mktemp("plans") / "kesoku.db")
    yield sync_store
    sync_store.close()


def names(statement: Statement) -> dict[str, None]:
    """Nothing for each parameter."""
    return dict.fromkeys(re.findall(r":(\w+)", statement.sql))


def plan(sync_store: SyncStore, statement: Statement) -> list[str]:
    explain = f"EXPLAIN QUERY PLAN {statement.sql}"
    return [str(row[-1]) for row in sync_store.link._raw.execute(explain, names(statement)).fetchall()]


def is_planned_again(sync_store: SyncStore, statement: Statement) -> bool:
    """Whether SQLite asks its authorizer, which it does for each plan that it makes, when a statement runs again."""
    asked: list[object] = []

    def allow(*what: object) -> int:
        asked.append(what)
        return sqlite3.SQLITE_OK

    raw = sync_store.link._raw
    raw.set_authorizer(allow)
    sync_store.link.begin()
    try:
        for _ in range(2):
            first = len(asked)
            with suppress(sqlite3.Error):  # some want more than nothing
                raw.execute(statement.sql, names(statement)).fetchall()
    finally:
        raw.set_authorizer(None)
        sync_store.link.rollback()
    assert first
    return len(asked) > first


def test_the_list_is_not_empty() -> None:
    assert ALL.keys() >= HOT
    assert ALL.keys() >= SCANS
    assert len(ALL) > 60


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_statement_reads_no_whole_table(full: SyncStore, name: str) -> None:
    tables = "|".join(sorted(METADATA.tables))
    scans = [line for line in plan(full, ALL[name]) if re.search(rf"^SCAN ({tables}|result)\b", line)]
    assert bool(scans) == (name in SCANS), scans


@pytest.mark.parametrize("name", sorted(HOT))
def test_a_hot_statement_sorts_nothing(full: SyncStore, name: str) -> None:
    assert [line for line in plan(full, ALL[name]) if "TEMP B-TREE" in line] == []


INDEXES = {
    "lease.NEAR.of_bot": "messages_queued_for_bot",
    "lease.NEAR.in_channel": "messages_queued_in_channel",
    "lease.FAR.of_bot": "messages_queued_in_session",
    "lease.FAR.in_channel": "messages_queued_in_session",
    "lease.HELD": "leases_held",
    "lease.WORST": "leases_held",
    "lease.RENEW": "leases_held",
    "lease.STRANDED": "messages_processing",
    "message.QUEUED": "messages_queued_in_session",
    "message.REPLACING": "messages_queued_replacing",
    "message.RIDERS": "messages_queued_riders",
    "message.OPEN_CALLS": "messages_open_call",
    "message.PENDING.of_bot": "messages_pending",
    "message.PENDING.in_channel": "messages_pending",
    "message.UNSEEN.of_bot": "messages_unseen",
    "message.UNSEEN.in_channel": "messages_unseen",
    "delivery.LIVE.of_bot": "deliveries_live",
    "step.COUNT": "turns_finished",
    "step.SPENT": "steps_paid",
    "step.EXPENSE": "turns_of_session",
    "question.OPEN": "questions_open",
    "mail.OF_SESSION": "owners_of_session",
    "mail.OUTBOX": "mail_entries_in_box",
    "mail.SENDERS": "mail_entries_in_box",
    "mail.RECEIVERS": "mail_entries_in_box",
    "mail.OLDEST": "mail_entries_in_box",
    "mail.INBOX": "mail_entries_in_box",
    "mail.DEAD_OF": "mail_entries_dead",
    "hook.DUE": "hook_failures_due",
    **{f"delivery.BY_STATE.{each}.in_channel": f"deliveries_{each}" for each in OPEN_STATES},
}


def test_admission_counts_in_indexes_alone(full: SyncStore) -> None:
    used = [line for line in plan(full, message.LOAD) if line.startswith("SEARCH")]
    names = ("messages_queued_in_channel", "sqlite_autoindex_queues_1", "messages_accepted_in_channel")
    for name in (*names, "messages_accepted_of_author"):
        assert [line for line in used if f"INDEX {name} (" in line], (name, used)
    assert len(used) == 4


@pytest.mark.parametrize("name", sorted(INDEXES))
def test_a_statement_uses_the_index_that_was_made_for_it(full: SyncStore, name: str) -> None:
    assert any(f"INDEX {INDEXES[name]} (" in line for line in plan(full, ALL[name])), plan(full, ALL[name])


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_statement_is_planned_once(empty: SyncStore, name: str) -> None:
    """To plan it takes ten times as long as to run it."""
    assert not is_planned_again(empty, ALL[name])


def test_a_second_plan_would_be_noticed(empty: SyncStore) -> None:
    compared = Statement(select(messages.c.id).where(messages.c.status == "processing"))
    assert is_planned_again(empty, compared)


def test_a_scan_would_be_noticed(full: SyncStore) -> None:
    unindexed = Statement(select(messages.c.id).where(messages.c.author == "x"))
    assert any(line.startswith("SCAN messages") for line in plan(full, unindexed))


def effort(sync_store: SyncStore, operation: Callable[[Transaction], object]) -> int:
    """How many hundred instructions of SQLite's machine an operation takes, which no other program can disturb."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    sync_store.run(operation)
    sync_store.link._raw.set_progress_handler(tick, 100)
    sync_store.run(operation)
    sync_store.link._raw.set_progress_handler(None, 0)
    return count


BOT = Serving(addresses=frozenset({Address(chatbot_id="b1", channel_id="*")}))
WORK: dict[str, Callable[[Transaction], object]] = {
    "accept": lambda tx: tx.messages.load(Address(chatbot_id="b1", channel_id="c1"), "u1", since=0, until=9**9, most=5),
    "claim": lambda tx: tx.leases.next(BOT),
    "tail": lambda tx: tx.messages.tail("s1", 50),
    "follow": lambda tx: tx.events.after(500, 50),
    "insert": add(prompt(), session="s2"),
}


@pytest.mark.parametrize("name", sorted(WORK))
def test_the_effort_does_not_grow_with_the_rows(full: SyncStore, tmp_path: Path, name: str) -> None:
    small = SyncStore(tmp_path / "small.db")
    small.fill(6_000)
    assert effort(full, WORK[name]) <= effort(small, WORK[name]) + 1
    small.close()


BUSY = """
INSERT INTO sessions SELECT 's' || i, 'o', '', 0, NULL, {each}, 0 FROM n WHERE i <= {sessions};
INSERT INTO messages (id, session_id, session_n, round, chatbot_id, channel_id, kind, role, type, status, mode, author,
 source, source_kind, content, version, created_at) SELECT 'm' || i, 's' || (1 + (i - 1) / {each}), i, 0, 'b1', 'c',
 'user_prompt', 'user', 'text', 'pending_agent', 'followup', 'Chii', '{{"kind":"user"}}', 'user', '{{"text":"x"}}', 1, 0
 FROM n;
INSERT INTO leases SELECT 's' || i, NULL, 'somebody', 1, 0, 0, 9 FROM n WHERE i <= {busy}
"""


@pytest.mark.parametrize(
    ("sessions", "each", "busy", "most"),
    [(2, 10_000, 1, 100), (2_000, 10, 128, 1_200), (1_000, 20, 999, 2_000)],
    ids=["one busy session", "few of many", "nearly all"],
)
def test_a_claim_passes_over_busy_sessions(
    sync_store: SyncStore, sessions: int, each: int, busy: int, most: int
) -> None:
    rows = sessions * each
    sync_store.link.script(
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS"
        f" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n"
    )
    for sql in BUSY.format(sessions=sessions, each=each, busy=busy).split(";"):
        sync_store.link.script(sql)
    seen = list[str | None]()
    assert effort(sync_store, lambda tx: seen.append(getattr(tx.leases.next(BOT), "id", None))) < most
    assert set(seen) == {f"m{busy * each + 1}"}


def test_a_claim_does_not_look_at_all_that_runs(sync_store: SyncStore) -> None:
    def claim(tx: Transaction) -> int | None:
        return tx.leases.worst("somebody")

    sync_store.link.script("INSERT INTO leases VALUES ('s0', NULL, 'somebody', 1, 0, 0, 9)")
    alone = effort(sync_store, claim)
    sync_store.link.script(
        "INSERT INTO leases WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " SELECT 's' || i, NULL, 'somebody', 1, i % 3, 0, 9 FROM n"
    )
    assert sync_store.run(claim) == 2
    assert effort(sync_store, claim) <= alone + 1
