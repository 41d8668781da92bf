"""`kesoku chat` without a terminal: one question, pipes, JSON, exit codes."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from .conftest import Home

pytestmark = pytest.mark.slow


def rows(home: Home) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(home.database)) as connection:
        return connection.execute("SELECT kind, status, channel_id FROM messages ORDER BY seq").fetchall()


def test_one_question_is_a_whole_durable_turn(home: Home) -> None:  # K-109 K-110 K-131
    done = home.run("chat", "what is 6 * 7?")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("42") == 1  # the answer alone goes there
    assert done.stdout.endswith("\n")
    assert "\x1b" not in done.stdout + done.stderr
    assert "[call calculate]" in done.stderr
    assert rows(home) == [
        ("user_prompt", "processed", "cli"),
        ("tool_call", "delivered", "cli"),
        ("tool_result", "delivered", "cli"),
        ("answer", "delivered", "cli"),
    ]
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT author FROM messages WHERE kind='user_prompt'").fetchone() == ("User",)


def test_piped_text_goes_along_with_the_question(home: Home) -> None:
    (home.work / "a.txt").write_text("inside", encoding="utf-8")
    events = home.events("list", given="")
    assert any(event["type"] == "answer" and "a.txt" in event["text"] for event in events)


def test_json_is_one_event_a_line_in_the_order_of_the_turn(home: Home) -> None:
    events = home.events("what is 6 * 7?")
    kinds = [event["type"] for event in events if not event["type"].endswith("_delta")]
    assert kinds == ["prompt", "turn_started", "call", "result", "answer", "turn_ended"]
    (answer,) = [event for event in events if event["type"] == "answer"]
    assert answer["metrics"]["turn_tool_calls"] == 1
    streamed = "".join(event["text"] for event in events if event["type"] == "answer_delta")
    assert answer["text"].startswith(streamed)


def test_a_tool_with_side_effects_is_refused_where_nobody_can_answer(home: Home) -> None:
    events = home.events("run touch made")
    assert not (home.work / "made").exists()
    assert any(event["type"] == "question" and event["answer"] == "no" for event in events)
    assert any(event["type"] == "result" and event["failed"] for event in events)


def test_files_outside_the_workspace_are_refused(home: Home) -> None:
    (home.folder / "private").write_text("password", encoding="utf-8")
    assert "password" not in home.run("chat", "read ../private").stdout


def test_a_new_chat_is_a_new_conversation_and_resume_goes_on(home: Home) -> None:
    def sessions() -> list[str]:
        with closing(sqlite3.connect(home.database)) as connection:
            found = connection.execute("SELECT session_id FROM messages WHERE kind='user_prompt' ORDER BY seq")
            return [row[0] for row in found]

    home.run("chat", "hello")
    home.run("chat", "hello")
    home.run("chat", "--resume", "hello")
    first, second, third = sessions()
    assert first != second
    assert second == third
    home.run("chat", "--session", first, "hello")
    assert sessions()[-1] == first
    done = home.run("chat", "--session", "nowhere", "hello")
    assert done.returncode == 78
    assert "there is no session 'nowhere'" in done.stderr


def test_a_model_without_a_key_is_an_error_when_it_was_asked_for(home: Home) -> None:  # N-15
    done = home.run("chat", "--model", "gemini", "hello")
    assert done.returncode == 78
    assert "GEMINI_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_terminal_can_have_a_model_of_its_own(home: Home) -> None:  # N-15
    config = home.work / "config.toml"
    config.write_text('[adapters.cli]\nmodel = "gemini"\n', encoding="utf-8")
    done = home.run("chat", "hello")
    assert done.returncode == 78
    assert "adapters.cli.model: model gemini has no API key" in done.stderr
    assert "I am the offline model" in home.run("chat", "--model", "offline", "hello").stdout


def test_an_unknown_model_names_those_that_there_are(home: Home) -> None:
    done = home.run("chat", "--model", "oracle", "hello")
    assert done.returncode == 78
    assert "model oracle is not known" in done.stderr
    assert "offline" in done.stderr


def test_a_wrong_config_names_file_key_and_value(home: Home) -> None:
    (home.work / "config.toml").write_text('[agent]\nmax_steps = "many"\n', encoding="utf-8")
    done = home.run("chat", "hello")
    assert done.returncode == 78
    assert "config.toml: agent.max_steps:" in done.stderr
    assert "'many'" in done.stderr


def test_a_typo_in_the_config_only_warns(home: Home) -> None:
    (home.work / "config.toml").write_text('[agent]\nbuzy = "queue"\n', encoding="utf-8")
    done = home.run("chat", "hello")
    assert done.returncode == 0
    assert "did you mean 'busy'?" in done.stderr


def test_a_file_that_is_no_database_is_told_and_left_alone(home: Home) -> None:
    home.database.parent.mkdir(parents=True)
    home.database.write_text("dear diary", encoding="utf-8")
    done = home.run("chat", "hello")
    assert done.returncode == 74
    assert str(home.database) in done.stderr
    assert "Traceback" not in done.stderr
    assert home.database.read_text(encoding="utf-8") == "dear diary"


def test_run_has_nothing_to_serve_without_adapters(home: Home) -> None:
    done = home.run("run")
    assert done.returncode == 78
    assert "[adapters.discord]" in done.stderr


def test_doctor_says_what_is_wrong_and_how_to_fix_it(home: Home) -> None:
    good = home.run("doctor")
    assert good.returncode == 0, good.stdout
    assert "GEMINI_API_KEY" in good.stdout
    (home.work / "config.toml").write_text('[agent]\nbuzy = "queue"\n', encoding="utf-8")
    done = home.run("doctor", "--json")
    assert done.returncode == 1
    findings = [json.loads(line) for line in done.stdout.splitlines()]
    (odd,) = [finding for finding in findings if finding["severity"] == "error"]
    assert "did you mean 'busy'?" in odd["text"]
    assert odd["fix"]


def test_a_second_chat_beside_the_first_takes_a_channel_of_its_own(home: Home) -> None:
    first = home.start("chat", "--json", stdin=subprocess.PIPE)
    assert first.stdin is not None
    assert first.stdout is not None
    first.stdin.write("what is 1 + 1?\n")
    first.stdin.flush()
    assert json.loads(first.stdout.readline())["type"] == "prompt"
    assert "42" in home.run("chat", "what is 6 * 7?").stdout
    rest, _ = first.communicate(timeout=120)
    answers = [event["text"] for event in map(json.loads, rest.splitlines()) if event["type"] == "answer"]
    assert len(answers) == 1
    assert "2" in answers[0]
    assert {channel for _, _, channel in rows(home)} > {"cli"}


def test_killed_in_the_middle_the_answer_still_comes_once(home: Home) -> None:  # complaints 21 23 24
    # Without this the second message would interrupt the turn that is resumed.
    (home.work / "config.toml").write_text('[agent]\nbusy = "queue"\n', encoding="utf-8")
    first = home.start("chat", "--json", "slow 3")
    assert first.stdout is not None
    while '"answer_delta"' not in first.stdout.readline():
        pass
    first.kill()
    first.wait()
    assert rows(home)[0][:2] == ("user_prompt", "processing")
    done = home.run("chat", "hello")
    assert [kind for kind, _, _ in rows(home)].count("answer") == 2
    with closing(sqlite3.connect(home.database)) as connection:
        at = "SELECT min(at) FROM events WHERE reason = ?"
        claimed, recovered = (connection.execute(at, (reason,)).fetchone()[0] for reason in ("claim", "recovered"))
        assert recovered - claimed < 25e6, "by the death of its process, not by the end of its lease"
        # two conversations would speak at once
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    assert all(status in {"processed", "delivered"} for _, status, _ in rows(home))
    assert done.returncode == 0


def test_beyond_the_flood_bound_each_message_is_refused_aloud(home: Home) -> None:
    (home.work / "config.toml").write_text("[limits]\nper_person_per_minute = 1\n", encoding="utf-8")
    assert home.run("chat", "hello").returncode == 0
    for _ in range(2):
        refused = home.run("chat", "hello")
        assert refused.returncode == 1
        assert "I did not take this message" in refused.stderr


def test_a_closed_pipe_ends_the_chat_with_its_own_code(home: Home) -> None:
    chat = home.start("chat", "slow 10")
    assert chat.stdout is not None
    chat.stdout.read(1)
    chat.stdout.close()
    assert chat.wait(timeout=120) == 141


def test_the_module_is_the_command(home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kesoku", "--version"], capture_output=True, text=True, env=home.environment, check=True
    )
    assert done.stdout.startswith("kesoku 0.")
