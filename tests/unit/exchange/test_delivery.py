"""What becomes of the answers of agents when something is gone."""

import logging
from typing import Any

import pytest

from kesoku.errors import ToolRefused
from kesoku.exchange import StoreExchange, delivery
from kesoku.exchange.kin import called, children_of, kin_of
from kesoku.messages import make
from kesoku.messages.mail import DeadReason
from kesoku.messages.record import Address, Post, Record

from .office import Office

HALL = Address(chatbot_id="discord", channel_id="hall")


async def answered_agent(office: Office) -> tuple[Record, str]:
    """An agent that has answered at its desk, where the answer still lies; and the id of that."""
    prompt = await office.say("hello")
    await office.agents.spawn(session_id=prompt.session_id, call_id="c", task="t", name="scout")
    (scout,) = await office.children(prompt.session_id)
    answer = make.answer("7 birds", provider="p", model="m")
    post = Post(message=answer, address=scout.desk)
    return await office.store.write(lambda tx: tx.messages.insert(post, session_id=scout.session_id, at=1)), answer.id


async def test_an_agent_whose_session_was_ended_still_gives_its_answer() -> None:
    office = Office({})
    answer, id_ = await answered_agent(office)
    await office.store.write(lambda tx: tx.sessions.end(answer.session_id, at=2))
    await office.store.write(lambda tx: delivery.wake(tx, answer.session_id, at=3))  # its mailbox is given up
    (letter,) = await office.store.write(lambda tx: delivery.pass_on(tx, id_, at=4))
    report = await office.store.write(lambda tx: delivery.route(tx, letter, told=False, at=5))
    assert report.count == 1


async def test_an_answer_for_one_who_is_gone_is_dead_and_nothing_waits_for_the_agent() -> None:
    office = Office({})
    answer, id_ = await answered_agent(office)
    (kin,) = [await office.store.read(lambda tx: kin_of(tx, answer.session_id))]
    assert kin is not None
    await office.store.write(lambda tx: tx.sessions.end(kin.parent, at=2))
    (letter,) = await office.store.write(lambda tx: delivery.pass_on(tx, id_, at=4))
    report = await office.store.write(lambda tx: delivery.route(tx, letter, told=False, at=5))
    assert report.dead == ((letter.message.id, DeadReason.LEFT_BEFORE_DELIVERY),)
    records = await office.store.read(lambda tx: tx.messages.session(answer.session_id))
    assert [each.kind for each in records] == ["system_note", "user_prompt", "answer"]


@pytest.mark.parametrize("junk", [{"parent": 1}, [], "x", {}])
async def test_a_damaged_row_about_an_agent_costs_its_answer_alone_and_is_told(
    junk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    office = Office({})
    answer, id_ = await answered_agent(office)
    await office.store.write(lambda tx: tx.state.set("kin", answer.session_id, junk))
    await office.store.write(lambda tx: tx.state.set("children", "s", junk))
    await office.store.write(lambda tx: tx.state.set("mail read", answer.session_id, junk))
    with caplog.at_level(logging.ERROR):
        assert await office.store.write(lambda tx: delivery.pass_on(tx, id_, at=4)) == []
    assert f"the answer {id_} reached nobody" in caplog.text
    assert answer.session_id in caplog.text
    assert await office.store.read(lambda tx: children_of(tx, "s")) == []
    await office.store.write(lambda tx: delivery.wake(tx, answer.session_id, at=5))


async def test_what_people_are_about_to_read_is_not_waited_for_when_the_clock_went_back() -> None:
    office = Office({})
    prompt = await office.say("hello")
    claim = await office.claim()
    answer = await office.finish(claim)
    owner = await office.named(prompt.session_id, "me")
    mail = StoreExchange(office.store)
    await mail.send(owner, owner, "hi")
    await mail.collect(owner)
    now = round(answer.message.created_at * 1_000_000)
    for at, wakes in ((now + 1_000_000, False), (now - 3_600_000_000, True)):
        woken = await office.store.write(lambda tx, at=at: delivery.wake(tx, prompt.session_id, at=at))  # type: ignore[misc]
        assert (woken is not None) == wakes, at


async def test_no_name_of_the_address_book_passes_for_an_agent_of_one_s_own() -> None:
    office = Office({})
    answer, _ = await answered_agent(office)
    kin = await office.store.read(lambda tx: kin_of(tx, answer.session_id))
    assert kin is not None
    stranger = await office.say("hello", at=HALL)
    owner = await office.named(stranger.session_id, "scout")
    for name, told in (("scout", "another conversation"), ("cook", "cook")):
        await office.named(stranger.session_id, name)
        assert await office.store.read(lambda tx: called(tx, kin.parent, owner)) == told
    with pytest.raises(ToolRefused, match="nobody has this name"):
        await office.agents.send(session_id=stranger.session_id, call_id="x", to="parent", text="t", channel=None)
    for to in (answer.session_id, str(owner), "sc\u043eut"):
        with pytest.raises(ToolRefused, match="nobody has this name"):
            await office.agents.send(session_id=stranger.session_id, call_id="x", to=to, text="t", channel=None)
