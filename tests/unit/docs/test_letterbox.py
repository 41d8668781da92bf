"""The adapter of docs/how-to/write-an-adapter.md keeps the contract."""

import errno
import importlib.util
import json
import os
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter import Address, Outgoing, Refused, Severity
from kesoku.testing.adapter_contract import AdapterContract
from kesoku.testing.rig import Rig, Stage, said

EXAMPLE = Path(__file__).parents[3] / "docs/examples/letterbox/letterbox.py"


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("letterbox", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


letterbox = _load()


class LetterboxRig:
    """The folder and the people who write and read in it."""

    manifest = letterbox.MANIFEST
    chatbot_id = "letters"
    person, stranger = "ada", "eve"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "room" / "in").mkdir(parents=True)
        self._keys = count(1)
        self._failures: list[str] = []

    def adapter(self) -> Any:
        """A fresh adapter over the same folder, on a disk that fails when told to."""
        config = letterbox.LetterboxConfig(folder=self.folder, poll_seconds=0.01)
        return letterbox.create(self.chatbot_id, config, write=self._write)

    def address(self, room: str) -> Address:
        """A room is a folder."""
        return Address(chatbot_id=self.chatbot_id, channel_id=room)

    async def say(self, room: str, text: str, *, by: str, key: str | None = None, bot: bool = False) -> str:
        """Put a letter in."""
        key = key or f"{next(self._keys):04}"
        letter = json.dumps({"by": by, "text": text, "bot": bot})
        letterbox.write_file(self.folder / room / "in" / f"{key}.json", letter)
        return key

    async def choose(self, room: str, label: str, *, by: str) -> None:
        """Write the number of a choice."""
        asked = next(text for text in reversed(await self.shown(room)) if f". {label}" in text)
        line = next(each for each in asked.splitlines() if each.endswith(f". {label}"))
        await self.say(room, line.partition(".")[0], by=by)

    async def shown(self, room: str) -> list[str]:
        """Read what came out."""
        return [path.read_text(encoding="utf-8") for path in sorted((self.folder / room / "out").glob("*.md"))]

    async def typing(self, room: str) -> list[bool]:
        """A letterbox shows no typing."""
        return []

    async def fail(self, room: str, kind: str) -> None:
        """The next write in any room fails."""
        self._failures.append(kind)

    def _write(self, path: Path, text: str) -> None:
        kind = self._failures.pop(0) if self._failures else None
        if kind in {None, "arrived"}:
            letterbox.write_file(path, text)
        if kind is not None:
            raise OSError({"refuse": errno.EACCES, "retry": errno.ENOSPC}.get(kind, errno.EIO), "made by a test")


class TestLetterbox(AdapterContract):
    adapter_name = "letterbox"

    @pytest.fixture
    def rig(self, tmp_path: Path) -> Rig:
        return LetterboxRig(tmp_path / "rooms")


async def test_what_is_no_letter_is_put_aside_and_the_next_one_read(tmp_path: Path) -> None:
    rig = LetterboxRig(tmp_path / "rooms")
    letterbox.write_file(rig.folder / "room" / "in" / "0000.json", "no json")
    async with Stage(rig, tmp_path).running() as bot:
        await rig.say("room", "hello", by=rig.person)
        await said(bot, "hello")
        assert [text for _, text in bot.healthy if "0000.json is no letter" in text]
    assert [path.name for path in (rig.folder / "room" / "in").iterdir()] == ["0000.unreadable"]


@pytest.mark.parametrize("room", ["..", "../elsewhere", "a/b", "nowhere"])
async def test_it_writes_to_rooms_that_are_there_and_nowhere_else(tmp_path: Path, room: str) -> None:
    rig = LetterboxRig(tmp_path / "rooms")
    for each in ("rooms/a/b", "elsewhere"):
        (tmp_path / each).mkdir(parents=True)
    with pytest.raises(Refused):
        await rig.adapter().send(rig.address(room), Outgoing(text="hi"), "key")
    assert [folder for folder, _, files in os.walk(tmp_path) if files] == []


async def test_doctor_names_a_missing_folder(tmp_path: Path) -> None:
    config = letterbox.LetterboxConfig(folder=tmp_path / "none")
    (finding,) = await letterbox.MANIFEST.doctor("letters", config)
    assert (finding.severity, finding.fix) == (Severity.ERROR, f"mkdir -p {tmp_path}/none")
