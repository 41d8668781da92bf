"""`kesoku announce` beside servers and without one."""

import json
import signal

import pytest

from .conftest import Home, RemoteBot

pytestmark = pytest.mark.slow


def test_an_announcement_is_shown_in_every_channel_by_whoever_serves_it(remote: RemoteBot) -> None:
    run = remote.home.start("run")
    for channel in ("kitchen", "hall"):
        remote.platform.say(channel, "what is 6 * 7?")
        remote.shows(channel, "42")
    told = remote.home.run("announce", "Closed on *Monday*.")
    assert (told.returncode, told.stdout) == (0, "announced in 2 channels of 2 conversations\n")
    for channel in ("kitchen", "hall"):
        remote.shows(channel, "Monday")
    run.send_signal(signal.SIGTERM)
    run.wait(timeout=120)
    later = remote.home.run("announce", "--json", "Open again.")
    facts = json.loads(later.stdout)
    assert facts["destinations"] == ["room:hall", "room:kitchen"]
    assert (facts["sessions"], later.returncode) == (2, 0)
    again = remote.home.start("run")
    assert len(remote.shows("kitchen", "Open again.")) == 3
    again.send_signal(signal.SIGTERM)
    again.wait(timeout=120)


def test_nobody_to_tell_is_said(home: Home) -> None:
    told = home.run("announce", "Hello?")
    assert (told.returncode, told.stdout) == (0, "announced in 0 channels of 0 conversations\n")
    assert "nobody reads it" in told.stderr


def test_an_empty_announcement_is_a_mistake(home: Home) -> None:
    assert home.run("announce", " ").returncode == 2
