"""What is offered while a command is typed: only what fits it, by number or by words, and only to who may give it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kesoku.adapter.command import Choice, Invocation
from kesoku.adapter.event import Principal
from kesoku.adapter.pairing import LIFETIME, Pairing, new_code
from kesoku.commands.mail import Mail
from kesoku.commands.pair import Pair
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry
from kesoku.commands.stop import Stop
from kesoku.commands.why import Why
from kesoku.errors import KesokuError, NotPossible
from kesoku.exchange import Exchange
from kesoku.messages import make
from kesoku.messages.record import Address
from kesoku.ports import Transaction
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import Held

from .desk import Desk, desk

ELSEWHERE = Address(chatbot_id="discord", channel_id="elsewhere")


def table(*lines: Any) -> Desk:
    made = desk(*lines)
    harness = made.harness
    more = [
        *Why(store=harness.store).commands(),
        *Redact(store=harness.store, clock=harness.clock, folder=Path).commands(),
        *Mail(store=harness.store, clock=harness.clock).commands(),
        *Pair(store=harness.store, clock=harness.clock).commands(),
        Stop(gateway=harness.gateway, store=harness.store).command(),
    ]
    made.registry = Registry([*made.commands(), *more])
    return made


async def offered(
    table: Desk, name: str, typed: str = "", *, by: str = "Ada", admin: bool = False, argument: str = "", **given: str
) -> Sequence[Choice]:
    spec = next(each for each in table.registry.specs() if each.name == name)
    argument = argument or next(each.name for each in spec.arguments if each.completes)
    person = Principal(user_id=f"id-{by}", display_name=by)
    arguments = {**given, argument: typed}
    asked = Invocation(name=name, address=ROOM, principal=person, arguments=arguments, admin=admin)
    return await table.registry.complete(asked, argument)


async def values(*asked: Any, **facts: Any) -> list[str]:
    return [each.value for each in await offered(*asked, **facts)]


async def test_messages_are_offered_by_number_the_latest_first() -> None:
    made = table("one", "two")
    await made.talk("first", "second thing")
    assert list(await offered(made, "why"))[:2] == [
        Choice(label="#4 answer: two", value="4"),
        Choice(label="#3 Ada: second thing", value="3"),
    ]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", ["4", "3", "2", "1"]),
        ("3", ["3"]),
        ("#2", ["2"]),
        ("9", []),
        ("THING", ["3"]),
        ("ada", ["3", "1"]),
        ("no", []),
    ],
)
async def test_what_was_typed_is_a_number_or_words(typed: str, found: list[str]) -> None:
    made = table("one", "two")
    await made.talk("first", "second thing")
    assert await values(made, "why", typed) == found


async def test_of_a_prompt_its_words_are_offered_and_not_its_header() -> None:
    """Else all that is read of each is who wrote it and when, and every prompt holds the name of the time zone."""
    made = table()
    await made.harness.say("`Ada` <@1> at `2026-12-01 12:00:00 UTC`:\nsecond thing")
    assert list(await offered(made, "why")) == [Choice(label="#1 Ada: second thing", value="1")]
    assert await values(made, "why", "utc") == []
    assert await values(made, "why", "thing") == ["1"]
    assert (await made.give("/queue")).endswith(": `second thing`")


async def test_an_old_message_is_found_by_its_number() -> None:
    made = table()
    first = await made.harness.say("the first")
    notices = [first.beside(make.notice(f"number {n}", reason="reply")) for n in range(2, 231)]

    def say(tx: Transaction) -> None:
        for each in notices:
            tx.messages.insert(each, session_id=first.session_id, at=1)

    await made.harness.store.write(say)
    latest = await values(made, "why")
    assert (latest[0], len(latest)) == ("230", 200)
    assert await values(made, "why", "the first") == []
    assert (await values(made, "why", "1"))[:2] == ["199", "198"]
    assert await values(made, "edit", "#1") == ["1"]


async def test_each_command_is_offered_what_it_can_do_something_with() -> None:
    held = Held()
    made = table("one", held)
    await made.talk("first", by="Ada")
    async with made.harness.at_work():
        await made.harness.say("second", by="Bob")
        await held.entered.wait()
        await made.harness.say("third", by="Ada", catch_up=True)
        fitting = {
            "edit": ["4", "1"],
            "retry": ["4", "1"],
            "redact": ["4", "1"],
            "cancel": ["4"],
            "stop": ["4", "3"],
            "pin": ["4", "3", "2", "1"],
            "context": ["4", "3", "2", "1"],
        }
        for name, found in fitting.items():
            assert await values(made, name) == found, name
        assert await values(made, "cancel", by="Bob") == []
        assert await values(made, "edit", by="Eve", admin=True) == ["4", "3", "1"]
        held.release.set()
        await made.worked()


async def test_other_branches_are_offered() -> None:
    made = table("one", "two")
    await made.talk("first")
    await made.give("/retry 1")
    await made.work()
    assert await values(made, "branch", argument="name", action="switch") == ["main"]
    assert await values(made, "branch", "fork", argument="name") == []
    assert await values(made, "branch", argument="action") == []


async def test_admins_are_offered_places_and_dead_letters() -> None:
    made = table("one")
    await made.talk("first")
    await made.give("/mail name home", admin=True)
    await made.harness.say("elsewhere", at=ELSEWHERE)
    assert await values(made, "relay", admin=True) == ["home", str(ELSEWHERE)]
    assert await values(made, "relay", "else", admin=True) == [str(ELSEWHERE)]
    assert await values(made, "relay") == []
    session = await made.harness.bound()
    owner = UUID(session.owner if session else "")
    letter = await made.harness.store.write(lambda tx: _dead(tx, owner))
    assert await values(made, "mail", argument="what", action="redeliver", admin=True) == [letter]
    assert await values(made, "mail", argument="to", action="redeliver", admin=True) == ["home"]
    assert await values(made, "mail", argument="what", action="name", admin=True) == []
    assert await values(made, "mail", argument="what", action="redeliver") == []


async def test_admins_are_offered_the_codes_of_who_waits() -> None:
    made = table()
    eve, code, at = Principal(user_id="eve", display_name="Eve"), new_code(), made.harness.clock.now()
    await made.harness.store.write(lambda tx: Pairing(tx, "discord").offer(eve, "dm", code, at))
    assert await offered(made, "pair", admin=True) == [Choice(label=f"{code}: Eve", value=code)]
    assert await offered(made, "pair") == ()
    assert await made.give(f"/pair {code}", admin=True) == "Eve (`eve`) may talk to this bot now."
    assert await made.give(f"/pair {code}") == "Only an admin of this bot may use /pair."
    assert await values(made, "pair", admin=True) == []
    with pytest.raises(NotPossible, match="I cannot let anybody in with this: nobody waits with such a code"):
        await made.give(f"/pair {code}", admin=True)


async def test_the_name_of_who_came_too_late_is_no_markup() -> None:
    made = table()
    eve, code = Principal(user_id="eve", display_name="[free](https://e.vil)"), new_code()
    at = made.harness.clock.now()
    await made.harness.store.write(lambda tx: Pairing(tx, "discord").offer(eve, "dm", code, at))
    await made.harness.clock.advance(LIFETIME)
    with pytest.raises(NotPossible) as refused:
        await made.give(f"/pair {code}", admin=True)
    assert "the code of `[free](https://e.vil)` has expired" in str(refused.value)


async def test_what_was_typed_is_said_again_as_no_markup() -> None:
    """The reply to a command that was written as a message stands in the channel."""
    made = table("one")
    await made.talk("first")
    link = "[free](https://e.vil)"
    for given in (f"why {link}", f"branch {link}", f"branch switch {link}", f"relay {link}"):
        with pytest.raises(KesokuError) as refused:
            await made.give(f"/{given}", admin=True)
        assert f"`{link}`" in str(refused.value)


async def test_before_anything_was_said_nothing_is_offered() -> None:
    made = table()
    assert await values(made, "why") == []
    given = Invocation(name="nothing", address=ROOM, principal=Principal(user_id="1", display_name="A"))
    assert await made.registry.complete(given, "message") == ()


def _dead(tx: Transaction, owner: UUID) -> str:
    exchange = Exchange(tx.mail, now=lambda: 1)
    letter = exchange.send(owner, "nobody", "hello", "x")
    exchange.route(owner)
    return letter.id
