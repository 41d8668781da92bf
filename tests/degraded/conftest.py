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
from kesoku.testing.bench import EVERYTHING
from kesoku.testing.disk import small_disk
from kesoku.testing.model import Line, ScriptedModel
from kesoku.testing.office import Office
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import PLAIN, recording_manifest
from kesoku.testing.station import Station, until

BOT = "discord"
ROOM, HALL = "room", "hall"


class Bot:
    """One bot; `clock` is virtual, and `station` its latest adapter with its outbox."""

    def __init__(self, office: Office, platform: RecordedPlatform, model: ScriptedModel, folder: Path) -> None:
        self.office, self.platform, self.model, self.folder = office, platform, model, folder
        self.store, self.clock = office.store, office.clock
        self.station: Station | None = None

    @asynccontextmanager
    async def restarted(self) -> AsyncIterator[Station]:
        """A fresh adapter with its outbox, in place of the one that ran before."""
        manifest = recording_manifest(
            name=BOT, platform=self.platform, visibility=PLAIN, key_window=60.0, media_out=True, max_file=1_000_000
        )
        if self.station is not None:
            await self.station.__aexit__(None, None, None)
        self.station = Station(
            manifest=manifest, store=self.store, gateway=self.office.gateway, clock=self.clock, folder=self.folder
        )
        async with self.station as running:
            yield running

    async def shows(self, channel: str, text: str, *, turn: float = 0.0) -> list[str]:
        """Wait until people see a text, letting `turn` virtual seconds pass at each look; what they see then."""

        async def shown() -> bool:
            if turn:
                await self.clock.advance(turn)
            return any(text in each for each in self.platform.texts(channel))

        await until(shown, what=f"{text!r} is shown; there is {self.platform.texts()}")
        return self.platform.texts(channel)

    async def waits_for_a_retry(self) -> None:
        """Wait until a part waits for its next attempt."""

        async def there() -> bool:
            parts = await self.store.read(lambda tx: tx.deliveries.by_state(EVERYTHING, DeliveryState.PLANNED))
            return any(part.next_attempt_at for part in parts)

        await until(there, what="a part waits for another attempt")

    async def settled(self, *, turn: float = 0.0) -> None:
        """Wait until no message waits for anything."""
        open_ = {MessageStatus.PENDING_AGENT, MessageStatus.PROCESSING, MessageStatus.PENDING}

        async def over() -> bool:
            if turn:
                await self.clock.advance(turn)
            return not any(each.status in open_ for each in await self.records())

        await until(over, what="everything is settled")

    async def records(self) -> list[Record]:
        """Everything that was stored, as it stands now."""
        changes = await self.store.read(lambda tx: tx.events.after(0, 100_000))
        return list({each.record.id: each.record for each in changes}.values())


@asynccontextmanager
async def bot_at_work(store: Store, folder: Path, *lines: Line, **options: Any) -> AsyncIterator[Bot]:
    """A bot at work; `options` are those of an Office, `owner` names its process, `platform` is what people see."""
    owner = options.pop("owner", "w1")
    model = ScriptedModel(*lines)
    platform = options.pop("platform", None) or RecordedPlatform(honours_keys=True)
    office = Office(model, store=store, **options)
    office.approver = Approvals(store, office.clock)  # type: ignore[assignment]
    bot = Bot(office, platform, model, folder)
    async with office.at_work(owner), bot.restarted():
        yield bot


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    with small_disk(tmp_path / "disk", size="3m") as folder:
        yield folder
