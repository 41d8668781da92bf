"""Both stores under the one contract, and the contract's own guards."""

import importlib.util
import inspect
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing import store_contract
from kesoku.testing.memory import MemoryStore
from kesoku.testing.store_contract import StoreContract


# The contract proves K-040, K-125, K-139, K-140, K-141, K-169 and K-171.
class TestSqlStore(StoreContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        async with await SqlStore.open(tmp_path / "kesoku.db") as store:
            yield store


if importlib.util.find_spec("pysqlite3"):

    class TestNewerSqlite(StoreContract):
        @pytest.fixture
        async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
            module = importlib.import_module("pysqlite3.dbapi2")
            async with await SqlStore.open(tmp_path / "kesoku.db", module=module) as store:
                yield store


class TestMemoryStore(StoreContract):
    @pytest.fixture(params=[False, True], ids=["once", "rerun"])
    async def store(self, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
        store = MemoryStore(rerun=request.param)
        yield store
        await store.aclose()


def test_a_contract_test_cannot_be_overridden() -> None:
    name = "test_what_was_acknowledged_is_read"
    with pytest.raises(TypeError, match=name):
        type("Weaker", (StoreContract,), {name: lambda self: None})
    mixin = type("Mixin", (), {name: None})
    with pytest.raises(TypeError, match=name):
        type("WeakerByMixin", (mixin, StoreContract), {})
    type("Honest", (StoreContract,), {"store": None, "test_more": None})


def test_the_contract_exercises_every_method_of_every_port() -> None:
    contracts = {sys.modules[each.__module__] for each in StoreContract.__mro__ if each is not object}
    text = "".join(map(inspect.getsource, contracts))
    text += Path(inspect.getfile(store_contract)).with_name("store_material.py").read_text()
    nouns = {
        name: inspect.get_annotations(member.fget)["return"]
        for name, member in vars(Transaction).items()
        if isinstance(member, property) and member.fget
    }
    wanted = [f"tx.{noun}.{method}" for noun, port in nouns.items() for method in methods(port)]
    wanted += [f"store.{method}" for method in methods(Store)]
    assert len(wanted) > 50
    assert [each for each in wanted if not re.search(rf"\b{re.escape(each)}\(", text)] == []
    modules = [sys.modules[f"kesoku.ports.{name}"] for name in ("store", "archive", "branch", "ledger", "mail", "hook")]
    members = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    declared = {each for each in members if each.__module__ in {module.__name__ for module in modules}}
    assert declared == {*nouns.values(), Store, Transaction}


def methods(port: type) -> list[str]:
    return [name for name, member in vars(port).items() if inspect.isfunction(member) and not name.startswith("_")]
