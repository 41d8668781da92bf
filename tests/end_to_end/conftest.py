"""Runs the real command in a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.waiting import becomes

from ..forkserver import ForkedPopen, ForkServer  # noqa: TID252

KESOKU = str(Path(sys.executable).with_name("kesoku"))


@dataclass
class Home:
    """A user's home: data, config and working folder."""

    folder: Path
    environment: dict[str, str]
    forkserver: ForkServer
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def database(self) -> Path:
        return self.folder / "data" / "kesoku" / "kesoku.db"

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """Start the command with pipes, as a fork; it is ended with the test."""
        settings: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "encoding": "utf-8",
            "cwd": self.work,
            "env": self.environment,
        }
        process = ForkedPopen(self.forkserver, [KESOKU, *arguments], **(settings | options))
        self.started.append(process)
        return process

    def run(
        self, *arguments: str, given: str | None = None, timeout: float = 120
    ) -> "subprocess.CompletedProcess[str]":
        """Run the command to its end."""
        process = self.start(*arguments, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE)
        out, err = process.communicate(given, timeout=timeout)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def events(self, *arguments: str, given: str | None = None) -> list[dict[str, Any]]:
        """What `kesoku chat --json` prints."""
        done = self.run("chat", "--json", *arguments, given=given)
        assert done.returncode in {0, 1}, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


PLUGIN = """\
from kesoku.testing.recording import PLAIN, recording_manifest

MANIFEST = recording_manifest(key_window=60.0, visibility=PLAIN)
"""


@dataclass
class RemoteBot:
    """A platform in a file, with the adapter for it installed beside Kesoku."""

    home: Home
    platform: RecordedPlatform

    def shows(self, channel: str, *texts: str, timeout: float = 120) -> list[str]:
        """Wait until people see all these texts in a channel; what they see then."""

        def shown() -> list[str]:
            return self.platform.texts(channel)

        becomes(lambda: all(any(text in each for each in shown()) for text in texts), seconds=timeout, told=shown)
        return shown()


@pytest.fixture
def remote(home: Home) -> RemoteBot:
    """`kesoku run` would serve one bot, named `room`, open to everyone, with the offline model."""
    plugins = home.folder / "plugins"
    facts = plugins / "recording_plugin-0.dist-info"
    facts.mkdir(parents=True)
    (plugins / "recording_plugin.py").write_text(PLUGIN, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: recording-plugin\nVersion: 0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(
        "[kesoku.adapters]\nrecording = recording_plugin:MANIFEST\n", encoding="utf-8"
    )
    home.environment["PYTHONPATH"] = str(plugins)
    journal = home.folder / "journal"
    (home.work / "config.toml").write_text(
        f"""
        [agent]
        model = "offline"
        [adapters.room]
        type = "recording"
        allow = ["everyone"]
        journal = "{journal}"
        """,
        encoding="utf-8",
    )
    return RemoteBot(home=home, platform=RecordedPlatform(journal=journal))


@pytest.fixture
def home(tmp_path: Path, forkserver: ForkServer) -> Iterator[Home]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "COV", "LANG", "PYTHON"))}
    environment = kept | {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "NO_PROXY": "*",
    }
    made = Home(folder=tmp_path, environment=environment, forkserver=forkserver)
    made.work.mkdir()
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def gemini(home: Home) -> Iterator[LoopbackGemini]:
    """A loopback Gemini that the command finds by key and address."""
    with LoopbackGemini.in_thread() as server:
        home.environment |= {"GEMINI_API_KEY": "test-key", "GOOGLE_GEMINI_BASE_URL": server.base_url}
        yield server
