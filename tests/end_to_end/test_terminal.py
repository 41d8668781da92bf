"""The real `kesoku chat` in a pseudo-terminal, judged by its screen, its exit code and the database."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count
from typing import Any

import pytest

from kesoku.testing.waiting import becomes
from tests.cost import is_within

from ..adapters.cli.conftest import Terminal  # noqa: TID252
from .conftest import KESOKU, Home

pytestmark = pytest.mark.slow

Chat = Callable[..., "Sitting"]


class Sitting(Terminal):
    """`kesoku chat` on a terminal of its own."""

    def __init__(self, home: Home, *arguments: str, environ: Mapping[str, str] = {}, **options: Any) -> None:
        environ = home.environment | {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environ}
        super().__init__(KESOKU, "chat", *arguments, environ=environ, cwd=home.work, **options)

    def ready(self) -> "Sitting":
        """Wait for the input line."""
        self.wait(lambda: any(row.startswith("›") for row in self.visible()), "the input line")
        return self

    def say(self, text: str) -> None:
        """Type a message and send it."""
        self.type(f"{text}\r")

    def answered(self, count: int = 1) -> None:
        """Wait until so many answers stand there with their figures, and nothing runs."""
        self.wait(lambda: self.text().count(" tokens") >= count and self.is_idle, f"{count} answers")

    @property
    def is_idle(self) -> bool:
        """Whether the last row is an empty input line, and no spinner turns above it."""
        rows = [row for row in self.visible() if row]
        return bool(rows) and rows[-1] == "›" and not any(row[:1] in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" for row in rows[-2:])

    def colours(self, text: str) -> set[str]:
        """The colours of the frame in front of a text, wherever a row has it."""
        buffer, found = self.screen.buffer, set()
        for y in range(self.screen.lines):
            row = "".join(buffer[y][x].data for x in range(self.screen.columns))
            if text in row:
                found |= {buffer[y][x].fg for x in range(row.index(text)) if buffer[y][x].data in "│╭─"}
        return found

    def left(self) -> int:
        """The exit code; the terminal must be as it was, with the cursor shown and pasting off."""
        code = self.end()
        assert self.attributes == self.before
        assert not self.screen.cursor.hidden
        assert self.received.rfind(b"\x1b[?2004l") > self.received.rfind(b"\x1b[?2004h")
        return code


@pytest.fixture
def chat(home: Home) -> Iterator[Chat]:
    """Sit down; everyone leaves with the test."""
    started: list[Sitting] = []

    def start(*arguments: str, **options: object) -> Sitting:
        started.append(Sitting(home, *arguments, **({"forkserver": home.forkserver} | options)))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for each in started:
        each.child.kill(signal.SIGKILL)
        each.child.ptyproc.delayafterclose = 0
        each.child.close()


def rows(home: Home, column: str = "status", kind: str = "user_prompt") -> list[str]:
    """A column of the messages of a kind, in their order."""
    with closing(sqlite3.connect(home.database)) as connection:
        found = connection.execute(f"SELECT {column} FROM messages WHERE kind = ? ORDER BY seq", (kind,))
        return [row[0] for row in found]


def test_a_whole_turn(chat: Chat) -> None:  # K-162 K-198 K-202 K-206
    sitting = chat(rows=60, forkserver=None).ready()  # what a user starts; all others are forks
    assert "It only understands a handful of requests" in sitting.text()
    sitting.say("think about tea\nwhat is 6 * 7?".replace("\n", " and then "))
    sitting.answered()
    assert sitting.text().count("› think about tea and then what is 6 * 7?") == 1
    assert sitting.text().count("`calculate` says: 42".replace("`", "")) == 1
    assert sitting.colours("The person wants me") == {"cyan"}
    assert sitting.colours("6 * 7 ") == {"brown"}  # what pyte calls yellow
    assert sitting.colours("42 ") == {"magenta"}
    assert sitting.text().count("I thought about tea") == 1
    (figures,) = [row for row in sitting.lines() if " tokens" in row]
    assert "1 tool call" in figures
    sitting.type("\x04")
    assert sitting.left() == 0


def test_a_question_takes_one_key_and_leaves_the_input_alone(chat: Chat, home: Home) -> None:
    sitting = chat().ready()
    sitting.say("run touch refused")
    sitting.type("half a thou")
    sitting.wait_for("[y] yes")
    sitting.type("n")
    sitting.wait(lambda: any(row == "› half a thou" for row in sitting.visible()), "the typed text")
    sitting.wait(lambda: sitting.text().count(" tokens") == 1, "the answer")
    sitting.type("ght\x15\x0b")
    sitting.say("run touch once")
    sitting.wait_for("[y] yes")
    sitting.type("y")
    sitting.answered(2)
    sitting.say("run touch twice")
    sitting.wait_for("[a] always")
    sitting.type("a")
    sitting.answered(3)
    sitting.say("run touch thrice")
    sitting.answered(4)
    assert sitting.text().count("? ") == 3
    assert sorted(path.name for path in home.work.iterdir()) == ["once", "thrice", "twice"]


def test_ctrl_c_stops_the_turn_within_a_second_and_the_next_leaves(chat: Chat, home: Home) -> None:
    sitting = chat().ready()
    turns = count(1)

    def stopped() -> float:
        sitting.say("slow 30")
        number = next(turns)
        sitting.wait(lambda: sitting.text().count("1 2 3") == number, "the beginning of an answer")
        pressed = time.monotonic()
        sitting.type("\x03")
        sitting.wait(lambda: sitting.text().count("· interrupted") == number, "the outcome")
        return time.monotonic() - pressed

    assert is_within(1.0, stopped)
    sitting.wait(lambda: sitting.is_idle and "again leaves" not in sitting.text(), "the input line")
    sitting.say("what is 6 * 7?")
    sitting.answered()
    assert rows(home) == ["interrupted", "processed"]
    sitting.type("\x03")
    sitting.wait_for("Ctrl-C again leaves")
    sitting.type("\x03")
    assert sitting.left() == 0


def test_a_new_message_stops_the_running_turn_and_is_answered(chat: Chat, home: Home) -> None:  # K-143
    sitting = chat("--yes").ready()
    sitting.say("run sleep 60")
    sitting.wait_for("call run_shell_command")
    sitting.say("what is 6 * 7?")
    sitting.wait_for("calculate says: 42")
    assert rows(home) == ["interrupted", "processed"]
    assert rows(home, kind="tool_call")[0] == "interrupted"
    assert len(rows(home, kind="answer")) == 1


def test_commands(chat: Chat, home: Home) -> None:  # K-210
    sitting = chat().ready()
    sitting.say("/help")
    sitting.wait_for("/status")
    sitting.say("/stop")
    sitting.wait_for("Nothing is running here")
    sitting.say("/status")
    sitting.wait_for("nothing is running, 0 waiting")
    sitting.say("what is 1 + 1?")
    sitting.answered()
    sitting.say("/new")
    sitting.wait_for("A new conversation begins")
    sitting.say("what is 2 + 2?")
    sitting.answered(2)
    sitting.say("slow 60")
    sitting.wait_for("1 2 3")
    sitting.say("/stop")
    sitting.wait_for("Stopped.")
    assert len(set(rows(home, "session_id"))) == 2
    sitting.say("/quit")
    assert sitting.left() == 0


def test_resume_says_where_it_goes_on_and_knows_what_was_typed(chat: Chat, home: Home) -> None:
    first = chat().ready()
    assert "goes on after" not in first.text()
    first.say("what is 6 * 7?")
    first.answered()
    first.type("\x04")
    assert first.left() == 0
    again = chat("--resume").ready()
    again.wait_for("The conversation goes on after: what is 6 * 7?")
    again.type("\x1b[A\r")
    again.answered()
    first_said, second_said = rows(home, "content")
    assert first_said == second_said
    assert len(set(rows(home, "session_id"))) == 1


def test_resizing_while_an_answer_streams(chat: Chat) -> None:
    sitting = chat().ready()
    sitting.say("slow 3")
    sitting.wait_for("1 2 3")
    for columns, lines in ((40, 30), (130, 24), (64, 10)):
        sitting.resize(columns, lines)
        enough = len(sitting.received) + 200
        sitting.wait(lambda enough=enough: len(sitting.received) > enough or sitting.is_idle, "more")  # type: ignore[misc]
    sitting.answered()
    said = " ".join(sitting.text().split())
    assert said.count(" ".join(map(str, range(1, 31)))) == 1


def test_escape_sequences_of_a_file_stay_inert(chat: Chat, home: Home) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[?1049h\x1b[31mred\x9b31m \u202egnp.exe \x1b]52;c;b3duZWQ=\x07 the end"
    (home.work / "evil.txt").write_text(evil, encoding="utf-8")
    sitting = chat().ready()
    sitting.say("read evil.txt")
    sitting.answered()
    assert "the end" in sitting.text()
    assert sitting.screen.title == ""
    for bad in (b"\x1b]", b"\x1b[2J", b"\x1b[?1049h", "\u202e".encode(), b"\xc2\x9b"):
        assert bad not in sitting.received


@pytest.mark.parametrize(("arguments", "environment"), [((), {"TERM": "dumb"}), (("--plain",), {})])
def test_plain_terminals_get_lines_only(chat: Chat, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    sitting = chat(*arguments, environ=environment)
    sitting.wait_for("/help lists commands")
    sitting.say("run echo $((6 * 7))")
    sitting.wait_for("y) yes")
    sitting.say("y")
    sitting.wait_for("run_shell_command` says:")
    sitting.wait_for(" tokens")
    assert b"\x1b" not in sitting.received
    sitting.type("\x04")
    assert sitting.end() == 0
    assert sitting.attributes == sitting.before


def test_no_colour_where_none_is_wanted(chat: Chat) -> None:
    sitting = chat(environ={"NO_COLOR": "1"}, rows=60).ready()
    sitting.say("think about tea and then what is 6 * 7?")
    sitting.answered()
    assert sitting.colours("42 ") == {"default"}


@pytest.mark.parametrize("deadly", [signal.SIGTERM, signal.SIGHUP])
def test_a_turn_that_a_signal_cut_is_answered_once_by_the_next_chat(chat: Chat, home: Home, deadly: int) -> None:
    sitting = chat().ready()
    sitting.say("slow 2")
    sitting.wait_for("1 2 3")
    sitting.child.kill(deadly)
    assert sitting.left() == 143
    assert rows(home) == ["pending_agent"]  # put back at once: a terminal that closes waits for nobody
    assert "Traceback" not in sitting.text()
    again = chat().ready()
    becomes(lambda: rows(home) == ["processed"])
    again.say("what is 6 * 7?")
    again.wait_for("calculate says: 42")
    becomes(lambda: rows(home, kind="answer") == ["delivered", "delivered"])


def test_a_terminal_that_closes_takes_everything_along(chat: Chat, home: Home) -> None:
    sitting = chat("--yes").ready()
    sitting.say("run sleep 1000 & echo $! > pid; wait")
    becomes(lambda: (home.work / "pid").exists() and (home.work / "pid").read_text().strip())
    pid = int((home.work / "pid").read_text())
    sitting.child.ptyproc.fileobj.close()
    becomes(lambda: not sitting.child.isalive())
    becomes(lambda: is_gone(pid))
    assert "Traceback" not in home.database.with_name("kesoku.db.log").read_text(encoding="utf-8")


def is_gone(pid: int) -> bool:
    """Whether no process has this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_long_pastes_and_all_kinds_of_letters(chat: Chat, home: Home) -> None:
    sitting = chat().ready()
    long = "paste" * 4_000
    sitting.type(f"\x1b[200~{long}\x1b[201~")
    sitting.wait_for("pastepaste")
    sitting.type("\r")
    sitting.answered()
    sitting.say("calculate 漢字 👩\u200d👩\u200d👧 ünï")
    sitting.answered(2)
    assert "› calculate 漢字 👩" in sitting.text()
    first, second = rows(home, "content")
    assert long in first
    assert "漢字" in second or "\\u6f22" in second


def test_two_chats_in_two_terminals(chat: Chat, home: Home) -> None:
    first, second = chat().ready(), chat().ready()
    assert f"Another chat (process {first.child.pid}) has the channel cli" in second.text()
    first.say("what is 40 + 1?")
    second.say("what is 40 + 2?")
    first.answered()
    second.answered()
    assert "says: 41" in first.text()
    assert "says: 42" not in first.text()
    assert "says: 42" in second.text()
    assert "says: 41" not in second.text()
    assert rows(home) == ["processed", "processed"]
