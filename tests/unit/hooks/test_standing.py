"""Where a hook stands, as it is kept."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kesoku.hooks.standing import Standing, advance, begin, standing
from kesoku.testing.memory import MemoryStore
from kesoku.testing.store_material import add, prompt


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    await store.write(add(prompt("one"), prompt("two")))
    yield store
    await store.aclose()


async def test_a_hook_that_never_ran_stands_nowhere_and_begins_at_the_end_of_the_log(store: MemoryStore) -> None:
    assert await store.read(lambda tx: standing(tx, "ops")) is None
    assert await store.write(lambda tx: begin(tx, "ops")) == Standing(cursor=2)


async def test_to_begin_again_changes_nothing(store: MemoryStore) -> None:
    known = await store.write(lambda tx: advance(tx, "ops", cursor=1, succeeded_at=7))
    assert await store.write(lambda tx: begin(tx, "ops")) == known == Standing(cursor=1, succeeded_at=7)


async def test_a_cursor_never_goes_back(store: MemoryStore) -> None:
    await store.write(lambda tx: advance(tx, "ops", cursor=5))
    assert await store.write(lambda tx: advance(tx, "ops", cursor=3)) == Standing(cursor=5)


async def test_the_last_success_is_remembered_through_failures(store: MemoryStore) -> None:
    await store.write(lambda tx: advance(tx, "ops", cursor=1, succeeded_at=7))
    await store.write(lambda tx: advance(tx, "ops", cursor=2))
    assert await store.read(lambda tx: standing(tx, "ops")) == Standing(cursor=2, succeeded_at=7)
    assert await store.read(lambda tx: standing(tx, "other")) is None


DAMAGED: dict[str, Any] = {
    "no mapping": [1],
    "no cursor": {"succeeded_at": 7},
    "a cursor that is no number": {"cursor": "1"},
    "a cursor behind the end of the log": {"cursor": 99},
    "a cursor before its beginning": {"cursor": -1},
}


@pytest.mark.parametrize("entry", DAMAGED.values(), ids=DAMAGED)
async def test_a_hook_whose_place_is_damaged_begins_at_the_end_of_the_log_and_says_so(
    store: MemoryStore, caplog: pytest.LogCaptureFixture, entry: Any
) -> None:
    await store.write(lambda tx: tx.state.set("hooks", "ops", entry))
    assert (await store.write(lambda tx: begin(tx, "ops"))).cursor == 2
    assert "where hook ops stands is damaged" in caplog.text
    assert await store.read(lambda tx: standing(tx, "ops")) == Standing(cursor=2)


async def test_a_damaged_time_of_the_last_success_is_none(store: MemoryStore) -> None:
    await store.write(lambda tx: tx.state.set("hooks", "ops", {"cursor": 1, "succeeded_at": "yesterday"}))
    assert await store.write(lambda tx: begin(tx, "ops")) == Standing(cursor=1)
