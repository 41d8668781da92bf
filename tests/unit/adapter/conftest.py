"""A station over a store in memory and a virtual clock."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.ports import Store
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.memory import MemoryStore
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.presence import NullPresence
from kesoku.testing.recording import recording_manifest
from kesoku.testing.station import Station


class World:
    """One store, one platform, one clock; any number of stations, one after another."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder, self.store = folder, store
        self.clock = VirtualClock()
        self.platform = RecordedPlatform()
        bounds = FloodBounds(per_person_per_minute=10_000, per_channel_per_minute=10_000, queued_per_channel=10_000)
        self.gateway = StoreGateway(store, self.clock, BusyPolicy(), NullPresence(), bounds=bounds)

    def station(self, *, store: Store | None = None, **facts: Any) -> Station:
        own = {name: facts.pop(name) for name in ("access", "commands", "policy", "intake", "adapter") if name in facts}
        own.setdefault("policy", DeliveryPolicy(landing=0.0))
        self.platform.honours_keys = facts.get("key_window", 0) > 0
        manifest = recording_manifest(platform=self.platform, **facts)
        return Station(
            manifest=manifest,
            store=store or self.store,
            gateway=self.gateway,
            clock=self.clock,
            folder=self.folder,
            **own,
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, MemoryStore())


@pytest.fixture
def rerun_world(tmp_path: Path) -> World:
    """Every write runs twice, as in a group that failed."""
    return World(tmp_path, MemoryStore(rerun=True))


Quiet = Callable[[Station], Any]


@pytest.fixture
def quiet() -> Quiet:
    """Wait until everything that can happen without time has happened."""

    async def wait(station: Station) -> None:
        await settle()
        await station.outbox.idle()
        await settle()

    return wait
