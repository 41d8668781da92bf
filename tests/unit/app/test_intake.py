"""What the config says about taking messages in reaches the adapters."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from kesoku.adapter import Address, Inbox, Principal
from kesoku.app import App, Job
from kesoku.app.cast import Cast
from kesoku.config import Config, Loaded
from kesoku.config.schema import LimitsTable, StoreTable
from kesoku.llm.offline import OfflineModel
from kesoku.testing.recording import RecordingAdapter, RecordingConfig, recording_manifest


class Probe(RecordingAdapter):
    """Writes down what its inbox makes of a name and a file, and ends."""

    noted: tuple[str, str | None]

    async def run(self, inbox: Inbox) -> None:
        line = inbox.header(Principal(user_id="1", display_name="Ada"), datetime(2026, 5, 27, 12, 50, tzinfo=UTC))
        here = Address(chatbot_id=self.chatbot_id, channel_id="room")
        file = await inbox.stage(here, "a.txt", _five_bytes(), mime_type="text/plain")
        self.noted = (line, file.skipped)


async def _five_bytes() -> AsyncIterator[bytes]:
    yield b"12345"


async def test_time_zone_and_file_size_of_the_config_hold_in_the_inbox_of_every_bot(tmp_path: Path) -> None:
    config = Config(
        timezone="Asia/Singapore",
        timezone_label="SGT",
        limits=LimitsTable(file_bytes=4),
        store=StoreTable(path=tmp_path / "kesoku.db"),
    )
    job = Job(bots={"probe": (recording_manifest(kind=Probe), RecordingConfig())})
    loaded = Loaded(config=config, warnings=(), path=None, secrets=frozenset())
    async with App(loaded, job, Cast(config, (OfflineModel(),))) as app:
        await app.run()
    assert app.bots[0].adapter.noted == ("`Ada` at `2026-05-27 20:50:00 SGT`:\n", "it is larger than 4 bytes")
