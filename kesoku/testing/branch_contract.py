"""What every store must do with branches and the common parts of requests; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

from dataclasses import replace

from kesoku.messages.branch import Branch
from kesoku.ports import Store

WHOLE = Branch(session_id="s")


class BranchContract:
    """The behaviour of `BranchStore` and `RequestStore`."""

    async def test_a_session_that_nobody_changed_is_read_whole(self, store: Store) -> None:
        assert await store.read(lambda tx: tx.branches.current("s")) == WHOLE
        assert await store.read(lambda tx: tx.branches.all("s")) == []
        assert await store.read(lambda tx: tx.branches.get("s", "main")) is None

    async def test_a_branch_comes_back_as_it_was_selected(self, store: Store) -> None:
        told = WHOLE.without(["a", "b"]).keeping("t").clearing(7)
        told = replace(told.compacting(9, tail=8, summary="s", asked=["c"], cuts={"r": 100}), at=5)
        await store.write(lambda tx: tx.branches.select(told))
        assert await store.read(lambda tx: tx.branches.current("s")) == told
        assert await store.read(lambda tx: tx.branches.get("s", "main")) == told
        assert await store.read(lambda tx: tx.branches.current("other")) == Branch(session_id="other")

    async def test_one_branch_of_a_session_is_current(self, store: Store) -> None:
        main, second = replace(WHOLE.ending(4), at=1), replace(WHOLE.going_on(4), name="second", at=2)
        await store.write(lambda tx: tx.branches.select(main))
        await store.write(lambda tx: tx.branches.select(second))
        assert await store.read(lambda tx: tx.branches.current("s")) == second
        assert await store.read(lambda tx: tx.branches.all("s")) == [second, main]
        await store.write(lambda tx: tx.branches.select(replace(main, at=3)))
        assert await store.read(lambda tx: tx.branches.current("s")) == replace(main, at=3)

    async def test_a_branch_is_stored_without_being_selected(self, store: Store) -> None:
        aside = replace(WHOLE.ending(4), name="aside", at=1)
        await store.write(lambda tx: tx.branches.put(aside))
        assert await store.read(lambda tx: tx.branches.current("s")) == WHOLE
        assert await store.read(lambda tx: tx.branches.all("s")) == [aside]

    async def test_the_current_branch_stays_current_when_it_is_stored_again(self, store: Store) -> None:
        await store.write(lambda tx: tx.branches.select(WHOLE.clearing(2)))
        await store.write(lambda tx: tx.branches.put(WHOLE.clearing(3)))
        assert await store.read(lambda tx: tx.branches.current("s")) == WHOLE.clearing(3)

    async def test_what_requests_have_in_common_is_stored_once(self, store: Store) -> None:
        await store.write(lambda tx: tx.requests.put("d1", {"system": "é \ud800", "tools": [{"name": "a"}]}))
        await store.write(lambda tx: tx.requests.put("d1", {"system": "another"}))
        assert await store.read(lambda tx: tx.requests.get("d1")) == {"system": "é \ud800", "tools": [{"name": "a"}]}
        assert await store.read(lambda tx: tx.requests.get("d2")) is None
