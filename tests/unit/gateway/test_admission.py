"""Floods: bounded rows, and the person is told."""

import pytest

from kesoku.gateway import FloodBounds
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Address, Post
from kesoku.ports import Store
from kesoku.testing.gateway_harness import ROOM, GatewayHarness, prompt

WIDE = {"per_person_per_minute": 10**6, "per_channel_per_minute": 10**6, "queued_per_channel": 10**6}
OTHER = Address(chatbot_id="discord", channel_id="other")


def bounded(store: Store, **bounds: int) -> GatewayHarness:
    return GatewayHarness(store, bounds=FloodBounds(**{**WIDE, "queued_total": 10**6, **bounds}))


@pytest.mark.no_cover
async def test_thousands_of_prompts_of_one_person_leave_twenty_and_one_notice(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=20)
    for _ in range(4):
        records = await bench.gateway.accept([prompt(f"{n}") for n in range(500)])
        assert records[-1].kind == "notice"
    notices = [each for each in await bench.session(records[-1]) if each.kind == "notice"]
    assert len(notices) == 1
    assert (notices[0].status, notices[0].message.source.reason) == (S.PENDING, "reply")  # type: ignore[attr-defined]
    assert "20 messages a minute" in notices[0].message.rendered
    assert len(await bench.session(records[-1])) == 21


async def test_the_person_is_told_again_in_the_next_minute(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=1)
    assert [(await bench.say()).kind for _ in range(3)] == ["user_prompt", "notice", "notice"]
    assert len(await bench.notices()) == 1
    await bench.clock.advance(60)
    assert [(await bench.say()).kind for _ in range(3)] == ["user_prompt", "notice", "notice"]
    assert len(await bench.notices()) == 2


async def test_everyone_who_is_refused_is_told_once(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=1)
    for person in ("Ada", "Bob", "Ada", "Bob", "Ada", "Bob"):
        await bench.say(by=person)
    assert len(await bench.notices()) == 2


@pytest.mark.parametrize(
    "bounds",
    [{"per_channel_per_minute": 3}, {"queued_per_channel": 3}, {"queued_total": 3}],
    ids=lambda bounds: next(iter(bounds)),
)
async def test_what_many_people_say_together_is_bounded(store: Store, bounds: dict[str, int]) -> None:
    bench = bounded(store, **bounds)
    kinds = [(await bench.say(by=f"person {n}")).kind for n in range(6)]
    assert kinds == ["user_prompt"] * 3 + ["notice"] * 3
    elsewhere = await bench.say(by="Zoe", at=OTHER)
    assert elsewhere.kind == ("notice" if "queued_total" in bounds else "user_prompt")


async def test_a_queue_that_drains_takes_more(store: Store) -> None:
    bench = bounded(store, queued_per_channel=1)
    first = await bench.say("one")
    assert (await bench.say("two")).kind == "notice"
    await bench.finish(await bench.claim())
    assert (await bench.say("three")).kind == "user_prompt"
    assert await bench.status(first) is S.PROCESSED


async def test_catching_up_has_no_rate_but_a_queue(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=1, per_channel_per_minute=1, queued_per_channel=5)
    kinds = [(await bench.say(catch_up=True)).kind for _ in range(7)]
    assert kinds == ["user_prompt"] * 5 + ["notice"] * 2


async def test_a_refused_prompt_can_be_sent_again(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=1)
    await bench.say("one", keys=["1"])
    assert (await bench.say("two", keys=["2"])).kind == "notice"
    assert (await bench.say("one", keys=["1"])).kind == "user_prompt", "a redelivery costs nothing"
    await bench.clock.advance(60)
    assert (await bench.say("two", keys=["2"])).kind == "user_prompt"


async def test_a_refused_prompt_interrupts_nothing(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=1)
    await bench.say("one")
    claim = await bench.claim()
    assert (await bench.say("two")).kind == "notice"
    assert await bench.status(claim.prompt) is S.PROCESSING


async def test_people_without_an_id_are_bounded_by_their_channel(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=1, per_channel_per_minute=2)
    posts = [Post(message=make.user_prompt("x", author="User"), address=ROOM) for _ in range(4)]
    records = await bench.gateway.accept(posts)
    assert [each.kind for each in records] == ["user_prompt"] * 2 + ["notice"] * 2


async def test_a_flood_of_channels_makes_no_sessions(store: Store) -> None:
    bench = bounded(store, per_person_per_minute=5)
    for n in range(100):
        await bench.say(at=Address(chatbot_id="discord", channel_id=f"thread {n}"))
    sessions = await store.read(lambda tx: tx.sessions.recent(1000))
    assert len(sessions) == 6
