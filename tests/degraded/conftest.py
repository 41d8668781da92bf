"""A whole bot over one store: a platform with people, adapter, outbox, dispatcher, worker and a scripted model."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.question import Approvals
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import DeliveryState
from kesoku.messages.record import Record
from kesoku.ports import Store
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.disk import small_disk
from kesoku.testing.gateway_harness import EVERYTHING
from kesoku.testing.model import Line, ScriptedModel
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import PLAIN, recording_manifest
from kesoku.testing.waiting import until

BOT = "discord"
ROOM, HALL = "room", "hall"


class Bot:
    """One bot; `clock` is virtual, and `runner` its latest adapter with its outbox."""

    def __init__(self, harness: AgentHarness, platform: RecordedPlatform, model: ScriptedModel, folder: Path) -> None:
        self.harness, self.platform, self.model, self.folder = harness, platform, model, folder
        self.store, self.clock = harness.store, harness.clock
        self.runner: AdapterRunner | None = None

    @asynccontextmanager
    async def restarted(self) -> AsyncIterator[AdapterRunner]:
        """A fresh adapter with its outbox, in place of the one that ran before."""
        manifest = recording_manifest(
            name=BOT, platform=self.platform, visibility=PLAIN, key_window=60.0, media_out=True, max_file=1_000_000
        )
        if self.runner is not None:
            await self.runner.__aexit__(None, None, None)
        self.runner = AdapterRunner(
            manifest=manifest, store=self.store, gateway=self.harness.gateway, clock=self.clock, folder=self.folder
        )
        async with self.runner as running:
            yield running

    async def shows(self, channel: str, text: str, *, advance: float = 0.0) -> list[str]:
        """Wait until people see a text, letting `advance` virtual seconds pass at each look; what they see then."""

        async def shown() -> bool:
            if advance:
                await self.clock.advance(advance)
            return any(text in each for each in self.platform.texts(channel))

        await until(shown, what=f"{text!r} is shown; there is {self.platform.texts()}")
        return self.platform.texts(channel)

    async def waits_for_a_retry(self) -> None:
        """Wait until a part waits for its next attempt."""

        async def there() -> bool:
            parts = await self.store.read(lambda tx: tx.deliveries.by_state(EVERYTHING, DeliveryState.PLANNED))
            return any(part.next_attempt_at for part in parts)

        await until(there, what="a part waits for another attempt")

    async def settled(self, *, advance: float = 0.0) -> None:
        """Wait until no message waits for anything."""
        open_ = {MessageStatus.PENDING_AGENT, MessageStatus.PROCESSING, MessageStatus.PENDING}

        async def over() -> bool:
            if advance:
                await self.clock.advance(advance)
            return not any(each.status in open_ for each in await self.records())

        await until(over, what="everything is settled")

    async def records(self) -> list[Record]:
        """Everything that was stored, as it stands now."""
        changes = await self.store.read(lambda tx: tx.events.after(0, 100_000))
        return list({each.record.id: each.record for each in changes}.values())


@asynccontextmanager
async def bot_at_work(store: Store, folder: Path, *lines: Line, **options: Any) -> AsyncIterator[Bot]:
    """A bot at work; `options` go to `AgentHarness`, `owner` names its process, `platform` is what people see."""
    owner = options.pop("owner", "w1")
    model = ScriptedModel(*lines)
    platform = options.pop("platform", None) or RecordedPlatform(honours_keys=True)
    harness = AgentHarness(model, store=store, **options)
    harness.approver = Approvals(store, harness.clock)  # type: ignore[assignment]
    bot = Bot(harness, platform, model, folder)
    async with harness.at_work(owner), bot.restarted():
        yield bot


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    with small_disk(tmp_path / "disk", size="3m") as folder:
        yield folder
