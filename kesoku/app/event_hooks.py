"""The event hooks of a configuration, running. Imported only where one is configured: nobody else waits for it."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kesoku.app.hook_check import command_folder
from kesoku.config import Loaded
from kesoku.config.schema import HookTable
from kesoku.hooks.filter import Filter
from kesoku.hooks.follower import Keys
from kesoku.hooks.hook import EventHook, Target
from kesoku.hooks.room import EventHooks
from kesoku.ports import Clock, Gateway, Store
from kesoku.tools.process import minimal

_LINGER = 3.0
"""Seconds that hooks have at the end to hear of the last events; what is left waits for the next start."""


@asynccontextmanager
async def following(
    loaded: Loaded, *, store: Store, gateway: Gateway, clock: Clock, keys: Keys, secrets: frozenset[str]
) -> AsyncIterator[None]:
    """Run the hooks of a configuration while the body runs, and let them hear of what happened until its end."""
    environment = minimal(os.environ, secrets)
    hooks = EventHooks(
        [hook_of(table, folder=command_folder(loaded), environment=environment) for table in loaded.config.hooks],
        store=store,
        gateway=gateway,
        clock=clock,
        keys=keys,
        secrets=secrets,
    )
    await hooks.begin()
    running = asyncio.create_task(hooks.run(), name="event hooks")
    try:
        yield
        await hooks.finish(_LINGER)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def hook_of(table: HookTable, *, folder: Path, environment: Mapping[str, str]) -> EventHook:
    """The hook of one table. Its command runs in `folder`, with `environment` and nothing else."""
    return EventHook(
        name=table.name,
        wants=Filter(events=frozenset(table.events), bots=frozenset(table.bots), channels=frozenset(table.channels)),
        target=_target(table, folder, environment),
        timeout=table.timeout,
        attempts=table.attempts,
        first_pause=table.first_pause,
    )


def _target(table: HookTable, cwd: Path, environment: Mapping[str, str]) -> Target:
    if table.url is None:
        from kesoku.hooks.command import CommandTarget

        return CommandTarget(table.command or (), cwd=cwd, environment=environment, timeout=table.timeout)
    from kesoku.hooks.http import HttpTarget

    headers = {name: value.get_secret_value() for name, value in table.headers.items()}
    return HttpTarget(table.url, headers, timeout=table.timeout)
