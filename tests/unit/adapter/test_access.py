"""The gate: closed by default, by ids and never by names, and no memory of what was taken out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kesoku.adapter import AdapterConfig, Address, Principal
from kesoku.adapter.access import ADMINS, APPROVE, Access, Doorkeeper
from kesoku.testing.clock import VirtualClock

ROOM = Address(chatbot_id="discord", channel_id="room")
ADA = Principal(user_id="1", display_name="Ada", roles=frozenset({"dev"}), guild="g")
names = st.sampled_from(["user:1", "user:2", "role:dev", "role:ops", "guild:g", "channel:room", "everyone"])


def test_an_empty_list_admits_nobody() -> None:
    # complaint 163
    assert not Access().allowed(ADA, ROOM)
    assert not Access().allowed(ADA, ROOM, APPROVE)


@pytest.mark.parametrize("entry", ["user:1", "role:dev", "guild:g", "channel:room", "everyone"])
def test_each_kind_of_entry_admits_and_its_removal_denies_at_once(entry: str) -> None:
    # complaint 164
    assert Access(allow=(entry,)).allowed(ADA, ROOM)
    assert not Access(allow=()).allowed(ADA, ROOM)
    assert not Access(allow=(entry,)).allowed(ADA, ROOM, APPROVE)


@pytest.mark.parametrize("entry", ["user:2", "user:Ada", "role:", "guild:h", "user:", "Ada", "1", "channel:Room", ""])
def test_other_entries_do_not(entry: str) -> None:
    assert not Access(allow=(entry,)).allowed(ADA, ROOM)


def test_admins_may_talk_and_approve_but_everyone_is_no_admin() -> None:
    # N-17
    assert Access(admins=("user:1",)).allowed(ADA, ROOM)
    assert Access(admins=("role:dev",)).allowed(ADA, ROOM, APPROVE)
    assert not Access(admins=("everyone",)).allowed(ADA, ROOM, APPROVE)


@given(st.lists(names), st.lists(names), st.booleans())
def test_bots_never_pass(allow: list[str], admins: list[str], local: bool) -> None:
    # complaints 105, 107
    bot = Principal(user_id="1", display_name="Ada", roles=frozenset({"dev"}), guild="g", is_bot=True)
    access = Access(allow=tuple(allow), admins=tuple(admins), local=local)
    assert not access.allowed(bot, ROOM)
    assert not access.allowed(bot, ROOM, APPROVE)
    assert not access.may_answer((), bot, ROOM)


def test_a_person_without_an_id_matches_no_user_entry() -> None:
    nobody = Principal(user_id="", display_name="user:1", roles=frozenset({""}), guild="")
    assert not Access(allow=("user:", "role:", "guild:", "user:1")).allowed(nobody, ROOM)


def test_who_may_answer() -> None:
    access = Access(allow=("everyone",), admins=("user:2",))
    assert access.may_answer((), ADA, ROOM)
    assert not access.may_answer((ADMINS,), ADA, ROOM)
    assert access.may_answer(("user:1",), ADA, ROOM)
    assert not access.may_answer(("user:3",), ADA, ROOM)
    assert Access(local=True).may_answer((ADMINS,), ADA, ROOM)


@pytest.mark.parametrize("entry", ["Ada", "user:", "users:1", "everyone ", "*", "user:1 2"])
def test_the_config_refuses_entries_that_mean_nothing(entry: str) -> None:
    with pytest.raises(ValidationError):
        AdapterConfig(allow=(entry,))
    with pytest.raises(ValidationError):
        AdapterConfig(admins=(entry,))


def test_the_config_refuses_everyone_as_admin() -> None:
    assert AdapterConfig(allow=("everyone",), admins=("user:1",)).allow == ("everyone",)
    with pytest.raises(ValidationError, match="everyone"):
        AdapterConfig(admins=("everyone",))


async def test_a_stranger_is_told_once_a_day_and_a_crowd_only_a_little() -> None:
    clock, day = VirtualClock(), 86_400
    door = Doorkeeper(clock, burst=3)
    people = [Principal(user_id=str(n), display_name="x") for n in range(6)]
    assert [door.tells(each, again=day) for each in (*people, *people)] == [True] * 3 + [False] * 9
    await clock.advance(61)
    assert not door.tells(people[0], again=day)
    assert door.tells(people[5], again=day)
    assert door.tells(replace(people[0], direct=True), again=day), "told in a room, but not in private"
    await clock.advance(day)
    assert door.tells(people[0], again=day)


@pytest.mark.parametrize("entry", ["user:1", "role:dev", "guild:g", "channel:room", "everyone"])
@pytest.mark.parametrize("access", [Access(allow=("everyone",)), Access(admins=("user:1",)), Access().admitting(ADA)])
def test_whoever_is_denied_has_no_way_in(access: Access, entry: str) -> None:
    """Complaint 164."""
    assert access.allowed(ADA, ROOM)
    denying = replace(access, deny=(entry,))
    assert denying.denies(ADA, ROOM)
    assert not denying.allowed(ADA, ROOM)
    assert not denying.allowed(ADA, ROOM, APPROVE)
    assert not denying.may_answer((), ADA, ROOM)


def test_the_person_at_this_machine_cannot_be_denied() -> None:
    assert Access(local=True, deny=("everyone",)).allowed(ADA, ROOM)
