"""The platforms of the crash kit: journals that outlive every process, and an adapter that is watched at work."""

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from kesoku.adapter import Address, Manifest, Outgoing, Receipt, Record
from kesoku.testing.crash.watch import Side, Watch
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import PLAIN, SHOW_ALL, RecordingAdapter, recording_manifest

_DAY = 86_400.0


class Platform(StrEnum):
    """What a platform does for the one who sends twice; its value is also the chatbot_id of its bot."""

    KEYED = "keyed"
    """It honours send keys."""
    FINDING = "finding"
    """It knows no keys, but what was sent can be looked up."""
    PLAIN = "plain"
    """Neither."""

    def journal(self, path: Path) -> RecordedPlatform:
        """The platform that a journal file keeps."""
        return RecordedPlatform(journal=path, honours_keys=self is Platform.KEYED)


class WatchedAdapter(RecordingAdapter):
    """Its sends are points, and it tells what the platform took and what was delivered."""

    def __init__(self, *, watch: Watch, **facts: Any) -> None:
        super().__init__(**facts)
        self._watch = watch

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Show one part."""
        self._watch.passing("send", Side.BEFORE)
        receipt = await super().send(address, outgoing, key)
        self._watch.trace.write("sent", channel=address.channel_id, key=key, id=receipt.platform_ids[0])
        self._watch.passing("send", Side.AFTER)
        return receipt

    async def delivered(self, record: Record, receipts: Sequence[Receipt]) -> None:
        """The ledger has it."""
        self._watch.trace.write("delivered", message=record.id)


def manifest(bot: str, journal: Path, watch: Watch) -> Manifest:
    """The adapter of one bot. A text of more than a line goes out in several parts."""
    platform = Platform(bot)
    keyed = platform is Platform.KEYED
    return recording_manifest(
        name=bot,
        platform=platform.journal(journal),
        visibility=SHOW_ALL if keyed else PLAIN,
        kind=partial(WatchedAdapter, watch=watch),
        max_text=60,
        key_window=_DAY if keyed else 0.0,
        find=platform is Platform.FINDING,
        catch_up=keyed,
    )
