"""What every store must do, as a pytest class: subclass it, give it a `store` fixture, override nothing else.

class TestSqlStore(StoreContract):
    @pytest.fixture
    async def store(self, tmp_path):
        async with await SqlStore.open(tmp_path / "kesoku.db") as store:
            yield store
"""

# ruff: noqa: S101 - a contract is made of assertions

import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from kesoku.errors import StoreClosed, StoreReadOnly
from kesoku.messages import make
from kesoku.ports import Store, Transaction
from kesoku.testing.archive_contract import ArchiveContract
from kesoku.testing.branch_contract import BranchContract
from kesoku.testing.hook_contract import HookContract
from kesoku.testing.ledger_contract import LedgerContract
from kesoku.testing.mail_contract import MailContract
from kesoku.testing.message_contract import MessageContract
from kesoku.testing.store_material import HERE, add, ids, prompt
from kesoku.testing.turn_contract import TurnContract
from kesoku.testing.waiting import PATIENCE


class Refusal(Exception):
    """What a failing operation of this suite raises."""


def refuse(tx: Transaction) -> NoReturn:
    """Write something, then fail."""
    tx.state.set("contract", "refused", 1)
    raise Refusal


def refuse_reading(tx: Transaction) -> NoReturn:
    """Read something, then fail."""
    tx.state.get("contract", "refused")
    raise Refusal


def count_to(number: int) -> Callable[[Transaction], None]:
    """An operation that stores a number."""
    return lambda tx: tx.state.set("contract", "n", number)


class StoreContract(
    MessageContract, TurnContract, LedgerContract, ArchiveContract, BranchContract, HookContract, MailContract
):
    """The behaviour of the ports in kesoku.ports.store."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        tests = [name for name in dir(StoreContract) if name.startswith("test_")]
        weakened = [name for name in tests if getattr(cls, name) is not getattr(StoreContract, name)]
        if weakened:
            raise TypeError(f"{cls.__name__} overrides contract tests: {', '.join(weakened)}")

    @pytest.fixture
    def store(self) -> Store:
        """An empty store; the subclass makes it, and closes it."""
        raise NotImplementedError

    async def test_an_operation_that_raises_leaves_nothing_behind(self, store: Store) -> None:
        with pytest.raises(Refusal):
            await store.write(refuse)
        assert await store.read(lambda tx: tx.state.get("contract", "refused")) is None
        with pytest.raises(Refusal):
            await store.read(refuse_reading)

    async def test_a_failing_operation_does_not_hurt_its_neighbours(self, store: Store) -> None:
        posts = [prompt(str(n)) for n in range(9)]
        await store.write(add())
        operations = [add(post) for post in posts]
        results = await asyncio.gather(
            *(store.write(each) for each in (*operations[:5], refuse, *operations[5:])), return_exceptions=True
        )
        assert [type(each) for each in results].count(Refusal) == 1
        stored = await store.read(lambda tx: tx.messages.session("s1"))
        assert ids(stored) == [post.message.id for post in posts]
        assert [record.session_n for record in stored] == list(range(1, 10))
        assert await store.read(lambda tx: tx.state.get("contract", "refused")) is None

    async def test_an_operation_returns_what_it_returns(self, store: Store) -> None:
        assert await store.write(lambda _: "written") == "written"
        assert await store.read(lambda _: "read") == "read"

    async def test_reading_writes_nothing(self, store: Store) -> None:
        with pytest.raises(StoreReadOnly):
            await store.read(lambda tx: tx.state.set("contract", "x", 1))
        with pytest.raises(StoreReadOnly):
            await store.read(lambda tx: tx.sessions.create(at=1))
        assert await store.read(lambda tx: tx.state.get("contract", "x")) is None

    async def test_what_was_acknowledged_is_read(self, store: Store) -> None:
        for n in range(20):
            await store.write(count_to(n))
            assert await store.read(lambda tx: tx.state.get("contract", "n")) == n

    async def test_commits_wake_those_who_ask(self, store: Store) -> None:
        woken, others = asyncio.Event(), asyncio.Event()
        undo = [store.on_commit(woken.set), store.on_commit(others.set)]
        for _ in range(3):
            woken.clear()
            others.clear()
            await store.write(lambda tx: tx.sessions.create(at=1))
            await asyncio.wait_for(asyncio.gather(woken.wait(), others.wait()), PATIENCE)
        undo[0]()
        undo[0]()
        woken.clear()
        others.clear()
        await store.write(lambda tx: tx.sessions.create(at=1))
        await asyncio.wait_for(others.wait(), PATIENCE)
        assert not woken.is_set()
        undo[1]()

    async def test_a_caller_that_gives_up_hurts_nobody(self, store: Store) -> None:
        tasks = [asyncio.ensure_future(store.write(add(prompt(), session=f"s{n}"))) for n in range(40)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.wait(tasks)
        stored = await store.read(lambda tx: [tx.messages.session(f"s{n}") for n in range(40)])
        assert [len(records) for records in stored[1::2]] == [1] * 20
        assert {len(records) for records in stored[::2]} <= {0, 1}

    async def test_many_writers_at_once(self, store: Store) -> None:
        posts = [prompt(str(n), at=HERE) for n in range(600)]
        await store.write(add())
        await asyncio.gather(*(store.write(add(post)) for post in posts))
        stored = await store.read(lambda tx: tx.messages.session("s1"))
        assert sorted(ids(stored)) == sorted(post.message.id for post in posts)
        assert [record.session_n for record in stored] == list(range(1, 601))
        assert len(await store.read(lambda tx: tx.events.after(0, 1000))) == 600

    async def test_closing_finishes_what_waits_and_then_refuses(self, store: Store) -> None:
        waiting = asyncio.ensure_future(store.write(add(prompt())))
        await asyncio.sleep(0)
        await store.aclose()
        await store.aclose()
        done = (await asyncio.gather(waiting, return_exceptions=True))[0]
        assert isinstance(done, (list, StoreClosed))
        with pytest.raises(StoreClosed):
            await store.write(lambda tx: tx.sessions.create(at=1))
        with pytest.raises(StoreClosed):
            await store.read(lambda tx: tx.messages.get(make.notice("x").id))
