"""Running replies for an adapter that shows them: one call at a time and turn, always with the newest text (N-19)."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from kesoku.adapter.attempt import Failure, attempt, stop, within
from kesoku.adapter.outgoing import Draft
from kesoku.adapter.spi import ShowsDrafts
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address
from kesoku.ports import Clock

_PATIENCE = 10.0
_log = logging.getLogger(__name__)


class DraftFeed:
    """A slow channel sees fewer drafts and holds up no other one.

    `caught_up` waits until everything that a turn said before is shown: it is called before the first draft of a step,
    so that a running reply never overtakes the tool results that it is about.
    """

    def __init__(
        self, adapter: ShowsDrafts, clock: Clock, caught_up: Callable[[str], Coroutine[Any, Any, None]]
    ) -> None:
        self._adapter, self._clock, self._caught_up = adapter, clock, caught_up
        self._newest: dict[str, tuple[Address, Draft]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._over = Recent[str]()

    def put(self, address: Address, draft: Draft) -> None:
        """Show this soon, unless something newer comes first or the turn is over."""
        if draft.turn_id in self._over:
            return
        self._newest[draft.turn_id] = (address, draft)
        if draft.turn_id not in self._tasks:
            self._tasks[draft.turn_id] = asyncio.create_task(self._show(draft.turn_id))

    def clear(self, turn_id: str) -> None:
        """Drop what was not shown yet."""
        self._newest.pop(turn_id, None)

    async def end(self, turn_id: str) -> None:
        """The turn is over: on return no draft of it is on its way, and none will be."""
        self._over.add(turn_id)
        self.clear(turn_id)
        if task := self._tasks.get(turn_id):
            await stop(task)

    async def aclose(self) -> None:
        """End every turn."""
        for turn_id in tuple(self._tasks):
            await self.end(turn_id)

    async def _show(self, turn_id: str) -> None:
        step = None
        try:
            while item := self._newest.get(turn_id):
                if item[1].step != step:
                    await attempt(self._caught_up(turn_id))
                    step = item[1].step
                    continue
                self.clear(turn_id)
                result = await attempt(within(self._clock, _PATIENCE, self._adapter.draft(*item)))
                if isinstance(result, Failure):
                    _log.debug("a draft of turn %s was not shown: %s", turn_id, result)
        finally:
            self._tasks.pop(turn_id, None)
