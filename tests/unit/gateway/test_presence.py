"""Who lives, and who serves what, between real processes."""

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kesoku.errors import RunDirectoryUnusable, ServedElsewhere
from kesoku.gateway import Presence
from kesoku.gateway.presence import DAY
from kesoku.messages.record import Address

CLI = Address(chatbot_id="cli", channel_id="cli")
OTHER = Address(chatbot_id="cli", channel_id="../../etc/passwd \N{SNOWMAN}" + "x" * 500)

CHILD = """
import sys
import threading
from pathlib import Path
from kesoku.gateway import Presence
from kesoku.messages.record import Address
presence = Presence(Path(sys.argv[1]))
presence.serve([Address(chatbot_id="cli", channel_id="cli")])
print(presence.owner, flush=True)
sys.stdin.read()
"""


@contextmanager
def another(directory: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves the terminal; killed at the end."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        try:
            yield child, child.stdout.readline().strip()
        finally:
            child.kill()


def test_the_living_keep_their_keys_and_the_killed_lose_them(tmp_path: Path) -> None:
    # C-32
    with Presence(tmp_path) as mine, another(tmp_path) as (child, owner):
        assert not mine.is_dead(owner)
        assert not mine.is_dead(mine.owner)
        with pytest.raises(ServedElsewhere) as refused:
            mine.serve([OTHER, CLI])
        assert (refused.value.key, refused.value.pid) == ("cli:cli", child.pid)
        assert str(child.pid) in str(refused.value)
        assert mine.holder(CLI) == child.pid
        assert mine.holder(OTHER) is None, "all or nothing"
        child.kill()
        child.wait()
        assert mine.is_dead(owner)
        assert mine.is_dead(owner), "asking does not change it"
        assert mine.holder(CLI) is None
        mine.serve([OTHER, CLI])
        assert mine.holder(CLI) == os.getpid()


def test_two_in_one_process_are_told_apart(tmp_path: Path) -> None:
    one, two = Presence(tmp_path), Presence(tmp_path)
    assert one.owner != two.owner
    serving = one.serve([CLI, OTHER])
    assert serving.addresses == {CLI, OTHER}
    assert one.serve([CLI]).covers(CLI)
    with pytest.raises(ServedElsewhere):
        two.serve([CLI])
    one.withdraw([CLI])
    two.serve([CLI])
    with pytest.raises(ServedElsewhere):
        one.serve([CLI])
    assert not two.is_dead(one.owner)
    one.close()
    assert two.is_dead(one.owner)
    two.close()
    two.close()


def test_other_hosts_and_unknown_owners_are_not_dead(tmp_path: Path) -> None:
    with Presence(tmp_path) as mine:
        (tmp_path / "elsewhere-1-abc.lock").touch()
        assert not mine.is_dead("elsewhere-1-abc"), "locks do not reach over the network"
        assert not mine.is_dead(mine.owner + "x")
        host = mine.owner.rsplit("-", 2)[0]
        assert not mine.is_dead(f"{host}-1-/../x")


def test_children_do_not_keep_our_locks(tmp_path: Path) -> None:
    one = Presence(tmp_path)
    one.serve([CLI])
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as child:
        one.close()
        with Presence(tmp_path) as two:
            assert two.is_dead(one.owner)
            two.serve([CLI])
        child.kill()


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunDirectoryUnusable) as refused:
        Presence(tmp_path / "file" / "run")
    assert str(tmp_path) in str(refused.value)
    with Presence(tmp_path / "new" / "run") as mine:
        assert (tmp_path / "new" / "run").stat().st_mode & 0o777 == 0o700
        (tmp_path / "new" / "run" / f"{mine.owner}x.lock").mkdir()
        assert not mine.is_dead(f"{mine.owner}x")


def test_old_files_are_swept(tmp_path: Path) -> None:
    with Presence(tmp_path) as alive:
        dead, fresh = Presence(tmp_path), Presence(tmp_path)
        dead.close()
        fresh.close()
        long_ago = time.time() - DAY - 1
        for owner in (alive.owner, dead.owner):
            os.utime(tmp_path / f"{owner}.lock", (long_ago, long_ago))
        with Presence(tmp_path) as last:
            assert sorted(each.stem for each in tmp_path.glob("*.lock")) == sorted(
                [alive.owner, fresh.owner, last.owner]
            )


def test_questions_of_others_do_not_look_like_servers(tmp_path: Path) -> None:
    with Presence(tmp_path) as one, Presence(tmp_path) as two:
        one.serve([CLI])
        file = next(tmp_path.glob("*.serve"))
        one.withdraw([CLI])
        file.write_text('{"pid": 1}')
        for _ in range(20):  # on a busy machine the end of the question may come too late, but not every time
            question = os.open(file, os.O_RDWR)
            fcntl.flock(question, fcntl.LOCK_SH)
            answered = threading.Timer(0.02, os.close, [question])
            answered.start()
            assert two.holder(CLI) is None, "two may ask at once"
            with suppress(ServedElsewhere):
                two.serve([CLI])
            answered.join()
            if one.holder(CLI):
                break
        assert one.holder(CLI) == os.getpid()


def test_processes_that_start_at_once_never_share_a_key(tmp_path: Path) -> None:
    presences = [Presence(tmp_path) for _ in range(8)]
    serving, most = [0], [0]

    def race(presence: Presence) -> None:
        for _ in range(100):
            presence.holder(CLI)
            try:
                presence.serve([CLI])
            except ServedElsewhere:
                continue
            serving[0] += 1
            time.sleep(0)
            most[0] = max(most[0], serving[0])
            serving[0] -= 1
            presence.withdraw([CLI])

    threads = [threading.Thread(target=race, args=[each]) for each in presences]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most == [1]
    for presence in presences:
        presence.close()


def test_a_server_whose_file_says_nothing_still_holds_its_key(tmp_path: Path) -> None:
    with Presence(tmp_path) as one, Presence(tmp_path) as two:
        one.serve([CLI])
        for each in tmp_path.glob("*.serve"):
            each.write_text("no json")
        assert two.holder(CLI) is None
        with pytest.raises(ServedElsewhere) as refused:
            two.serve([CLI])
        assert refused.value.pid is None
        assert "another process" in str(refused.value)
