"""A process that delivers what waits in a database to a journal, until all is out or it is killed."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from kesoku.adapter import Outgoing
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.store import SqlStore
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import WallClock
from kesoku.testing.fakes import FakePresence
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import RecordingAdapter, recording_manifest
from kesoku.testing.waiting import until


class Unhurried(RecordingAdapter):
    """Takes a little time on both sides of the moment at which a message is shown."""

    async def send(self, address: Any, outgoing: Outgoing, key: str) -> Any:
        await asyncio.sleep(0.002)
        receipt = await super().send(address, outgoing, key)
        await asyncio.sleep(0.002)
        return receipt


async def deliver(folder: Path, facts: dict[str, Any]) -> None:
    store = await SqlStore.open(folder / "kesoku.db")
    clock = WallClock()
    gateway = StoreGateway(store, clock, BusyPolicy(), FakePresence())
    platform = RecordedPlatform(journal=folder / "journal", honours_keys="key_window" in facts)
    manifest = recording_manifest(platform=platform, kind=Unhurried, max_text=40, **facts)
    runner = AdapterRunner(manifest=manifest, store=store, gateway=gateway, clock=clock, folder=folder)
    async with runner:
        print("ready", flush=True)  # noqa: T201  the parent waits for it

        async def all_out() -> bool:
            return not await store.read(lambda tx: tx.messages.waiting(runner.serving))

        await until(all_out, what="everything is out")
    await store.aclose()
    print("done", flush=True)  # noqa: T201


if __name__ == "__main__":
    how: dict[str, dict[str, Any]] = {"key": {"key_window": 300.0}, "find": {"find": True}, "blind": {}}
    asyncio.run(deliver(Path(sys.argv[1]), how[sys.argv[2]]))
