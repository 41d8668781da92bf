"""Desks, and who is asked when an agent there wants something."""

from dataclasses import replace

import pytest

from kesoku.exchange.home import HomeApprover, Homes
from kesoku.exchange.kin import Kin, add_child, desk_of, desks, is_desk
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address, Record
from kesoku.testing.clock import VirtualClock
from kesoku.testing.fakes import ScriptedApprover
from kesoku.testing.memory import MemoryStore

ROOM, TERMINAL = Address(chatbot_id="discord", channel_id="room"), Address(chatbot_id="cli", channel_id="cli")


def serving(*addresses: Address) -> Serving:
    return Serving(addresses=frozenset(addresses))


def call_at(address: Address, session_id: str) -> Record:
    call = make.tool_call("run_shell_command", {}, provider="p", model="m")
    return Record(message=call, address=address, session_id=session_id, status=MessageStatus.RESPONDED)


@pytest.mark.parametrize(
    ("served", "home", "works"),
    [
        (serving(ROOM.whole), ROOM, True),
        (serving(TERMINAL), TERMINAL, True),
        (serving(ROOM.whole, TERMINAL), TERMINAL, True),
        (serving(ROOM.whole, TERMINAL), ROOM, True),
    ],
)
def test_a_process_works_for_the_agents_of_what_it_serves(served: Serving, home: Address, works: bool) -> None:
    place = desk_of("child", home, served)
    assert is_desk(place)
    assert place.channel_id == "child"
    assert desks(served).covers(place) == works


@pytest.mark.parametrize("other", [serving(ROOM.whole), serving(replace(TERMINAL, channel_id="ab12"))])
def test_no_other_process_works_for_the_agents_of_a_terminal(other: Serving) -> None:
    """Its person answers for them, and they work in its folder."""
    assert not desks(other).covers(desk_of("child", TERMINAL, serving(TERMINAL)))


def test_a_terminal_works_for_agents_elsewhere_only_where_it_stands_in() -> None:
    place = desk_of("child", ROOM, serving(ROOM.whole))
    assert place == Address(chatbot_id="agent", channel_id="child")
    assert not desks(serving(TERMINAL)).covers(place)
    assert desks(serving(TERMINAL), [ROOM]).covers(place)


async def test_the_people_of_an_agent_are_asked_where_they_are_and_told_who_asks() -> None:
    store, people = MemoryStore(), ScriptedApprover("always")
    place = desk_of("child", ROOM, serving(ROOM.whole))
    kin = Kin(session_id="child", parent="middle", name="scout", depth=2, root="s1", home=ROOM, desk=place)
    await store.write(lambda tx: add_child(tx, kin))
    homes = Homes(store, VirtualClock())
    assert homes.place(place) == place  # nobody has looked yet
    question = Question(id="q", text="May I?", choices=("yes", "no"))
    approver = HomeApprover(people, homes)
    assert await approver.ask(question, call=call_at(place, "child"), admins_only=True) == "always"
    asked, call, admins_only = people.asked[0]
    assert (asked.text, call.address, call.session_id, admins_only) == ("Agent scout: May I?", ROOM, "s1", True)
    assert homes.place(place) == ROOM


async def test_people_at_their_own_place_are_asked_as_ever() -> None:
    people = ScriptedApprover()
    question, call = Question(id="q", text="May I?", choices=("yes", "no")), call_at(ROOM, "s1")
    await HomeApprover(people, Homes(MemoryStore(), VirtualClock())).ask(question, call=call, admins_only=False)
    assert people.asked == [(question, call, False)]
