"""All event hooks of a process, beside everything else that it does: nothing that happens in here ends it."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NoReturn

from kesoku.errors import StoreError
from kesoku.hooks.follower import Follower, Keys
from kesoku.hooks.hook import EventHook
from kesoku.hooks.pace import Pace
from kesoku.hooks.standing import begin
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.render.mask import Mask

_USUAL = Pace()
_log = logging.getLogger(__name__)


class EventHooks:
    """Runs hooks, each by itself: one that is slow or broken delays only itself."""

    def __init__(
        self,
        hooks: Sequence[EventHook],
        *,
        store: Store,
        gateway: Gateway,
        clock: Clock,
        keys: Keys,
        secrets: Iterable[str] = (),
        pace: Pace = _USUAL,
    ) -> None:
        mask = Mask(secrets)
        self._store, self._clock, self._rest = store, clock, pace.rest
        self._followers = tuple(
            Follower(hook, store=store, gateway=gateway, clock=clock, keys=keys, mask=mask, pace=pace) for hook in hooks
        )

    async def begin(self) -> None:
        """Let hooks that are new begin here, before anything happens that they should hear of."""

        def operation(tx: Transaction) -> None:
            for each in self._followers:
                begin(tx, each.hook.name)

        with suppress(StoreError):  # then each of them begins when it runs
            await self._store.write(operation)

    async def run(self) -> None:
        """Run all hooks until cancelled."""
        try:
            await asyncio.gather(*map(self._keep_running, self._followers))
        finally:
            await asyncio.gather(*(each.hook.target.aclose() for each in self._followers), return_exceptions=True)

    async def finish(self, seconds: float) -> None:
        """Let the hooks that run here hear of everything that has happened, for so many real seconds at most."""
        with suppress(TimeoutError, StoreError):
            async with asyncio.timeout(seconds):
                head = await self._store.read(lambda tx: tx.events.head())
                await asyncio.gather(*(each.finish(head) for each in self._followers))

    async def _keep_running(self, follower: Follower) -> NoReturn:
        while True:
            try:
                await follower.run()
            except Exception:  # noqa: BLE001
                # Whatever breaks down in here is not worth an answer: the process that answers people goes on.
                _log.exception("hook %s broke down; it begins again in %g s", follower.hook.name, self._rest)
            await self._clock.sleep(self._rest)
