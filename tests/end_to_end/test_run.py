"""`kesoku run` with a recording platform, alone, beside `kesoku chat`, killed and told to stop."""

import json
import signal
import sqlite3
import subprocess
from contextlib import closing, suppress

import pytest

from kesoku.testing.waiting import becomes

from .conftest import PLUGIN, Home, RemoteBot

pytestmark = pytest.mark.slow


def statuses(home: Home) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(home.database)) as connection:
        found = connection.execute("SELECT chatbot_id, kind, status FROM messages ORDER BY seq")
        return [tuple(row) for row in found]


def wait_for(home: Home, text: str) -> None:
    """Wait until a message with this text is in processing."""
    query = "SELECT count(*) FROM messages WHERE status = 'processing' AND content LIKE ?"

    def runs() -> bool:
        if home.database.exists():
            with closing(sqlite3.connect(home.database)) as connection, suppress(sqlite3.OperationalError):
                return bool(connection.execute(query, (f"%{text}%",)).fetchone()[0])
        return False

    becomes(runs, told=lambda: f"{text!r} never ran")


def test_a_person_on_a_platform_is_answered(remote: RemoteBot) -> None:  # K-136
    remote.platform.say("kitchen", "what is 6 * 7?")  # before anybody serves
    run = remote.home.start("run")
    assert "42" in remote.shows("kitchen", "42")[-1]
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=120) == 143


def test_chat_and_doctor_beside_run_on_one_file_do_not_disturb_it(remote: RemoteBot) -> None:
    # store rule 6, complaint 137
    run = remote.home.start("run")
    remote.platform.say("kitchen", "slow 3")
    wait_for(remote.home, "slow 3")
    for number in range(2):
        assert str(number + 7) in remote.home.run("chat", f"what is {number} + 7?").stdout
        remote.platform.say("hall", f"what is 100 + {number}?", by=f"person{number}")
        remote.shows("hall", str(100 + number))
        found = map(json.loads, remote.home.run("doctor", "--offline", "--json").stdout.splitlines())
        assert {"database": "ok", "load": "ok"}.items() <= {each["check"]: each["severity"] for each in found}.items()
    shown = remote.shows("kitchen", "3")
    assert len(shown) == 1, shown
    assert len(remote.platform.texts("hall")) == 2
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=120) == 130
    by_bot = {bot: [status for each, _, status in statuses(remote.home) if each == bot] for bot in ("cli", "room")}
    assert set(by_bot["cli"]) == {"processed", "delivered"}
    assert set(by_bot["room"]) == {"processed", "delivered"}
    with closing(sqlite3.connect(remote.home.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        owners = connection.execute("SELECT DISTINCT actor FROM events WHERE reason = 'finish'").fetchall()
    assert len(owners) == 3  # one run, two chats: nobody worked for anybody else


def test_chat_speaks_into_a_served_channel_and_the_server_delivers(remote: RemoteBot) -> None:
    run = remote.home.start("run")
    remote.platform.say("kitchen", "what is 1 + 1?")
    remote.shows("kitchen", "2")
    done = remote.home.run("chat", "--session", "room:kitchen", "what is 6 * 7?")
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout
    assert any("42" in text for text in remote.shows("kitchen", "42"))
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)


def test_without_a_server_chat_answers_and_run_delivers_later(remote: RemoteBot) -> None:
    done = remote.home.run("chat", "--session", "room:kitchen", "what is 6 * 7?")
    assert "kesoku run` will deliver it" in done.stderr
    assert "42" in done.stdout
    assert remote.platform.texts("kitchen") == []
    run = remote.home.start("run")
    assert len(remote.shows("kitchen", "42")) == 1
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)


def test_without_a_server_a_command_is_answered_too(remote: RemoteBot) -> None:
    done = remote.home.run("chat", "--session", "room:kitchen", "/queue")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no conversation here yet") == 1


def test_a_place_of_a_bot_that_nobody_knows_is_refused(remote: RemoteBot) -> None:
    done = remote.home.run("chat", "--session", "rome:kitchen", "what is 6 * 7?")
    assert (done.returncode, done.stdout) == (78, "")
    assert "there is no bot for rome:kitchen; the config has room, and nothing was ever said there" in done.stderr
    assert statuses(remote.home) == []


def test_a_second_server_refuses_and_names_the_first(remote: RemoteBot) -> None:  # complaint 144
    first = remote.home.start("run")
    remote.platform.say("kitchen", "what is 1 + 1?")
    remote.shows("kitchen", "2")
    second = remote.home.run("run")
    assert second.returncode == 75
    assert str(first.pid) in second.stderr
    assert "room" in second.stderr
    first.send_signal(signal.SIGTERM)
    first.wait(timeout=120)


def test_killed_servers_lose_nothing_and_double_nothing(remote: RemoteBot) -> None:
    for round_number in range(2):
        run = remote.home.start("run")
        remote.platform.say("kitchen", f"slow {round_number + 2}")
        wait_for(remote.home, f"slow {round_number + 2}")
        run.kill()
        run.wait()
    run = remote.home.start("run")
    remote.platform.say("hall", "what is 6 * 7?")
    remote.shows("hall", "42")

    def found() -> list[tuple[str, str, str]]:
        return statuses(remote.home)

    waiting = {"pending_agent", "processing", "pending"}
    becomes(lambda: not waiting & {status for _, _, status in found()}, told=found)
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)
    answered = [status for _, kind, status in statuses(remote.home) if kind == "user_prompt"]
    assert set(answered) <= {"processed", "interrupted"}
    with closing(sqlite3.connect(remote.home.database)) as connection:
        turns = connection.execute("SELECT turn_id FROM messages WHERE kind = 'answer'").fetchall()
        sent = connection.execute("SELECT count(*) FROM deliveries WHERE purpose = 'final' AND state = 'sent'")
        shown = [each for channel in ("kitchen", "hall") for each in remote.platform.everything(channel)]
        assert len(shown) == sent.fetchone()[0]
    assert len(turns) == len(set(turns)) == answered.count("processed")
    assert answered.count("processed") >= 2


def test_sigterm_lets_the_running_turn_end(remote: RemoteBot) -> None:
    run = remote.home.start("run")
    remote.platform.say("kitchen", "slow 2")
    wait_for(remote.home, "slow 2")
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=120) == 143
    assert len(remote.platform.texts("kitchen")) == 1


def test_strangers_are_turned_away_and_not_stored(remote: RemoteBot) -> None:  # N-17 N-21 complaint 163
    config = remote.home.work / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").replace('["everyone"]', '["user:bob"]'), encoding="utf-8")
    run = remote.home.start("run")
    remote.platform.say("kitchen", "my secret plan", by="eve")
    remote.shows("kitchen", "only talks to people whom its owner let in")
    remote.platform.say("kitchen", "what is 6 * 7?", by="bob")
    remote.shows("kitchen", "42")
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)
    with closing(sqlite3.connect(remote.home.database)) as connection:
        assert connection.execute("SELECT count(*) FROM messages WHERE content LIKE '%secret%'").fetchone() == (0,)


def test_json_chat_sees_turns_of_a_served_channel(remote: RemoteBot) -> None:
    run = remote.home.start("run")
    remote.platform.say("kitchen", "what is 1 + 1?")
    remote.shows("kitchen", "2")
    chat = remote.home.start("chat", "--json", "--session", "room:kitchen", stdin=subprocess.PIPE)
    out, _ = chat.communicate("what is 2 + 3?\n", timeout=120)
    kinds = [json.loads(line)["type"] for line in out.splitlines()]
    assert "call" in kinds
    assert "answer" in kinds
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)


def test_yes_at_the_terminal_is_no_yes_for_a_remote_channel(remote: RemoteBot) -> None:  # N-17
    chat = remote.home.start("chat", "--yes", "--session", "room:kitchen", "run touch trespass")
    becomes(lambda: asked(remote.home) or chat.poll() is not None)
    assert chat.poll() is None
    assert not list(remote.home.folder.rglob("trespass"))


def asked(home: Home) -> int:
    """How many questions people were asked."""
    if not home.database.exists():
        return 0
    with closing(sqlite3.connect(home.database)) as connection, suppress(sqlite3.OperationalError):
        return int(connection.execute("SELECT count(*) FROM questions").fetchone()[0])
    return 0


def test_doctor_goes_on_when_the_check_of_an_adapter_raises(remote: RemoteBot) -> None:
    (remote.home.folder / "plugins" / "recording_plugin.py").write_text(
        PLUGIN
        + "\nimport dataclasses\n\nasync def doctor(chatbot_id, config):\n    raise OSError('the network is down')\n\n"
        + "MANIFEST = dataclasses.replace(MANIFEST, doctor=doctor)\n",
        encoding="utf-8",
    )
    done = remote.home.run("doctor")
    assert done.returncode == 1
    assert "adapters.room: the check failed: OSError: the network is down" in done.stdout
    assert "tools: " in done.stdout


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ('model = "gemini"', "kitchen.model: model gemini has no API key; set GEMINI_API_KEY"),
        ('role = "cook"', "kitchen.role: there is no role 'cook'; add a table [roles.cook]"),
    ],
)
def test_a_channel_cannot_have_what_is_not_there(remote: RemoteBot, key: str, says: str) -> None:  # N-15
    config = remote.home.work / "config.toml"
    text = f"{config.read_text(encoding='utf-8')}\n[adapters.room.channels.kitchen]\n{key}\n"
    config.write_text(text, encoding="utf-8")
    done = remote.home.run("run")
    assert done.returncode == 78
    assert f"adapters.room.channels.{says}" in done.stderr
    assert remote.home.run("doctor", "--offline").returncode == 1


def test_the_folder_of_the_terminal_is_closed_to_a_remote_channel(remote: RemoteBot) -> None:
    (remote.home.work / "private.txt").write_text("dear diary", encoding="utf-8")
    assert "dear diary" in remote.home.run("chat", "read private.txt").stdout
    assert "No such file" in remote.home.run("chat", "--session", "room:kitchen", "read private.txt").stdout


def test_a_question_outlives_the_process_that_asked(remote: RemoteBot) -> None:  # complaint 165
    config = remote.home.work / "config.toml"
    config.write_text(f'{config.read_text(encoding="utf-8")}admins = ["user:ada"]\n', encoding="utf-8")
    run = remote.home.start("run")
    remote.platform.say("kitchen", "run echo $((40 + 2))", by="bob")
    remote.shows("kitchen", "May I run")
    run.kill()
    run.wait()
    run = remote.home.start("run")
    remote.platform.say("kitchen", "yes", by="ada")
    shown = remote.shows("kitchen", "42")
    assert len([text for text in shown if "May I run" in text]) == 1
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)
