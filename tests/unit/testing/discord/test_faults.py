"""Rate limits as Discord has them, and faults as a test wants them."""

import asyncio

import discord
import httpx
import pytest

from kesoku.testing.discord import Broken, Hang, Limited, LoopbackDiscord, Lost, Refusal, Usual
from kesoku.testing.waiting import until

from .conftest import Band, Clock, Connect, Hand

SEND = "POST /channels/{}/messages"


async def test_a_bucket_of_a_channel_tells_how_it_stands(
    server: LoopbackDiscord, band: Band, hand: Hand, clock: Clock
) -> None:
    server.rate_limits = True
    for left in (4, 3, 2, 1, 0):
        got = await hand.send(band.general, content="x")
        assert (got.status_code, got.headers["x-ratelimit-remaining"]) == (200, f"{left}")
    clock.seconds += 2
    got = await hand.send(band.general, content="x")
    assert got.status_code == 429
    assert got.json() == {"message": "You are being rate limited.", "retry_after": 3.0, "global": False}
    names = {"x-ratelimit-limit", "x-ratelimit-reset", "x-ratelimit-reset-after", "x-ratelimit-bucket", "via"}
    assert names <= set(got.headers)
    assert (got.headers["retry-after"], got.headers["x-ratelimit-scope"]) == ("3", "user")
    other = server.channel("other", guild=band.guild)
    assert (await hand.send(other, content="x")).status_code == 200
    clock.seconds += 3
    assert (await hand.send(band.general, content="x")).status_code == 200
    assert (server.limited, server.scripted_limits) == (1, 0)


async def test_fifty_requests_a_second_are_enough(
    server: LoopbackDiscord, band: Band, hand: Hand, clock: Clock
) -> None:
    server.rate_limits = True
    got = [await hand("GET", "/users/@me") for _ in range(51)]
    assert [each.status_code for each in got] == [200] * 50 + [429]
    assert (got[-1].json()["global"], got[-1].headers["x-ratelimit-scope"]) == (True, "global")
    assert got[-1].headers["x-ratelimit-global"] == "true"
    assert (await hand("POST", "/interactions/1/x/callback", {"type": 6}, token="")).status_code == 404
    clock.seconds += 1
    assert (await hand("GET", "/users/@me")).status_code == 200


async def test_old_messages_are_seldom_edited_and_nobody_is_told_how_seldom(
    server: LoopbackDiscord, band: Band, hand: Hand, clock: Clock, bot: Connect
) -> None:
    server.rate_limits = True
    old, young = [await server.say(band.general, server.world.bot, "x", ago=ago) for ago in (4000, 60)]
    path = f"/channels/{band.general.id}/messages"
    got = [await hand("PATCH", f"{path}/{old.id}", {"content": f"{n}"}) for n in range(4)]
    assert [each.status_code for each in got] == [200, 200, 200, 429]
    assert (got[3].json()["code"], got[3].json().keys()) == (30046, {"code", "message"})
    assert not {"via", "retry-after"} & set(got[3].headers)
    assert (await hand("PATCH", f"{path}/{young.id}", {"content": "y"})).status_code == 200
    async with bot() as client:
        message = client.get_partial_messageable(band.general.id).get_partial_message(old.id)
        with pytest.raises(discord.HTTPException) as refused:
            await message.edit(content="z")
        assert (refused.value.status, refused.value.code) == (429, 30046)
        clock.seconds += 20
        await message.edit(content="z")
    assert (old.content, server.limited) == ("z", 2)


async def test_two_names_in_ten_minutes_without_a_word_in_the_headers(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    server.rate_limits = True
    thread = server.thread(band.general, "topic", by=server.world.bot)
    got = [await hand("PATCH", f"/channels/{thread.id}", {"name": f"{n}"}) for n in range(3)]
    assert [each.status_code for each in got] == [200, 200, 429]
    assert (got[2].json()["retry_after"], got[2].headers["x-ratelimit-remaining"]) == (600, "4")
    assert (await hand("PATCH", f"/channels/{thread.id}", {"archived": True})).status_code == 200


async def test_faults_come_in_order_and_in_their_channel(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    other = server.channel("other", guild=band.guild)
    server.script(Refusal(403, 50013, "Missing Permissions"), Usual(), Broken(503), on=SEND, channel=band.general)
    server.script(Limited(0.2, scope="shared"), Limited(0.1, everywhere=True), on=SEND, channel=other)
    got = [await hand.send(band.general, content=f"{n}") for n in range(4)]
    assert [each.status_code for each in got] == [403, 200, 503, 200]
    assert (got[0].json()["code"], got[2].headers["content-type"]) == (50013, "text/html; charset=utf-8")
    shared, everywhere = [await hand.send(other, content="x") for _ in range(2)]
    assert (shared.json()["retry_after"], shared.headers["x-ratelimit-scope"]) == (0.2, "shared")
    assert (everywhere.json()["global"], everywhere.headers["via"] != "") == (True, True)
    assert (server.limited, server.scripted_limits, server.unused) == (0, 2, 0)
    assert [(each.status, each.scripted) for each in server.asked(SEND)][:2] == [(403, True), (200, True)]


@pytest.mark.parametrize("done", [False, True])
async def test_a_connection_is_lost_before_or_after_the_work(
    server: LoopbackDiscord, band: Band, hand: Hand, done: bool
) -> None:
    server.script(Lost(done=done), on=SEND)
    with pytest.raises(httpx.TransportError):
        await hand.send(band.general, content="x")
    assert len(server.messages(band.general)) == done


@pytest.mark.parametrize("done", [False, True])
async def test_a_request_hangs_before_or_after_the_work(
    server: LoopbackDiscord, band: Band, hand: Hand, done: bool
) -> None:
    server.script(Hang(done=done), on=SEND)
    sending = asyncio.create_task(hand.send(band.general, content="x"))
    await until(lambda: met(server), what="the request hangs")
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert len(server.messages(band.general)) == done
    assert server.asked(SEND)[0].status is None


async def met(server: LoopbackDiscord) -> bool:
    return server.unused == 0


async def test_faults_of_unknown_routes_are_mistakes(server: LoopbackDiscord) -> None:
    with pytest.raises(ValueError, match="no route"):
        server.script(Usual(), on="POST /channel/{}/messages")
    with pytest.raises(ValueError, match="no route"):
        server.asked("GET /nothing")


async def test_the_client_waits_out_a_limit(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        server.script(Limited(0.01), on=SEND)
        await client.get_partial_messageable(band.general.id).send("x")
        assert [each.status for each in server.asked(SEND)] == [429, 200]
        server.script(Refusal(403, 50013, "Missing Permissions"), on=SEND)
        with pytest.raises(discord.Forbidden):
            await client.get_partial_messageable(band.general.id).send("x")
