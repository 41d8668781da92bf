"""A conversation that another bot wrote, or that was exported, goes on here."""

import json
from pathlib import Path

import pytest

from .conftest import Home

pytestmark = pytest.mark.slow

OLD = [
    {
        "id": "o1",
        "role": "user",
        "type": "text",
        "sender": "Ada",
        "content": "My cat is called Miso.",
        "status": "processed",
    },
    {
        "id": "o2",
        "role": "assistant",
        "type": "text",
        "sender": "Kesoku",
        "content": "Noted.",
        "parent_id": "o1",
        "status": "pending",
    },
]
PLACE = {"session_id": "old-1", "chatbot_id": "discord", "channel_id": "lounge"}


def test_a_conversation_of_another_bot_goes_on_here(home: Home) -> None:
    """Imported with the offline model: nothing is answered by itself, and the model sees what was said."""
    file = home.work / "old.json"
    file.write_text(json.dumps([PLACE | row for row in OLD]), encoding="utf-8")
    done = home.run("import", str(file))
    assert done.returncode == 0, done.stderr
    assert "kesoku chat --session old-1" in done.stdout
    done = home.run("chat", "--session", "old-1", "what is 6 * 7?")
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout
    events = home.events("--session", "old-1", "/export model")
    (exported,) = [event for event in events if event["type"] == "file"]
    read = json.loads(Path(exported["place"]).read_bytes())
    said = [block.get("text", "") for turn in read["turns"] for block in turn["blocks"]]
    assert any("My cat is called Miso." in text for text in said)
    assert any("Noted." in text for text in said)
    assert any("6 * 7" in text for text in said)


def test_an_export_of_one_home_is_a_conversation_of_another(home: Home) -> None:
    home.run("chat", "what is 6 * 7?")
    (exported,) = [event for event in home.events("--resume", "/export raw") if event["type"] == "file"]
    records = json.loads(Path(exported["place"]).read_bytes())["records"]
    home.environment["XDG_DATA_HOME"] = str(home.folder / "other")
    done = home.run("import", "--json", exported["place"])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["imported"] == len(records)
    session = records[0]["session_id"]
    (again,) = [event for event in home.events("--session", session, "/export raw") if event["type"] == "file"]
    assert json.loads(Path(again["place"]).read_bytes())["records"] == records
    why = home.events("--session", session, "/why 4")
    assert any("tools: calculate ×1" in event.get("text", "") for event in why)


def test_redacted_words_are_in_no_file_of_the_home(home: Home) -> None:
    """C-16: neither in the database, nor in its log, nor in a file that was exported."""
    secret = "Miso-is-my-password"
    home.run("chat", f"remember {secret}")
    home.run("chat", "--resume", "/export")
    data = home.folder / "data"

    def holding() -> list[str]:
        return [each.name for each in data.rglob("*") if each.is_file() and secret.encode() in each.read_bytes()]

    assert any(name.endswith(".json") for name in holding())
    done = home.run("chat", "--resume", "/redact 1")
    assert "#1 is redacted" in done.stderr + done.stdout
    answers = home.run("chat", "--resume", "/redact 2")
    assert "#2 is redacted" in answers.stderr + answers.stdout
    assert holding() == []
