"""`kesoku pair` beside a bot that runs."""

import json
import re
import signal

import pytest

from .conftest import RemoteBot

pytestmark = pytest.mark.slow


def ask(remote: RemoteBot, text: str, *shown: str) -> list[str]:
    """A stranger writes in private; what they see once they see this."""
    remote.platform.say("eve", text, by="eve", direct=True)
    return remote.shows("eve", *shown)


def test_a_stranger_is_let_in_and_put_out_again_while_the_bot_runs(remote: RemoteBot) -> None:
    """Complaint 164: whoever is removed is denied at once."""
    config = remote.home.work / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").replace('"everyone"', '"user:ada"'), encoding="utf-8")
    early = remote.home.run("pair", "--list")
    assert (early.returncode, "there is no database" in early.stderr) == (1, True)
    run = remote.home.start("run")
    told = ask(remote, "what is 6 * 7?", "`kesoku pair ")
    code = re.search("`([A-Z]{8})`", told[0])
    assert code
    done = remote.home.run("pair", code[1])
    assert (done.returncode, done.stdout) == (0, "Eve (user:eve) may talk to room now\n")
    remote.shows("eve", "You are in.")
    assert len(ask(remote, "what is 6 * 7?", "42")) == 3
    listed = json.loads(remote.home.run("pair", "--list", "--json").stdout)
    assert [guest["user_id"] for guest in listed["room"]["guests"]] == ["eve"]
    assert remote.home.run("pair", "--remove", "user:eve").returncode == 0
    remote.platform.say("eve", "what is 6 * 8?", by="eve", direct=True)
    remote.platform.say("kitchen", "what is 6 * 9?")
    remote.shows("kitchen", "54")  # who came later was heard
    assert len(remote.platform.texts("eve")) == 3
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=120) == 143
