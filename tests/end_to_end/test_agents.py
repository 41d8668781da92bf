"""Delegation through the real command: killed in between, and asked for approval."""

import signal

import pytest

from kesoku.testing.waiting import becomes

from .conftest import RemoteBot
from .test_run import statuses, wait_for

pytestmark = pytest.mark.slow


def test_the_answer_of_a_child_wakes_its_parent_exactly_once_although_the_server_was_killed(remote: RemoteBot) -> None:
    run = remote.home.start("run")
    remote.platform.say("kitchen", "delegate to scout: slow 2")
    remote.shows("kitchen", "scout works on it")
    wait_for(remote.home, "slow 2")
    run.kill()
    run.wait()
    again = remote.home.start("run")
    shown = remote.shows("kitchen", "`scout` writes", "20", timeout=60)
    assert len(shown) == 2, shown

    def waiting() -> set[tuple[str, str, str]]:
        return {each for each in statuses(remote.home) if each[2] in {"pending_agent", "processing", "pending"}}

    becomes(lambda: not waiting(), told=waiting)
    again.send_signal(signal.SIGTERM)
    again.wait(timeout=120)
    assert remote.platform.texts("kitchen") == shown
    assert [kind for bot, kind, _ in statuses(remote.home) if (bot, kind) == ("room", "system_note")] == ["system_note"]
    assert {status for bot, kind, status in statuses(remote.home) if bot == "agent" and kind == "answer"} == {
        "delivered"
    }


def test_a_child_s_question_is_put_where_its_people_are(remote: RemoteBot) -> None:
    config = remote.home.work / "config.toml"
    config.write_text(config.read_text(encoding="utf-8") + '\nadmins = ["user:chii"]\n', encoding="utf-8")
    run = remote.home.start("run")
    remote.platform.say("kitchen", "delegate to scout: run echo $((40 + 2))", by="chii")
    remote.shows("kitchen", "Agent scout: May I run `run_shell_command`?")
    remote.platform.say("kitchen", "yes", by="chii")
    shown = remote.shows("kitchen", "`scout` writes", "42", timeout=60)
    assert any("42" in text for text in shown)
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)
