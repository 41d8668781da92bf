"""Guilds, channels, threads and who may do what in them."""

import httpx
import pytest

from kesoku.testing.discord import Kind, LoopbackDiscord, MessageType
from kesoku.testing.discord.world import permission

from .conftest import Band, Hand


async def test_the_bot_reads_who_and_where_it_is(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    role = server.role(band.guild, "admins", permissions=8)
    server.join(band.guild, band.ada, nick="Adalovelace", roles=[role])
    guild = f"/guilds/{band.guild.id}"
    assert (await hand("GET", "/users/@me")).json()["id"] == str(server.bot_id)
    assert (await hand("GET", f"/users/{band.ada.id}")).json()["username"] == "ada99"
    assert [each["name"] for each in (await hand("GET", "/users/@me/guilds")).json()] == ["Band"]
    assert (await hand("GET", guild)).json()["name"] == "Band"
    assert [each["name"] for each in (await hand("GET", f"{guild}/roles")).json()] == ["@everyone", "admins"]
    assert [each["name"] for each in (await hand("GET", f"{guild}/channels")).json()] == ["general"]
    member = (await hand("GET", f"{guild}/members/{band.ada.id}")).json()
    assert (member["nick"], member["roles"]) == ("Adalovelace", [str(role.id)])
    assert (await hand("GET", f"{guild}/members/1")).json()["code"] == 10007
    assert (await hand("GET", "/guilds/1")).json()["code"] == 10004
    assert (await hand("GET", "/users/1")).json()["code"] == 10013
    assert (await hand("GET", "/gateway/bot")).json()["url"] == server.gateway_url
    assert (await hand("GET", "/gateway", token="")).json()["url"] == server.gateway_url


@pytest.mark.parametrize("path", ["/oauth2/applications/@me", "/applications/@me"])
async def test_the_application_tells_its_intents(server: LoopbackDiscord, hand: Hand, path: str) -> None:
    assert (await hand("GET", path)).json()["flags"] == 1 << 19
    server.disallow_intents()
    assert (await hand("GET", path)).json()["flags"] == 0


async def test_wrong_tokens_and_routes(server: LoopbackDiscord, hand: Hand) -> None:
    for token in ("", "wrong", server.token, f"Bearer {server.token}"):
        assert (await hand("GET", "/users/@me", token=token)).status_code == 401
    server.revoke()
    assert (await hand("GET", "/users/@me")).status_code == 401
    server.restore()
    assert (await hand("GET", "/users/@me")).status_code == 200
    assert (await hand("GET", "/nowhere")).status_code == 404
    assert (await hand("DELETE", "/users/@me")).status_code == 405
    assert [each.path for each in server.unknown] == ["/nowhere", "/users/@me"]


async def test_a_strict_server_ends_with_an_error_about_unknown_routes() -> None:
    server = LoopbackDiscord(strict=True)
    await server.__aenter__()
    async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bot {server.token}"}) as http:
        await http.get(f"{server.api_base_url}/nowhere")
    with pytest.raises(AssertionError, match="/nowhere"):
        await server.__aexit__(None, None, None)


async def test_bodies_are_json_of_the_right_kind(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    url = f"{server.api_base_url}/channels/{band.general.id}/messages"
    authorization = {"Authorization": f"Bot {server.token}"}
    async with httpx.AsyncClient(trust_env=False, headers=authorization) as http:
        text = await http.post(url, content=b'{"content": "x"}', headers={"Content-Type": "text/plain"})
        broken = await http.post(url, content=b"{", headers={"Content-Type": "application/json"})
        half = await http.post(url, content=rb'{"content": "\ud800"}', headers={"Content-Type": "application/json"})
        form = await http.post(url, files=[("other", ("a", b"x"))])
        bare = await http.post(url, files=[("files[0]", ("a", b"x"))])
        listed = await http.post(url, json=[])
    told = [(each.status_code, each.json()["code"]) for each in (text, broken, half, form, bare, listed)]
    assert told == [(400, 50109), (400, 50109), (400, 50109), (400, 50035), (400, 50035), (400, 50035)]
    assert (await hand("GET", "/channels/general")).json()["code"] == 50035


async def test_overwrites_and_roles_are_computed(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    server.permit(band.general, deny=permission.SEND_MESSAGES)
    assert (await hand.send(band.general, content="x")).json()["code"] == 50013
    server.permit(band.general, deny=permission.VIEW_CHANNEL)
    assert (await hand.send(band.general, content="x")).json()["code"] == 50001
    assert (await hand("POST", f"/channels/{band.general.id}/typing")).json()["code"] == 50001
    server.permit(band.general, deny=permission.ATTACH_FILES | permission.EMBED_LINKS)
    assert (await hand.upload(band.general, {}, ("a.txt", b"x"))).json()["code"] == 50013
    assert (await hand.send(band.general, embeds=[{"title": "x"}])).json()["code"] == 50013
    role = server.role(band.guild, "bots", permissions=permission.ADMINISTRATOR)
    server.join(band.guild, server.world.bot, roles=[role])
    assert (await hand.upload(band.general, {}, ("a.txt", b"x"))).status_code == 200
    assert (await hand.send(server.channel("rooms", guild=band.guild, kind=Kind.CATEGORY), content="x")).json()[
        "code"
    ] == 50008


async def test_threads_need_their_own_permissions(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    said = await server.say(band.general, band.ada, "topic")
    path = f"/channels/{band.general.id}/messages/{said.id}/threads"
    server.permit(band.general, deny=permission.CREATE_PUBLIC_THREADS)
    assert (await hand("POST", path, {"name": "x"})).json()["code"] == 50013
    server.permit(band.general, deny=permission.SEND_MESSAGES_IN_THREADS)
    for name in ("", "x" * 101, " "):
        assert (await hand("POST", path, {"name": name})).json()["code"] == 50035
    assert (await hand("POST", path, {})).json()["code"] == 50035
    assert (await hand("POST", path, {"name": "x", "auto_archive_duration": 5})).json()["code"] == 50035
    made = await hand("POST", path, {"name": "x" * 100})
    assert (made.status_code, made.json()["id"], made.json()["type"]) == (201, str(said.id), 11)
    assert said.thread is not None
    assert (await hand.send(said.thread, content="x")).json()["code"] == 50013
    server.permit(band.general)
    assert (await hand.send(said.thread, content="x")).status_code == 200
    inner = server.messages(said.thread)[0]
    nested = f"/channels/{said.thread.id}/messages/{inner.id}/threads"
    assert (await hand("POST", nested, {"name": "x"})).json()["code"] == 50024


async def test_an_archived_thread_opens_again_unless_it_is_locked(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    thread = server.thread(band.general, "topic", by=band.ada)
    await hand.send(thread, content="x")
    (message,) = server.messages(thread)
    server.archive(thread)
    path = f"/channels/{thread.id}/messages/{message.id}"
    assert (await hand("PATCH", path, {"content": "y"})).json()["code"] == 50083
    assert (await hand("PUT", f"{path}/reactions/%F0%9F%91%80/@me")).json()["code"] == 50083
    assert (await hand.send(thread, content="y")).status_code == 200
    assert not thread.archived
    server.archive(thread)
    assert (await hand("PATCH", f"/channels/{thread.id}", {"archived": False})).status_code == 200
    assert (await hand("PATCH", f"/channels/{thread.id}", {"name": "x"})).json()["code"] == 50013
    server.archive(thread, locked=True)
    assert (await hand.send(thread, content="z")).json()["code"] == 160005
    assert (await hand("PATCH", f"/channels/{thread.id}", {"archived": False})).json()["code"] == 50013
    active = await hand("GET", f"/guilds/{band.guild.id}/threads/active")
    assert active.json()["threads"] == []
    thread.archived = False
    assert (await hand("PATCH", path, {"content": "z"})).json()["code"] == 160005


async def test_a_thread_without_a_message_is_told_in_its_channel(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    made = await hand("POST", f"/channels/{band.general.id}/threads", {"name": "topic", "type": 11})
    assert made.status_code == 201
    (told,) = server.everything(band.general)
    assert (int(told.type), told.content) == (18, "topic")
    assert server.messages(band.general) == []
    got = await hand.send(band.general, content="x", message_reference={"message_id": str(told.id)})
    assert got.json()["errors"]["message_reference"]["_errors"][0]["code"] == "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"


async def test_a_thread_from_an_old_message_is_told_in_its_channel(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    old = await server.say(band.general, band.ada, "long ago", ago=3600)
    new = await server.say(band.general, band.ada, "now")
    for each in (old, new):
        await hand("POST", f"/channels/{band.general.id}/messages/{each.id}/threads", {"name": each.content})
    told = [each for each in server.everything(band.general) if each.type == MessageType.THREAD_CREATED]
    assert [(each.content, each.author_id) for each in told] == [("long ago", server.bot_id)]


async def test_a_private_thread_is_seen_by_who_is_in_it(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    theirs = server.thread(band.general, "secret", by=band.ada, private=True)
    assert (await hand.send(theirs, content="x")).json()["code"] == 50001
    ours = await hand("POST", f"/channels/{band.general.id}/threads", {"name": "ours", "type": 12})
    assert (await hand("POST", f"/channels/{ours.json()['id']}/typing")).status_code == 204
    assert server.everything(band.general) == []


async def test_direct_messages_can_be_refused(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    opened = await hand("POST", "/users/@me/channels", {"recipient_id": str(band.ada.id)})
    direct = server.direct(band.ada)
    assert opened.json()["id"] == str(direct.id)
    assert (await hand.send(direct, content="x")).status_code == 200
    band.ada.accepts_direct = False
    assert (await hand.send(direct, content="x")).json()["code"] == 50007
    assert (await hand("POST", "/users/@me/channels", {"recipient_id": "1"})).json()["code"] == 10013
    theirs = await server.say(direct, band.ada, "y")
    assert (await hand("DELETE", f"/channels/{direct.id}/messages/{theirs.id}")).json()["code"] == 50003


async def test_a_deleted_channel_is_gone(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    server.remove(band.general)
    assert (await hand("POST", f"/channels/{band.general.id}/typing")).json()["code"] == 10003
    assert (await hand.send(band.general, content="x")).json()["code"] == 10003


async def test_a_bot_that_was_expelled_has_no_access(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    server.expel(band.guild)
    assert (await hand("GET", f"/guilds/{band.guild.id}")).json()["code"] == 50001
    assert (await hand.send(band.general, content="x")).json()["code"] == 50001
    assert (await hand("GET", "/users/@me/guilds")).json() == []


async def test_twenty_reactions_and_real_emojis(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    said = await server.say(band.general, band.ada, "x")
    path = f"/channels/{band.general.id}/messages/{said.id}/reactions"
    assert (await hand("PUT", f"{path}/x/@me")).json()["code"] == 10014
    for number in range(20):
        assert (await hand("PUT", f"{path}/party:{number + 1}/@me")).status_code == 204
    assert (await hand("PUT", f"{path}/party:21/@me")).json()["code"] == 30010
    assert (await hand("DELETE", f"{path}/party:21/@me")).json()["code"] == 10014
