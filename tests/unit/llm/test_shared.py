"""Facts that processes share: exact under contention, private, and never a caller's trouble."""

import asyncio
import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kesoku.llm.shared import Shared
from kesoku.testing.waiting import PATIENCE

COUNT = """
import asyncio, sys
from pathlib import Path
from kesoku.llm.shared import Shared

async def main() -> None:
    shared = Shared(Path(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        await shared.update("count", lambda old: ((old or 0) + 1, None))

asyncio.run(main())
"""

FLOOD = """
import asyncio, sys
from pathlib import Path
from kesoku.llm.shared import Shared

async def main() -> None:
    shared = Shared(Path(sys.argv[1]))
    for n in range(1_000_000):
        await shared.update("flood", lambda old: ([n % 10] * 100_000, None))
        print(n, flush=True)

asyncio.run(main())
"""


def add(old: Any) -> tuple[int, int]:
    """One more than before, which is also the answer."""
    new = (old if isinstance(old, int) else 0) + 1
    return new, new


async def count(shared: Shared, times: int) -> None:
    """Add, several times at once."""
    await asyncio.gather(*(shared.update("count", add) for _ in range(times)))


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, Path("/x/kesoku")),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, Path("/h/.local/state/kesoku")),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, Path("/h/.local/state/kesoku")),
        ({"HOME": "relative"}, None),
        ({}, None),
    ],
    ids=["xdg", "empty", "relative", "no-root", "nothing"],
)
def test_where_the_facts_live(environment: dict[str, str], folder: Path | None) -> None:
    assert Shared.of(environment)._folder == folder


async def test_a_fact_is_a_private_file_and_none_removes_it(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "kesoku"
    shared = Shared(folder)
    assert await shared.read("limiter") is None
    assert not folder.exists()
    assert await shared.update("limiter", lambda old: ({"at": 1.5, "was": old}, "done")) == "done"
    assert await Shared(folder).read("limiter") == {"at": 1.5, "was": None}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    before = (folder / "limiter.json").stat()
    await shared.update("limiter", lambda old: (old, None))
    assert (folder / "limiter.json").stat() == before
    await shared.update("limiter", lambda _: (None, None))
    assert not (folder / "limiter.json").exists()


async def test_subjects_are_names_not_paths(tmp_path: Path) -> None:
    folder = tmp_path / "kesoku"
    shared = Shared(folder)
    subjects = ["../out", "tunedModels/x", "a b", "é", "x" * 900, "."]
    for subject in subjects:
        await shared.update(subject, lambda _: (subject, None))  # noqa: B023 -- called before the next
    assert [await shared.read(subject) for subject in subjects] == subjects
    assert len(list(folder.glob("*.json"))) == len(subjects)
    assert [path.name for path in folder.parent.iterdir()] == ["kesoku"]


def test_processes_and_loops_of_one_process_never_lose_an_update(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COUNT, str(tmp_path), "25"]
    others = [subprocess.Popen(command) for _ in range(2)]
    threads = [threading.Thread(target=lambda: asyncio.run(count(Shared(tmp_path), 25))) for _ in range(2)]
    for thread in threads:
        thread.start()
    asyncio.run(count(Shared(tmp_path), 25))
    for thread in threads:
        thread.join()
    assert [other.wait() for other in others] == [0, 0]
    assert asyncio.run(Shared(tmp_path).read("count")) == 125


def _text(text: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(text)


@pytest.mark.parametrize(
    "spoil",
    [
        _text(b""),
        _text(b"{"),
        _text(b"\xff\xfe"),
        _text(b"[" * 200_000),
        _text(b"9" * 5_000),
        _text(b" " * (1 << 21)),
        lambda path: path.mkdir(),
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path),
    ],
    ids=["empty", "cut", "no-text", "deep", "huge-number", "huge", "folder", "pipe", "link", "loop"],
)
@pytest.mark.parametrize("kind", ["json", "new", "lock"])
async def test_a_spoilt_file_is_no_fact_and_no_failure(
    spoil: Callable[[Path], object], kind: str, tmp_path: Path
) -> None:
    spoil(tmp_path / f"count.{kind}")
    shared = Shared(tmp_path)
    assert await shared.read("count") is None
    assert [await shared.update("count", add) for _ in range(3)] == [1, 2, 3]
    assert await Shared(tmp_path).read("count") == 3


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 300, "nul\0"], ids=["file", "below", "long", "nul"])
async def test_without_a_folder_facts_live_in_the_process(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    shared = Shared(tmp_path / name)
    assert [await shared.update("count", add) for _ in range(2)] == [1, 2]
    assert await Shared(tmp_path / name).read("count") == 2
    assert await Shared(None).read("count") is None


async def test_a_disk_that_recovers_gets_the_fact_of_the_memory(tmp_path: Path) -> None:
    shared = Shared(tmp_path / "kesoku")
    (tmp_path / "kesoku").write_text("in the way")
    await shared.update("count", add)
    (tmp_path / "kesoku").unlink()
    assert await shared.update("count", add) == 2
    assert (tmp_path / "kesoku" / "count.json").read_text() == "2"
    (tmp_path / "kesoku" / "count.json").write_text("7")
    assert await shared.read("count") == 7


async def test_without_a_disk_no_update_is_lost_either() -> None:
    shared = Shared(None)

    def slow(old: Any) -> tuple[int, int]:
        time.sleep(0.001)
        return add(old)

    await asyncio.gather(*(shared.update("count", slow) for _ in range(20)))
    assert await shared.read("count") == 20


async def test_a_cancelled_or_failed_update_leaves_no_lock(tmp_path: Path) -> None:
    shared = Shared(tmp_path)
    entered, leave = threading.Event(), threading.Event()

    def slow(old: Any) -> tuple[int, int]:
        entered.set()
        leave.wait(PATIENCE)
        return add(old)

    task = asyncio.create_task(shared.update("count", slow))
    await asyncio.to_thread(entered.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    leave.set()
    assert await shared.update("count", add) == 2
    with pytest.raises(ZeroDivisionError):
        await shared.update("count", lambda old: (old / 0, None))
    with pytest.raises(TypeError):
        await shared.update("count", lambda _: (object(), None))
    assert await shared.update("count", add) == 3
    with (tmp_path / "count.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_killed_or_stopped_process_blocks_nobody(tmp_path: Path) -> None:
    hold = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(tmp_path / "count.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        other.send_signal(signal.SIGSTOP)
        counted, took = [], []
        for _ in range(10):
            began = time.monotonic()
            counted.append(asyncio.run(Shared(tmp_path).update("count", add)))
            took.append(time.monotonic() - began)
        other.kill()
    assert counted == list(range(1, 11))
    assert took[0] >= 0.5
    assert min(took[1:]) < 0.5, "one waits once, not ten times"
    assert asyncio.run(Shared(tmp_path).update("count", add)) == 11


def test_a_kill_at_any_point_leaves_a_whole_fact(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FLOOD, str(tmp_path)]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            other.kill()
        fact = asyncio.run(Shared(tmp_path).read("flood"))
        assert len(fact) == 100_000
        assert len(set(fact)) == 1


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    shared = Shared(tmp_path)
    await shared.read("folder")
    before = os.dup(0)
    os.close(before)
    for subject in ("folder", "count") * 5:
        await shared.update(subject, add)
        await shared.read(subject)
    after = os.dup(0)
    os.close(after)
    assert after == before
