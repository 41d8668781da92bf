"""`kesoku pair`: codes, guests, and what is said where there is none."""

import json
import time

import pytest

from kesoku.adapter.event import Principal
from kesoku.adapter.pairing import LIFETIME, WELCOME, Pairing
from kesoku.cli.exit import Exit
from kesoku.cli.main import main
from kesoku.messages.record import Address

from .machine import Machine

EVE = Principal(user_id="2", display_name="Eve", direct=True)


class Door:
    """A machine with two bots, and people who wait to be let in."""

    def __init__(self, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
        self.machine, self._capsys = machine, capsys
        self.said = self.complaint = ""

    def pair(self, *arguments: str) -> int:
        code = main(["pair", *arguments])
        self.said, self.complaint = self._capsys.readouterr()
        return code

    def offer(self, code: str, *, bot: str = "room", ago: float = 0.0) -> None:
        at = time.time_ns() // 1000 - round(ago * 1e6)
        self.machine.look(lambda tx: Pairing(tx, bot).offer(EVE, "dm", code, at), write=True)

    def is_guest(self, bot: str = "room") -> bool:
        return self.machine.look(lambda tx: Pairing(tx, bot).is_guest("2"))


@pytest.fixture
def door(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Door:
    lines = [f'[adapters.{name}]\ntype = "cli"' for name in ("room", "hall")]
    (machine.folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    machine.database.parent.mkdir(parents=True)
    return Door(machine, capsys)


def test_a_code_lets_in_and_tells_so(door: Door) -> None:
    door.offer("ABCDEFGH")
    assert door.pair("abcd-efgh") == Exit.OK
    assert door.said == "Eve (user:2) may talk to room now\n"
    assert door.is_guest()
    assert not door.is_guest("hall")
    session = door.machine.look(lambda tx: tx.sessions.bound(Address(chatbot_id="room", channel_id="dm")))
    assert session is not None
    (notice,) = door.machine.session(session.id)
    assert (notice.message.text, notice.status) == (WELCOME, "pending")
    assert door.pair("ABCDEFGH") == Exit.FAILED
    assert "nobody waits with the code 'ABCDEFGH'" in door.complaint


def test_the_list_names_guests_and_open_codes(door: Door) -> None:
    door.offer("ABCDEFGH")
    door.offer("BCDEFGHJ", bot="hall", ago=LIFETIME)
    door.pair("--json", "ABCDEFGH")
    assert json.loads(door.said)["bot"] == "room"
    door.offer("CDEFGHJK", bot="hall")
    assert door.pair("--list") == Exit.OK
    guest, code = door.said.splitlines()
    assert guest.startswith("room: Eve (user:2), let in 20")
    assert guest.endswith("Z by kesoku pair")
    assert code == "hall: Eve (user:2) waits with the code CDEFGHJK, for 60 min"
    door.pair("--list", "--json")
    facts = json.loads(door.said)
    assert [each["user_id"] for each in facts["room"]["guests"]] == ["2"]
    assert [each["code"] for each in facts["hall"]["codes"]] == ["CDEFGHJK"]


def test_an_empty_list_says_so(door: Door) -> None:
    door.machine.look(lambda tx: tx.events.head())
    assert door.pair("--list") == Exit.OK
    assert door.said == "nobody was let in by a code, and nobody waits with one\n"


def test_whoever_is_removed_is_no_guest_any_more(door: Door) -> None:
    """Complaint 164."""
    door.offer("ABCDEFGH")
    door.pair("ABCDEFGH")
    assert door.pair("--remove", "user:2") == Exit.OK
    assert door.said == "user:2 was let in to room by a code, and is no more\n"
    assert not door.is_guest()
    assert door.pair("--remove", "user:2") == Exit.FAILED
    assert "there is nothing to remove" in door.complaint


def test_an_expired_code_is_told_as_that(door: Door) -> None:
    door.offer("ABCDEFGH", ago=LIFETIME)
    assert door.pair("ABCDEFGH") == Exit.FAILED
    assert "the code ABCDEFGH of Eve has expired" in door.complaint
    assert not door.is_guest()


def test_where_two_bots_know_it_one_must_be_named(door: Door) -> None:
    for bot in ("room", "hall"):
        door.offer("ABCDEFGH", bot=bot)
    assert door.pair("ABCDEFGH") == Exit.FAILED
    assert "the code ABCDEFGH is known to room and hall; say which one with --bot NAME" in door.complaint
    assert door.pair("--bot", "hall", "ABCDEFGH") == Exit.OK
    assert (door.is_guest("hall"), door.is_guest("room")) == (True, False)


def test_a_bot_that_is_not_configured_is_refused(door: Door) -> None:
    assert door.pair("--bot", "kitchen", "--list") == Exit.CONFIG
    assert "kitchen" in door.complaint


def test_before_anything_was_served_it_says_what_to_do(door: Door) -> None:
    assert door.pair("ABCDEFGH") == Exit.FAILED
    assert "start the bots first, with `kesoku run`" in door.complaint
    assert not door.machine.database.exists()


@pytest.mark.parametrize("arguments", [[], ["A", "--list"], ["--remove", "2"], ["--remove", "user:"], [" "]])
def test_one_thing_at_a_time_is_done(door: Door, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        door.pair(*arguments)
    assert ended.value.code == 2


def test_doctor_knows_who_was_let_in(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    remote = '[adapters.room]\ntype = "discord"\ntoken = "a.b.c"\napi_base_url = "http://127.0.0.1:9/api"\n'
    (door.machine.folder / "config.toml").write_text(remote, encoding="utf-8")
    door.offer("ABCDEFGH")
    for told in (True, False):
        main(["doctor", "--offline"])
        assert ("nobody may talk to it yet" in capsys.readouterr().out) is told
        if told:
            door.pair("ABCDEFGH")
