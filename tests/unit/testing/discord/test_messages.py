"""Messages that Discord would refuse are refused, with its codes; others are kept as they came."""

from typing import Any

import pytest

from kesoku.testing.discord import LoopbackDiscord
from kesoku.testing.discord.world import permission

from .conftest import Band, Clock, Hand, voice

BUTTON = {"type": 2, "style": 2, "label": "Stop", "custom_id": "stop"}
OPTION = {"label": "One", "value": "1"}
MENU = {"type": 3, "custom_id": "menu", "options": [OPTION]}


def row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def options(count: int) -> list[dict[str, Any]]:
    return [{"label": f"{n}", "value": f"{n}"} for n in range(count)]


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"content": "x" * 2001}, "content", "BASE_TYPE_MAX_LENGTH"),
        ({"content": 5}, "content", "STRING_TYPE_CONVERT"),
        ({"content": "x", "nonce": "n" * 26}, "nonce", "BASE_TYPE_MAX_LENGTH"),
        ({"content": "x", "nonce": 1 << 64}, "nonce", "NUMBER_TYPE_MAX"),
        ({"content": "x", "flags": 64}, "flags", "MESSAGE_FLAGS_INVALID"),
        ({"content": "x", "flags": "silent"}, "flags", "NUMBER_TYPE_COERCE"),
        ({"content": "x", "allowed_mentions": []}, "allowed_mentions", "DICT_TYPE_CONVERT"),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0", "BASE_TYPE_CHOICES"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
            "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        ),
        ({"embeds": [{"title": "x"}] * 11}, "embeds", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"title": "x" * 257}]}, "embeds.0.title", "BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{}]}, "embeds.0.description", "BASE_TYPE_REQUIRED"),
        ({"embeds": [{"fields": [{"name": "n"}]}]}, "embeds.0.fields.0.value", "BASE_TYPE_REQUIRED"),
        ({"embeds": [{"description": "x" * 4000}] * 2}, "embeds", "MAX_EMBED_SIZE_EXCEEDED"),
        ({"content": "x", "flags": 1 << 15}, "content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"),
        ({"flags": 1 << 15, "components": [{"type": 10, "content": "x"}] * 41}, "components", "BASE_TYPE_MAX_LENGTH"),
        (
            {"flags": 1 << 15, "components": [{"type": 10, "content": "x" * 4001}]},
            "components",
            "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
        ),
        ({"components": [row(BUTTON)] * 6}, "components", "BASE_TYPE_BAD_LENGTH"),
        ({"components": [BUTTON]}, "components.0.type", "BASE_TYPE_CHOICES"),
        ({"components": [row()]}, "components.0.components", "BASE_TYPE_BAD_LENGTH"),
        ({"components": [row(*[BUTTON] * 6)]}, "components.0.components", "BASE_TYPE_BAD_LENGTH"),
        ({"components": [row(BUTTON, BUTTON)]}, "components.0.components.1", "COMPONENT_CUSTOM_ID_DUPLICATED"),
        ({"components": [row({**BUTTON, "label": "x" * 81})]}, "components.0.components.0.label", None),
        ({"components": [row({**BUTTON, "label": ""})]}, "components.0.components.0", None),
        ({"components": [row({**BUTTON, "custom_id": ""})]}, "components.0.components.0.custom_id", None),
        ({"components": [row({**BUTTON, "custom_id": "x" * 101})]}, "components.0.components.0.custom_id", None),
        ({"components": [row({"type": 2, "style": 2, "label": "x"})]}, "components.0.components.0.custom_id", None),
        ({"components": [row({**BUTTON, "style": 9})]}, "components.0.components.0.style", "BASE_TYPE_CHOICES"),
        ({"components": [row({**BUTTON, "style": 5})]}, "components.0.components.0.url", "BASE_TYPE_REQUIRED"),
        ({"components": [row({**BUTTON, "disabled": 1})]}, "components.0.components.0.disabled", None),
        ({"components": [row(MENU, BUTTON)]}, "components.0.components.0", "COMPONENT_LAYOUT_WIDTH_EXCEEDED"),
        ({"components": [row({**MENU, "options": []})]}, "components.0.components.0.options", None),
        ({"components": [row({**MENU, "options": options(26)})]}, "components.0.components.0.options", None),
        (
            {"components": [row({**MENU, "options": [OPTION, OPTION]})]},
            "components.0.components.0.options.1.value",
            "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
        ),
        (
            {"components": [row({**MENU, "options": [{**OPTION, "label": "x" * 101}]})]},
            "components.0.components.0.options.0.label",
            "BASE_TYPE_BAD_LENGTH",
        ),
        ({"components": [row({**MENU, "max_values": 2})]}, "components.0.components.0.max_values", None),
        ({"components": [row({**MENU, "placeholder": "x" * 151})]}, "components.0.components.0.placeholder", None),
    ],
)
async def test_what_is_wrong_is_named_by_its_path(
    server: LoopbackDiscord, band: Band, hand: Hand, body: dict[str, Any], path: str, code: str | None
) -> None:
    got = await hand.send(band.general, **body)
    assert (got.status_code, got.json()["code"]) == (400, 50035)
    at = got.json()["errors"]
    for name in path.split("."):
        at = at[name]
    assert code is None or [each["code"] for each in at["_errors"]] == [code]
    assert server.messages(band.general) == []


@pytest.mark.parametrize("body", [{}, {"content": " \n"}, {"content": None, "embeds": [], "components": []}])
async def test_nothing_to_be_seen_is_no_message(band: Band, hand: Hand, body: dict[str, Any]) -> None:
    got = await hand.send(band.general, **body)
    assert (got.status_code, got.json()["code"]) == (400, 50006)


async def test_a_message_is_kept_as_it_came(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    components = [row(BUTTON), row({**MENU, "options": options(25), "max_values": 25})]
    got = await hand.send(band.general, content="x" * 2000, components=components, nonce="n" * 25, flags=4096)
    assert got.status_code == 200
    assert got.headers["content-type"] == "application/json"
    (message,) = server.messages(band.general)
    assert (len(message.content), message.components, message.nonce, message.flags) == (
        2000,
        components,
        "n" * 25,
        4096,
    )


async def test_a_nonce_is_good_for_one_message(server: LoopbackDiscord, band: Band, hand: Hand, clock: Clock) -> None:
    first = (await hand.send(band.general, content="one", nonce="a", enforce_nonce=True)).json()
    again = (await hand.send(band.general, content="one", nonce="a", enforce_nonce=True)).json()
    assert (first["id"], server.doubled, len(server.messages(band.general))) == (again["id"], 1, 1)
    await hand.send(band.general, content="two", nonce="a")
    assert len(server.messages(band.general)) == 2
    clock.seconds += server.nonce_window + 1
    await hand.send(band.general, content="three", nonce="a", enforce_nonce=True)
    assert len(server.messages(band.general)) == 3


async def test_a_nonce_of_a_deleted_message_is_not_found(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    await hand.send(band.general, content="one", nonce="a", enforce_nonce=True)
    await server.delete(server.messages(band.general)[0])
    got = await hand.send(band.general, content="one", nonce="a", enforce_nonce=True)
    assert (got.status_code, got.json()["code"]) == (404, 10008)


async def test_a_reply_needs_its_message(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    other = server.channel("other", guild=band.guild)
    said = await server.say(other, band.ada, "elsewhere")
    for named in ({"message_id": "1"}, {"message_id": str(said.id), "channel_id": str(other.id)}):
        got = await hand.send(band.general, content="x", message_reference=named)
        assert (got.status_code, list(got.json()["errors"])) == (400, ["message_reference"])
    lenient = {"message_id": "1", "fail_if_not_exists": False}
    assert (await hand.send(band.general, content="x", message_reference=lenient)).status_code == 200
    assert server.messages(band.general)[0].reply_to is None


async def test_who_is_told_of_a_message(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    role = server.role(band.guild, "admins")
    text = f"<@{band.ada.id}> <@&{role.id}> @everyone"
    await hand.send(band.general, content=text)
    await hand.send(band.general, content=text, allowed_mentions={"parse": []})
    await hand.send(band.general, content=text, allowed_mentions={"users": [str(band.ada.id)]})
    told = [(each.mentions, each.mention_roles, each.mention_everyone) for each in server.messages(band.general)]
    assert told == [([band.ada], [role.id], True), ([], [], False), ([band.ada], [], False)]
    server.permit(band.general, deny=permission.MENTION_EVERYONE)
    await hand.send(band.general, content="@everyone")
    assert not server.messages(band.general)[-1].mention_everyone


async def test_files_have_matching_entries_and_limits(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    entry = {"id": 0, "filename": "a.txt", "description": "d" * 1024}
    assert (await hand.upload(band.general, {"attachments": [entry]}, ("a.txt", b"x"))).status_code == 200
    for wrong in ({**entry, "id": 1}, {**entry, "description": "d" * 1025}, {"filename": "a.txt"}):
        got = await hand.upload(band.general, {"attachments": [wrong]}, ("a.txt", b"x"))
        assert (got.status_code, got.json()["code"]) == (400, 50035)
    got = await hand.upload(band.general, {}, *[("a.txt", b"x")] * 11)
    assert (got.status_code, got.json()["code"]) == (400, 30015)
    (message,) = server.messages(band.general)
    url = message.attachments[0].url
    assert (await hand.fetch(url)).content == b"x"
    await server.delete(message)
    assert (await hand.fetch(url)).status_code == 404


async def test_large_files_are_refused(band: Band, hand: Hand) -> None:
    got = await hand.upload(band.general, {}, ("a.bin", bytes(10 * 1024 * 1024 + 1)))
    assert (got.status_code, got.json()["code"]) == (413, 40005)


async def test_a_voice_message_is_one_sound_and_nothing_else(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    sound = ("voice.ogg", b"ogg")
    assert (await hand.upload(band.general, voice(), sound, kind="audio/ogg")).status_code == 200
    (message,) = server.messages(band.general)
    assert (message.flags, message.attachments[0].duration) == (8192, 1.0)
    for code, got in [
        (50159, await hand.upload(band.general, voice(content="x"), sound, kind="audio/ogg")),
        (50160, await hand.upload(band.general, voice(), sound, sound, kind="audio/ogg")),
        (50160, await hand.upload(band.general, voice(), sound)),
        (50161, await hand.upload(band.general, voice(attachments=[{"id": 0}]), sound, kind="audio/ogg")),
        (50162, await hand("PATCH", f"/channels/{band.general.id}/messages/{message.id}", {"content": "x"})),
    ]:
        assert (got.status_code, got.json()["code"]) == (400, code)
    server.permit(band.general, deny=permission.SEND_VOICE_MESSAGES)
    got = await hand.upload(band.general, voice(), sound, kind="audio/ogg")
    assert (got.status_code, got.json()["code"]) == (403, 50173)


async def test_only_own_messages_are_edited_and_deleted(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    said = await server.say(band.general, band.ada, "mine")
    path = f"/channels/{band.general.id}/messages/{said.id}"
    assert (await hand("PATCH", path, {"content": "x"})).json()["code"] == 50005
    assert (await hand("DELETE", path)).json()["code"] == 50013
    server.permit(band.general, allow=permission.MANAGE_MESSAGES)
    assert (await hand("DELETE", path)).status_code == 204
    assert (await hand("DELETE", path)).json()["code"] == 10008


async def test_an_edit_changes_what_it_names(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    await hand.send(band.general, content="one", components=[row(BUTTON)])
    (message,) = server.messages(band.general)
    path = f"/channels/{band.general.id}/messages/{message.id}"
    assert (await hand("PATCH", path, {"content": "two"})).json()["edited_timestamp"] is not None
    assert (message.content, message.components) == ("two", [row(BUTTON)])
    await hand("PATCH", path, {"components": []})
    assert (message.content, message.components, message.edits) == ("two", [], ["two", "two"])
    assert (await hand("PATCH", path, {"content": ""})).json()["code"] == 50006
    assert (await hand("PATCH", path, {"content": "x" * 2001})).json()["code"] == 50035


async def test_history_is_told_the_newest_first(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    said = [await server.say(band.general, band.ada, f"{n}") for n in range(5)]

    async def read(query: str) -> list[str]:
        got = await hand("GET", f"/channels/{band.general.id}/messages{query}")
        return [each["content"] for each in got.json()]

    assert await read("") == ["4", "3", "2", "1", "0"]
    assert await read("?limit=2") == ["4", "3"]
    assert await read(f"?limit=2&before={said[3].id}") == ["2", "1"]
    assert await read(f"?limit=2&after={said[0].id}") == ["2", "1"]
    assert await read(f"?limit=3&around={said[2].id}") == ["3", "2", "1"]
    assert (await hand("GET", f"/channels/{band.general.id}/messages?limit=101")).status_code == 400
    both = f"?before={said[0].id}&after={said[0].id}"
    assert (await hand("GET", f"/channels/{band.general.id}/messages{both}")).status_code == 400
    old = await server.say(band.general, band.ada, "old", ago=3600)
    assert await read(f"?before={said[0].id}") == ["old"]
    one = await hand("GET", f"/channels/{band.general.id}/messages/{old.id}")
    assert one.json()["content"] == "old"
    server.permit(band.general, deny=permission.READ_MESSAGE_HISTORY)
    assert await read("") == []
