"""`kesoku` under odd circumstances: streams that are closed, full or no text, places that cannot be written."""

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import KESOKU, Home

pytestmark = pytest.mark.slow


def shell(home: Home, script: str, timeout: float = 120) -> "subprocess.CompletedProcess[str]":
    """Run a line of a shell, with the command as $K."""
    environment = home.environment | {"K": KESOKU}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        env=environment,
        cwd=home.work,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.mark.parametrize("arguments", [("",), ("  ",), ("--session", "", "hello"), ("--model", "", "hello")])
def test_an_empty_variable_of_a_script_is_a_wrong_command_line(home: Home, arguments: tuple[str, ...]) -> None:
    done = home.run("chat", *arguments)
    assert done.returncode == 2
    assert "it is empty" in done.stderr
    assert not home.database.exists()


def test_nothing_asked_is_nothing_done(home: Home) -> None:
    done = home.run("chat", given=" \n\t\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_closed_streams(home: Home, closed: str) -> None:
    done = shell(home, f'"$K" chat "run touch made" --yes {closed}')
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert (home.work / "made").exists()


def test_a_reader_that_leaves_ends_it_quietly(home: Home) -> None:
    done = shell(home, '"$K" chat "slow 600" | head -c1')
    assert done.stdout == "1"
    assert done.stderr == ""


def test_a_full_disk_at_the_output_is_told(home: Home) -> None:
    done = shell(home, '"$K" chat hello > /dev/full')
    assert done.returncode == 74
    assert done.stderr.endswith("kesoku: the output cannot be written (No space left on device)\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("given", [rb"h\xff\xfe", r"\0\x1b[2J 漢字 🎉 \r".encode()])
def test_any_bytes_are_a_message(home: Home, given: bytes) -> None:
    done = shell(home, f"printf '{given.decode()}' | \"$K\" chat")
    assert done.returncode == 0, done.stderr
    assert "do not understand this" in done.stdout


def test_an_argument_that_is_no_text_and_a_locale_without_letters(home: Home) -> None:
    home.environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = shell(home, "\"$K\" chat --json $'calculate \\xff 漢字'")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["text"] == "calculate \ufffd 漢字"


def test_a_prompt_of_a_hundred_kilobytes(home: Home) -> None:
    done = home.run("chat", "--json", given="x" * 100_000 + "\n")
    prompt, *_ = map(json.loads, done.stdout.splitlines())
    assert len(prompt["text"]) == 100_000
    assert done.returncode == 0


def test_a_question_that_nobody_answers_does_not_hold_up_the_next_message(home: Home) -> None:
    events = home.events(given="run touch made\nwhat is 6 * 7?\n")
    answers = [event["text"] for event in events if event["type"] == "answer"]
    assert ["42" in answer for answer in answers] == [False, True]  # one message a line
    assert not (home.work / "made").exists()


def test_a_channel_of_the_terminal_can_be_named(home: Home) -> None:
    for _ in range(2):
        assert "42" in home.run("chat", "--session", "cli:desk", "what is 6 * 7?").stdout
    assert "42" in home.run("chat", "what is 6 * 7?").stdout


def test_a_data_folder_that_cannot_be_made(home: Home) -> None:
    (home.folder / "data").write_text("a file", encoding="utf-8")
    for command in (("chat", "hello"), ("doctor",)):
        done = home.run(*command)
        assert done.returncode in {1, 74}
        assert str(home.database) in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_data_folder_of_somebody_else(home: Home) -> None:
    (home.folder / "data").mkdir(mode=0o500)
    done = home.run("chat", "hello")
    assert done.returncode == 74
    assert "Permission denied" in done.stderr


def test_a_relative_data_folder_is_ignored_as_the_standard_has_it(home: Home) -> None:
    home.environment["XDG_DATA_HOME"] = "data"
    assert home.run("chat", "hello").returncode == 0
    assert list(home.work.iterdir()) == []
    kept = home.folder / ".local/share/kesoku/kesoku.db"
    assert kept.exists()
    assert kept.parent.stat().st_mode & 0o077 == 0  # what people say is nothing for other users


def test_a_config_that_is_no_file_or_no_text(home: Home, tmp_path: Path) -> None:
    (tmp_path / "noise.toml").write_bytes(bytes(range(256)))
    for config in (tmp_path / "noise.toml", tmp_path, tmp_path / "missing.toml"):
        done = home.run("chat", "--config", str(config), "hello")
        assert done.returncode == 78
        assert str(config) in done.stderr
        assert "Traceback" not in done.stderr


def test_what_cannot_be_attached_is_said_and_the_rest_goes_along(home: Home) -> None:
    os.mkfifo(home.work / "pipe")
    (home.work / "notes.txt").write_text("buy milk", encoding="utf-8")
    (home.work / "link.txt").symlink_to("notes.txt")
    given = "/attach pipe missing.txt . link.txt\n/attach\nhello\n"
    notices = [event["text"] for event in home.events(given=given) if event["type"] == "notice"]
    assert notices == [
        "pipe cannot be attached: it is no regular file",
        "missing.txt cannot be attached: No such file or directory",
        ". cannot be attached: Is a directory",
        "notes.txt goes along with your next message",
        "/attach needs the name of a file, such as /attach photo.png",
    ]
    with closing(sqlite3.connect(home.database)) as connection:
        ((content,),) = connection.execute("SELECT content FROM messages WHERE kind = 'user_prompt'").fetchall()
    (file,) = json.loads(content)["attachments"]
    assert Path(file["path"]).read_text(encoding="utf-8") == "buy milk"


@pytest.mark.parametrize("name", ["missing.txt", ".", ""])
def test_a_file_that_cannot_be_read_is_a_wrong_command_line(home: Home, name: str) -> None:
    done = home.run("chat", "--attach", name, "hello")
    assert done.returncode == 2
    assert f"--attach: {name!r}" in done.stderr
