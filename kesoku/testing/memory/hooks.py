"""Failures of event hooks in memory."""

from dataclasses import replace

from kesoku.messages.hook_failure import HookFailure
from kesoku.testing.memory.table import Tables


class MemoryHooks:
    """`HookStore` over a dict."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def put(self, failure: HookFailure) -> None:
        """See the port."""
        self._tables.hook_failures.put((failure.hook, failure.event_seq), failure)

    def forget(self, hook: str, event_seq: int) -> None:
        """See the port."""
        self._tables.hook_failures.drop((hook, event_seq))

    def due(self, hook: str, *, at: int, limit: int) -> list[HookFailure]:
        """See the port."""
        waiting = [each for each in self._of(hook) if each.next_at is not None and each.next_at <= at]
        return waiting[:limit]

    def of(self, hook: str, *, limit: int) -> list[HookFailure]:
        """See the port."""
        return self._of(hook)[:limit]

    def count(self, hook: str) -> tuple[int, int]:
        """See the port."""
        given_up = [each.next_at is None for each in self._of(hook)]
        return given_up.count(False), given_up.count(True)

    def retry(self, hook: str, *, at: int) -> int:
        """See the port."""
        mine = self._of(hook)
        for each in mine:
            self.put(replace(each, next_at=at, attempts=0 if each.next_at is None else each.attempts))
        return len(mine)

    def _of(self, hook: str) -> list[HookFailure]:
        mine = (each for each in self._tables.hook_failures.values() if each.hook == hook)
        return sorted(mine, key=lambda each: (each.next_at is None, each.next_at or 0, each.event_seq))
