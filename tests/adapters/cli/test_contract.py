"""The terminal keeps the contract of adapters, spoken to over pipes."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from kesoku.adapter import Address, Manifest
from kesoku.testing.adapter_contract import AdapterContract
from kesoku.testing.rig import Rig
from kesoku_cli.config import CliConfig
from kesoku_cli.manifest import MANIFEST


class PipeRig:
    """A person at a terminal that is no terminal: lines go in by a pipe, JSON lines come out into a file."""

    person, stranger, chatbot_id = "local", "nobody", "cli"
    manifest: Manifest = MANIFEST

    def __init__(self, out: Path, patch: pytest.MonkeyPatch) -> None:
        self._out, self._patch = out, patch
        self._keyboard = -1
        self._open: list[TextIO] = []

    def adapter(self) -> Any:
        """One more sitting, with standard streams of its own."""
        reading, self._keyboard = os.pipe()
        stdin, stdout = os.fdopen(reading, encoding="utf-8"), self._out.open("a", encoding="utf-8")
        self._open += [stdin, stdout, os.fdopen(self._keyboard, "w", closefd=False)]
        self._patch.setattr(sys, "stdin", stdin)
        self._patch.setattr(sys, "stdout", stdout)
        return self.manifest.create(self.chatbot_id, CliConfig(output="json"))

    def address(self, room: str) -> Address:
        """There is one."""
        return Address(chatbot_id="cli", channel_id="cli")

    async def say(self, room: str, text: str, *, by: str, key: str | None = None, bot: bool = False) -> str:
        """Type a line."""
        os.write(self._keyboard, f"{text}\n".encode())
        return text

    async def choose(self, room: str, label: str, *, by: str) -> None:
        """Nobody can be asked behind a pipe: the default, which is no, was given at once."""
        assert label == "no"

    async def shown(self, room: str) -> list[str]:
        """What stands there, running replies left out."""
        events = [json.loads(line) for line in self._out.read_text(encoding="utf-8").splitlines()]
        words = ("text", "name", "summary")
        return [
            " ".join(str(each[word]) for word in words if word in each)
            for each in events
            if not each["type"].endswith("_delta")
        ]

    async def typing(self, room: str) -> list[bool]:
        """A terminal shows that a turn runs in its own way."""
        return []

    async def fail(self, room: str, kind: str) -> None:
        """There is no network between."""

    def close(self) -> None:
        """Let the readers go."""
        for each in reversed(self._open):
            each.close()


class TestTerminal(AdapterContract):
    adapter_name = "cli"

    @pytest.fixture
    def rig(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
        rig = PipeRig(tmp_path / "out", monkeypatch)
        yield rig
        rig.close()
