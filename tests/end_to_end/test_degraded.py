"""The command on a disk that is full, over a damaged file, and with a prompt that kills it."""

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from kesoku.testing.disk import fill, small_disk
from kesoku.testing.waiting import becomes

from .conftest import PLUGIN, Home, RemoteBot

pytestmark = pytest.mark.slow

POISON = """
import os
import signal


async def poison(context):
    if "poison" in context.prompts[-1].rendered:
        os.kill(os.getpid(), signal.SIGKILL)
    return []
"""


def test_a_prompt_that_kills_its_process_ends_after_three_deaths(remote: RemoteBot) -> None:  # I12
    plugins = remote.home.folder / "plugins"
    (plugins / "recording_plugin.py").write_text(PLUGIN + POISON, encoding="utf-8")
    with (plugins / "recording_plugin-0.dist-info" / "entry_points.txt").open("a", encoding="utf-8") as entries:
        entries.write("[kesoku.hooks]\npoison = recording_plugin:poison\n")
    remote.platform.say("kitchen", "poison")
    for _ in range(3):
        assert remote.home.start("run").wait(timeout=120) == -signal.SIGKILL
    run = remote.home.start("run")
    (told,) = remote.shows("kitchen", "I broke down 3 times")
    assert "ask in another way" in told
    remote.platform.say("kitchen", "what is 6 * 7?")
    remote.shows("kitchen", "42")
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=120) == 143


def test_a_damaged_page_is_said_clearly_and_left_as_it_is(home: Home) -> None:
    assert "42" in home.run("chat", "what is 6 * 7?").stdout
    with closing(sqlite3.connect(home.database)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'events'").fetchone()
    junk = b"\xa5" * size
    with home.database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(junk)
    done = home.run("chat", "what is 6 * 7?")
    assert done.returncode == 74
    assert f"{home.database} is damaged" in done.stderr
    assert "Traceback" not in done.stderr
    assert home.database.read_bytes()[(page - 1) * size : page * size] == junk


@pytest.fixture
def disk(home: Home) -> Path:
    """The data of the home on a small file system of its own."""
    data = home.folder / "small"
    home.environment["XDG_DATA_HOME"] = str(data)
    return data


def test_who_waits_at_a_terminal_is_told_that_the_disk_is_full(home: Home, disk: Path) -> None:
    # complaint 135
    database = disk / "kesoku" / "kesoku.db"
    with small_disk(disk, size="3m"):
        chat = home.start("chat", "slow 1", stderr=subprocess.STDOUT)
        becomes(lambda: _runs(database))
        ballast = fill(disk)
        seen = ""
        while "[waiting]" not in seen:
            seen += chat.stdout.readline()  # type: ignore[union-attr]
        assert f"the disk of {database} is full" in seen
        chat.send_signal(signal.SIGINT)
        rest, _ = chat.communicate(timeout=120)
        assert chat.returncode == 74
        assert "is full" in rest
        assert "Traceback" not in seen + rest
        ballast.unlink()
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("SELECT count(*) FROM messages WHERE kind = 'user_prompt'").fetchone() == (1,)


def _runs(database: Path) -> bool:
    if not database.exists():
        return False
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'leases'").fetchone()[0]
        return bool(found and connection.execute("SELECT count(*) FROM leases WHERE owner IS NOT NULL").fetchone()[0])
