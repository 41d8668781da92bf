"""An adapter with inbox and outbox over a store in memory and a virtual clock."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.ports import Store
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import recording_manifest


class World:
    """One store, one platform, one clock; any number of runners, one after the other."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder, self.store = folder, store
        self.clock = VirtualClock()
        self.platform = RecordedPlatform()
        bounds = FloodBounds(per_person_per_minute=10_000, per_channel_per_minute=10_000, queued_per_channel=10_000)
        self.gateway = StoreGateway(store, self.clock, BusyPolicy(), FakePresence(), bounds=bounds)

    def runner(self, *, store: Store | None = None, **facts: Any) -> AdapterRunner:
        own = {
            name: facts.pop(name)
            for name in ("access", "commands", "policy", "intake", "adapter", "mask")
            if name in facts
        }
        own.setdefault("policy", DeliveryPolicy(drain_seconds=0.0))
        self.platform.honours_keys = facts.get("key_window", 0) > 0
        manifest = recording_manifest(platform=self.platform, **facts)
        return AdapterRunner(
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


Quiet = Callable[[AdapterRunner], Any]


@pytest.fixture
def quiet() -> Quiet:
    """Wait until everything that can happen without time has happened."""

    async def wait(runner: AdapterRunner) -> None:
        await settle()
        await runner.outbox.idle()
        await settle()

    return wait
