"""What every store must do with failures of event hooks; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

from dataclasses import replace

from kesoku.messages.hook_failure import HookFailure
from kesoku.ports import Store

FAILED = HookFailure(hook="ops", event_seq=7, message_id="m7", attempts=1, next_at=50, error="no answer", at=40)


def failed(event_seq: int, *, next_at: int | None, hook: str = "ops") -> HookFailure:
    """A failure of a hook."""
    return replace(FAILED, hook=hook, event_seq=event_seq, message_id=f"m{event_seq}", next_at=next_at)


async def keep(store: Store, *failures: HookFailure) -> None:
    """Store some failures."""
    for each in failures:
        await store.write(lambda tx, each=each: tx.hooks.put(each))  # type: ignore[misc]


async def of(store: Store, hook: str = "ops") -> list[HookFailure]:
    """All failures of a hook."""
    return await store.read(lambda tx: tx.hooks.of(hook, limit=100))


class HookContract:
    """The behaviour of `HookStore`."""

    async def test_a_failure_comes_back_as_it_was_put_last(self, store: Store) -> None:
        again = replace(FAILED, attempts=2, next_at=90, error="broken \ud800 pipe", at=60)
        await keep(store, FAILED, again)
        assert await of(store) == [again]
        assert await of(store, "other") == []

    async def test_failures_are_due_at_their_time_and_in_its_order(self, store: Store) -> None:
        late, early, given_up = failed(1, next_at=60), failed(2, next_at=50), failed(3, next_at=None)
        await keep(store, late, early, given_up, failed(4, next_at=10, hook="other"))
        assert await store.read(lambda tx: tx.hooks.due("ops", at=49, limit=9)) == []
        assert await store.read(lambda tx: tx.hooks.due("ops", at=50, limit=9)) == [early]
        assert await store.read(lambda tx: tx.hooks.due("ops", at=99, limit=9)) == [early, late]
        assert await store.read(lambda tx: tx.hooks.due("ops", at=99, limit=1)) == [early]

    async def test_what_waits_is_listed_before_what_was_given_up(self, store: Store) -> None:
        waiting, given_up = failed(5, next_at=60), failed(2, next_at=None)
        await keep(store, given_up, waiting)
        assert await of(store) == [waiting, given_up]
        assert await store.read(lambda tx: tx.hooks.of("ops", limit=1)) == [waiting]
        assert await store.read(lambda tx: tx.hooks.count("ops")) == (1, 1)
        assert await store.read(lambda tx: tx.hooks.count("other")) == (0, 0)

    async def test_what_was_taken_after_all_is_forgotten(self, store: Store) -> None:
        await keep(store, FAILED, failed(7, next_at=1, hook="other"))
        await store.write(lambda tx: tx.hooks.forget("ops", 7))
        await store.write(lambda tx: tx.hooks.forget("ops", 7))
        assert await of(store) == []
        assert len(await of(store, "other")) == 1

    async def test_everything_can_be_made_due_and_what_was_given_up_begins_anew(self, store: Store) -> None:
        waiting, given_up, other = failed(1, next_at=900), failed(2, next_at=None), failed(3, next_at=9, hook="other")
        await keep(store, waiting, replace(given_up, attempts=8), other)
        assert await store.write(lambda tx: tx.hooks.retry("ops", at=70)) == 2
        assert await of(store) == [replace(waiting, next_at=70), replace(given_up, next_at=70, attempts=0)]
        assert await of(store, "other") == [other]
        assert await store.write(lambda tx: tx.hooks.retry("nobody", at=70)) == 0
