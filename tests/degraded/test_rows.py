"""Any cell of any row may hold anything: nobody else notices, the people of that row are told, and doctor names it."""

import asyncio
import shutil
import sqlite3
from contextlib import AbstractAsyncContextManager, closing, suppress
from itertools import product
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
from sqlalchemy import Table

from kesoku.exchange import Exchange
from kesoku.exchange.kin import enrolled
from kesoku.messages.branch import Branch
from kesoku.messages.lifecycle import DeliveryState
from kesoku.messages.record import Address
from kesoku.ports import Transaction
from kesoku.store import SqlStore
from kesoku.store.columns import METADATA
from kesoku.testing.gateway_harness import EVERYTHING
from kesoku.testing.model import Held, call, reply
from kesoku.testing.platform import Fault, RecordedPlatform
from kesoku.testing.sync_store import SyncStore
from kesoku.tools.tool import Effect, tool

from .conftest import BOT, HALL, ROOM, Bot, bot_at_work

LAB, COURT, ATTIC = "lab", "court", "attic"
JUNK: tuple[object, ...] = ("{junk", b"\x00\xff", "[]", "x" * 50_000, None)
NO_TEXT = "CAST(x'7bff' AS TEXT)"
"""What stands for None in the line above: it is marked as text, and no text."""
TABLES = METADATA.sorted_tables
FINE = reply("fine")
HARMLESS = {"bindings", "external_ids", "queues"}
"""Nothing but ids, of which doctor cannot know all, and what is counted again at each start."""


class Crash(Exception):
    """The end of a process."""


@tool(effect=Effect.READ)
async def look() -> str:
    """Look."""
    return "seen"


@tool(effect=Effect.WRITE)
async def sweep() -> str:
    """Sweep."""
    return "swept"


async def leave_a_branch(store: SqlStore) -> None:
    """Where somebody cleared, pinned and forgot something, and compacted the rest."""

    def operation(tx: Transaction) -> None:
        session = tx.sessions.bound(Address(chatbot_id=BOT, channel_id=ROOM))
        assert session is not None
        branch = Branch(session_id=session.id).keeping("turn").without(["message"]).clearing(0)
        tx.branches.select(branch.compacting(1, tail=1, summary="summary", asked=["prompt"], cuts={"result": 9}))

    await store.write(operation)


async def leave_mail(store: SqlStore) -> None:
    """A letter that waits, one that has arrived and one that is dead, and a name."""

    def operation(tx: Transaction) -> None:
        session, exchange = tx.sessions.bound(Address(chatbot_id=BOT, channel_id=ROOM)), Exchange(tx.mail)
        assert session is not None
        owner = enrolled(tx, exchange, session)
        for to in (owner, "nobody"):
            exchange.send(owner, to, "hello")
        exchange.collect(owner)
        exchange.send(owner, owner, "later")
        exchange.name("room", owner)

    await store.write(operation)


class CrashedDatabase:
    """A database in which something of every kind is under way, as the crash of its process leaves it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "crashed.db"
        self.seen: list[dict[str, Any]] = []

    async def build(self) -> None:
        running = self.folder / "running.db"
        held = Held()
        lines = (reply(call("look")), "I looked", held, reply(call("sweep")), "here it is")
        with suppress(Crash):
            async with await SqlStore.open(running) as store, self.at_work(store, *lines) as bot:
                bot.platform.say(ROOM, "look")
                await bot.shows(ROOM, "I looked")
                bot.platform.say(LAB, "think")
                await held.entered.wait()
                await leave_a_branch(store)
                await leave_mail(store)
                bot.platform.say(COURT, "sweep")
                await bot.shows(COURT, "May I")
                bot.platform.script(ATTIC, Fault(kind="retry", seconds=20.0))
                bot.platform.say(ATTIC, "fetch")
                await bot.waits_for_a_retry()
                self.seen = bot.platform.entries
                with closing(sqlite3.connect(running)) as one, closing(sqlite3.connect(self.path)) as two:
                    one.backup(two)
                raise Crash

    def at_work(
        self, store: SqlStore, *lines: Any, owner: str = "w1", platform: RecordedPlatform | None = None
    ) -> AbstractAsyncContextManager[Bot]:
        platform = platform or RecordedPlatform(honours_keys=True, entries=list(self.seen))
        return bot_at_work(store, self.folder, *lines, tools=[look, sweep], platform=platform, owner=owner)

    def copy(self, name: str) -> Path:
        path = self.folder / name
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        shutil.copy(self.path, path)
        return path

    def spoiled(self, table: Table, junk: object, *only: str) -> Path:
        """A copy in which cells of the newest row of a table are spoiled: all but those by which it is found."""
        path = self.copy("spoiled.db")
        names = only or [column.name for column in table.columns if column.name not in {"seq", "id", "scope", "key"}]
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            for name in names:
                with suppress(sqlite3.IntegrityError):
                    newest = f"rowid = (SELECT max(rowid) FROM {table.name})"
                    connection.execute(
                        f"UPDATE {table.name} SET {name} = coalesce(?, {NO_TEXT}) WHERE {newest}", (junk,)
                    )
        return path


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> CrashedDatabase:
    crashed = CrashedDatabase(tmp_path_factory.mktemp("crashed"))
    asyncio.run(crashed.build())
    return crashed


def read_everything(tx: Transaction) -> None:
    """What any part of Kesoku ever reads; damage must not be raised, nor be handed on as what it is not."""
    for change in tx.events.after(0, 1_000):
        record = change.record
        assert type(change.at) is type(record.session_n) is type(record.round) is type(record.message.version) is int
        for step in tx.steps.of(record.id):
            assert type(step.n) is type(step.at) is int
        facts = tx.steps.turn(record.id)
        assert facts is None or all(type(each) is str for each in facts.prompt_ids)
        for part in tx.deliveries.of(record.id):
            assert type(part.part) is type(part.attempts) is int
    for lease in tx.leases.held():
        assert type(lease.until) is type(lease.failures) is type(lease.claimed_at) is int
    tx.deliveries.live(EVERYTHING)
    for state in DeliveryState:
        tx.deliveries.by_state(EVERYTHING, state)
    for session, _ in tx.sessions.recent(100):
        tx.messages.tail(session.id, 100)
        tx.messages.open_calls(session.id)
        tx.steps.expense(session.id)
        for branch in (tx.branches.current(session.id), *tx.branches.all(session.id)):
            assert branch.session_id == session.id
            assert all(type(first) is int and type(last) in {int, NoneType} for first, last in branch.spans)
            assert all(type(each) is str for each in (branch.name, *branch.forgotten, *branch.pinned))
    for box in tx.mail.mailboxes():
        assert type(box.at) is int
        tx.mail.inbox(box.owner)
    for letter in [letter for sender in tx.mail.senders() for letter in tx.mail.outbox(sender)]:
        assert type(letter.attempts) is int
    tx.mail.receivers()
    tx.mail.names()
    tx.mail.dead()
    tx.leases.next(EVERYTHING)
    tx.leases.stranded(before=2**62)
    tx.messages.waiting(EVERYTHING)
    tx.state.get(f"adapter:{BOT}", "position")
    tx.questions.open(Address(chatbot_id=BOT, channel_id=COURT))


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_no_cell_is_raised_or_handed_on_as_what_it_is_not(crashed: CrashedDatabase, table: Table) -> None:
    sync_store = SyncStore(crashed.copy("cells.db"))
    sync_store.link.script("PRAGMA ignore_check_constraints = ON")
    for column, junk in product(table.columns, (*JUNK, -1)):

        def look(tx: Any, column: Any = column, junk: object = junk) -> None:
            with suppress(sqlite3.IntegrityError):
                tx.link._raw.execute(
                    f"UPDATE OR IGNORE {table.name} SET {column.name} = coalesce(?, {NO_TEXT})", (junk,)
                )
            try:
                read_everything(tx)
            except Exception as error:
                raise AssertionError(f"{column} = {junk!r:.20}") from error
            raise Crash

        with pytest.raises(Crash):
            sync_store.run(look)
    sync_store.close()


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
async def test_whatever_a_row_holds_the_others_go_on(
    crashed: CrashedDatabase, table: Table, caplog: pytest.LogCaptureFixture
) -> None:
    for junk in (JUNK[TABLES.index(table) % len(JUNK)], -1):
        caplog.clear()
        async with await SqlStore.open(crashed.spoiled(table, junk)) as store:
            problems = await store.check()
            assert table.name in HARMLESS or junk != "{junk" or any(table.name in each for each in problems), problems
            with suppress(Crash):
                async with crashed.at_work(store, *[FINE] * 20, owner="w2") as bot:
                    bot.harness.presence.dead.add("w1")
                    for room in (ROOM, LAB, COURT, ATTIC, HALL):
                        bot.platform.say(room, "hello")
                    await bot.shows(HALL, "fine", advance=1.0)
                    raise Crash
        assert not [each for each in caplog.records if each.exc_info], (junk, caplog.text)


async def test_who_waits_for_a_damaged_part_is_told_once(crashed: CrashedDatabase) -> None:
    path = crashed.spoiled(METADATA.tables["deliveries"], "{junk", "body")
    platform = RecordedPlatform(honours_keys=True, entries=list(crashed.seen))
    for owner in ("w2", "w3"):
        async with await SqlStore.open(path) as store:
            with suppress(Crash):
                async with crashed.at_work(store, *[FINE] * 5, owner=owner, platform=platform) as bot:
                    bot.harness.presence.dead |= {"w1", "w2"} - {owner}
                    platform.say(HALL, "hello")
                    await bot.shows(HALL, "fine", advance=1.0)
                    (told,) = await bot.shows(ATTIC, "was not sent", advance=1.0)
                    raise Crash
        assert "damaged" in told
