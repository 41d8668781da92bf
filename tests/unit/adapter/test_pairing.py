"""Pairing: a code for a stranger in private, confirmed by the owner, for this bot and until it is taken back."""

import re
from dataclasses import replace
from typing import Any

import pytest

from kesoku.adapter import Address, Command, Pressed, Principal, Prompt
from kesoku.adapter.access import Access
from kesoku.adapter.pairing import LIFETIME, MOST, WELCOME, Guest, Pairing, new_code
from kesoku.adapter.state import scope_of
from kesoku.errors import CodeExpired, CodeUnknown
from kesoku.messages import make
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import settle

ROOM = Address(chatbot_id="recording", channel_id="room")
PRIVATE = Address(chatbot_id="recording", channel_id="eve")
EVE = Principal(user_id="eve", display_name="Eve", direct=True)
CODE = re.compile("`([A-Z]{8})`")


def prompt(text: str = "hello", *, key: str = "k1", by: Principal = EVE, at: Address = PRIVATE) -> Prompt:
    return Prompt(keys=(key,), address=at, principal=by, text=text)


async def ask(runner: AdapterRunner, *, by: Principal = EVE, key: str = "k1") -> str:
    """What a stranger is told in private."""
    (notice,) = await runner.inbox.accept([prompt(by=by, key=key, at=replace(PRIVATE, channel_id=by.user_id))])
    return notice.message.text


def code_in(told: str) -> str:
    found = CODE.search(told)
    assert found, told
    return found[1]


async def admit(runner: AdapterRunner, code: str) -> Guest:
    welcome, at = make.notice(WELCOME, reason="reply"), runner.clock.now()

    def confirm(tx: Any) -> Guest:
        return Pairing(tx, "recording").admit(code, by="owner", welcome=welcome, at=at)

    return await runner.store.write(confirm)


async def is_heard(runner: AdapterRunner, key: str, *, at: Address = PRIVATE) -> bool:
    records = await runner.inbox.accept([prompt(key=key, at=at)])
    return [record.kind for record in records] == ["user_prompt"]


async def test_whoever_gave_the_owner_the_code_is_heard_from_the_next_message_on(world: Any) -> None:
    runner = world.runner(access=Access())
    code = code_in(await ask(runner))
    assert not await is_heard(runner, "k2")
    guest = await admit(runner, f" {code[:4].lower()}-{code[4:].lower()} ")
    assert (guest.user_id, guest.name, guest.by) == ("eve", "Eve", "owner")
    assert await is_heard(runner, "k3")
    assert await is_heard(runner, "k4", at=ROOM)
    with pytest.raises(CodeUnknown):
        await admit(runner, code)


async def test_the_person_is_told_where_they_asked(world: Any, quiet: Any) -> None:
    async with world.runner(access=Access()) as runner:
        world.platform.say("eve", "hello", by="eve", direct=True)
        await settle()
        await quiet(runner)
        await admit(runner, code_in(world.platform.texts("eve")[0]))
        await settle()
        await quiet(runner)
        assert world.platform.texts("eve")[1:] == [WELCOME]


async def test_whoever_is_removed_is_denied_at_once(world: Any) -> None:
    """Complaint 164."""
    runner = world.runner(access=Access())
    await admit(runner, code_in(await ask(runner)))
    assert await runner.inbox.allowed(EVE, PRIVATE)
    assert await runner.store.write(lambda tx: Pairing(tx, "recording").remove("eve"))
    assert not await runner.inbox.allowed(EVE, PRIVATE)
    assert not await is_heard(runner, "k2")
    assert not await runner.store.write(lambda tx: Pairing(tx, "recording").remove("eve"))


async def test_deny_wins_over_a_code_and_says_nothing(world: Any) -> None:
    """Complaint 164."""
    runner = world.runner(access=Access())
    await admit(runner, code_in(await ask(runner)))
    runner.inbox.access = Access(deny=("user:eve",))
    events = [prompt(key="k2"), Command(key="k3", address=PRIVATE, principal=EVE, name="help")]
    assert await runner.inbox.accept(events) == []
    assert not await runner.inbox.allowed(EVE, PRIVATE)


async def test_where_others_read_no_code_is_given(world: Any) -> None:
    runner = world.runner(access=Access())
    (notice,) = await runner.inbox.accept([prompt(by=replace(EVE, direct=False), at=ROOM)])
    assert not CODE.search(notice.message.text)
    assert "write to me in private" in notice.message.text
    assert "`user:eve`" in notice.message.text
    assert "[adapters.recording]" in notice.message.text
    assert CODE.search(await ask(runner, key="k2"))


async def test_a_person_has_one_code_at_a_time_for_an_hour(world: Any) -> None:
    runner = world.runner(access=Access())
    code = code_in(await ask(runner))
    other = world.runner(access=Access())  # another process: it does not know what was said
    assert code_in(await ask(other, key="k2")) == code
    await world.clock.advance(LIFETIME)
    with pytest.raises(CodeExpired):
        await admit(runner, code)
    assert code_in(await ask(runner, key="k3")) != code


async def test_so_many_people_wait_and_no_more(world: Any) -> None:
    runner = world.runner(access=Access())
    people = [replace(EVE, user_id=f"p{n}") for n in range(MOST + 1)]
    told = []
    for person in people:
        told.append(await ask(runner, by=person, key=person.user_id))
        await world.clock.advance(10)
    assert [bool(CODE.search(each)) for each in told] == [True] * MOST + [False]
    assert "`user:p20`" in told[-1]


async def test_a_code_counts_for_its_own_bot_only(world: Any) -> None:
    runner = world.runner(access=Access())
    code = code_in(await ask(runner))
    at = world.clock.now()
    assert not await world.store.read(lambda tx: Pairing(tx, "other").knows(code, at))
    await admit(runner, code)
    assert not await world.store.read(lambda tx: Pairing(tx, "other").is_guest("eve"))


async def test_a_guest_is_no_admin(world: Any) -> None:
    runner = world.runner(access=Access())
    await admit(runner, code_in(await ask(runner)))
    assert not await runner.inbox.allowed(EVE, PRIVATE, "approve")


async def test_a_bot_and_an_unknown_person_get_no_code(world: Any) -> None:
    runner = world.runner(access=Access())
    assert await runner.inbox.accept([prompt(by=replace(EVE, is_bot=True))]) == []
    assert not CODE.search(await ask(runner, by=replace(EVE, user_id="", display_name="?")))


async def test_a_press_of_a_stranger_is_told_too(world: Any) -> None:
    runner = world.runner(access=Access())
    (notice,) = await runner.inbox.accept([Pressed(key="k", address=PRIVATE, principal=EVE, token="t", index=0)])
    assert CODE.search(notice.message.text)


OF_EVE = {"user_id": "eve", "name": "Eve", "channel_id": "eve"}


@pytest.mark.parametrize(
    "damage",
    [
        5,
        {"guests": 5},
        {"guests": {"eve": {}}, "codes": {"X": 1, "Y": {"code": "Y"}}},
        {
            "guests": {"eve": {**OF_EVE, "at": "yesterday", "by": "x"}},
            "codes": {"X": {"code": "X", "until": "1", **OF_EVE}},
        },
        {"guests": {"eve": {**OF_EVE, "at": 1, "by": "x", "role": "admin"}}, "codes": ["X"]},
    ],
)
async def test_a_damaged_value_is_as_if_nobody_was_there(world: Any, damage: Any) -> None:
    runner = world.runner(access=Access())
    await world.store.write(lambda tx: tx.state.set(scope_of("recording"), "kesoku:pairing", damage))
    at = world.clock.now()
    assert await world.store.read(
        lambda tx: (Pairing(tx, "recording").guests(), Pairing(tx, "recording").codes(at))
    ) == (
        [],
        [],
    )
    assert not await runner.inbox.allowed(EVE, PRIVATE)
    assert CODE.search(await ask(runner))


async def test_a_clock_that_was_far_ahead_keeps_no_code_good_and_takes_no_place(world: Any) -> None:
    """A code of next year would be good until then, and twenty of them would leave none for anybody."""
    ahead = world.clock.now() + round(365 * 86_400 * 1e6)
    people = [replace(EVE, user_id=f"p{n}") for n in range(MOST)]
    codes = [new_code() for _ in people]

    def offer(tx: Any) -> None:
        for person, code in zip(people, codes, strict=True):
            Pairing(tx, "recording").offer(person, "p", code, ahead)

    await world.store.write(offer)
    runner = world.runner(access=Access())
    with pytest.raises(CodeUnknown):
        await admit(runner, codes[0])
    assert (await admit(runner, code_in(await ask(runner)))).user_id == "eve"


def test_a_code_has_no_letter_that_looks_like_another() -> None:
    assert not set("".join(new_code() for _ in range(200))) & set("ILOU0123456789")


async def test_a_write_that_runs_twice_gives_one_code(rerun_world: Any) -> None:
    runner = rerun_world.runner(access=Access())
    code = code_in(await ask(runner))
    at = rerun_world.clock.now()
    assert [each.code for each in await rerun_world.store.read(lambda tx: Pairing(tx, "recording").codes(at))] == [code]
    await admit(runner, code)
    assert await is_heard(runner, "k2")
