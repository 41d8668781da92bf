"""Presses, commands and completions, and the times and forms of their answers."""

import asyncio
from typing import Any

import discord
import pytest
from discord import app_commands

from kesoku.testing.discord import Interaction, LoopbackDiscord, Message
from kesoku.testing.waiting import until

from .conftest import Band, Bot, Clock, Connect, Hand

BUTTON = {"type": 2, "style": 2, "label": "Stop", "custom_id": "stop"}
MENU = {
    "type": 3,
    "custom_id": "menu",
    "options": [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}],
}
COMMAND = {
    "name": "stop",
    "description": "Stop.",
    "options": [{"type": 3, "name": "message", "description": "Which.", "autocomplete": True}],
}


async def shown(server: LoopbackDiscord, band: Band, hand: Hand) -> Message:
    """A message of the bot with a button and a menu."""
    rows = [{"type": 1, "components": [BUTTON]}, {"type": 1, "components": [MENU]}]
    await hand.send(band.general, content="status", components=rows)
    return server.messages(band.general)[-1]


async def pressed(server: LoopbackDiscord, band: Band, hand: Hand) -> Interaction:
    return await server.press(await shown(server, band, hand), "Stop", by=band.ada)


async def respond(hand: Hand, made: Interaction, kind: int, data: Any = None, *, query: str = "") -> Any:
    body = {"type": kind} if data is None else {"type": kind, "data": data}
    return await hand("POST", f"/interactions/{made.id}/{made.token}/callback{query}", body, token="")


async def test_the_client_answers_a_press(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        view = discord.ui.View()
        view.add_item(discord.ui.Button(label="Stop", custom_id="stop:1"))
        await client.get_partial_messageable(band.general.id).send("status", view=view)
        press = await server.press(server.messages(band.general)[0], custom_id="stop:1", by=band.ada)
        heard = await client.pressed.get()
        assert (dict(heard.data or {})["custom_id"], heard.user.id) == ("stop:1", band.ada.id)
        await heard.response.send_message("stopped", ephemeral=True)
        (answer,) = await press.answered()
        assert (answer.kind, answer.text, answer.ephemeral) == ("message", "stopped", True)
        await heard.edit_original_response(content="really")
        await heard.followup.send("and more", ephemeral=True)
        assert [each.kind for each in press.answers] == ["message", "edit", "followup"]
        assert press.text == "and more"
        assert [each.content for each in server.messages(band.general)] == ["status"]


async def test_the_client_edits_the_message_of_a_button(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        view = discord.ui.View()
        view.add_item(discord.ui.Select(custom_id="m", options=[discord.SelectOption(label="One", value="1")]))
        await client.get_partial_messageable(band.general.id).send("which?", view=view)
        press = await server.press(server.messages(band.general)[0], custom_id="m", by=band.ada, values=["1"])
        heard = await client.pressed.get()
        await heard.response.edit_message(content="chosen", view=None)
        assert [(each.kind, each.text) for each in press.answers] == [("update", "chosen")]
        (message,) = server.messages(band.general)
        assert (message.content, message.components) == ("chosen", [])


async def test_the_client_registers_commands_and_completes(server: LoopbackDiscord, band: Band, bot: Connect) -> None:
    async with bot() as client:
        tree: app_commands.CommandTree[Bot] = app_commands.CommandTree(client)

        async def retry(interaction: discord.Interaction[Bot], message: str) -> None:
            await interaction.response.defer(thinking=True)
            await interaction.followup.send(f"again {message}")

        async def offers(interaction: discord.Interaction[Bot], typed: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=f"message {typed}", value=typed)]

        command: app_commands.Command[Any, ..., None] = app_commands.Command(
            name="retry", description="Once more.", callback=retry
        )
        command.autocomplete("message")(offers)
        tree.add_command(command)
        await tree.sync()
        assert [each["name"] for each in server.commands] == ["retry"]
        assert await server.complete("retry", "message", "12", by=band.ada, at=band.general) == [("message 12", "12")]
        made = await server.command("retry", {"message": "12"}, by=band.ada, at=band.general)
        await made.answered(2)
        assert [(each.kind, each.text) for each in made.answers] == [("defer", ""), ("edit", "again 12")]
        (message,) = server.messages(band.general)
        assert (message.content, int(message.type)) == ("again 12", 20)


async def test_the_first_answer_has_three_seconds(
    server: LoopbackDiscord, band: Band, hand: Hand, clock: Clock
) -> None:
    press = await pressed(server, band, hand)
    clock.seconds += 3.5
    got = await respond(hand, press, 4, {"content": "late"})
    assert (got.status_code, got.json()["code"]) == (404, 10062)
    assert press.answers == []


async def test_there_is_one_first_answer(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    press = await pressed(server, band, hand)
    assert (await respond(hand, press, 6)).status_code == 204
    got = await respond(hand, press, 4, {"content": "twice"})
    assert (got.status_code, got.json()["code"]) == (400, 40060)


async def test_a_token_is_good_for_fifteen_minutes(
    server: LoopbackDiscord, band: Band, hand: Hand, clock: Clock
) -> None:
    press = await pressed(server, band, hand)
    hook = f"/webhooks/{server.application_id}/{press.token}"
    assert (await hand("POST", hook, {"content": "too early"}, token="")).json()["code"] == 10015
    await respond(hand, press, 5)
    assert (await hand("PATCH", f"{hook}/messages/@original", {"content": "done"}, token="")).status_code == 200
    clock.seconds += 15 * 60 + 1
    got = await hand("POST", hook, {"content": "too late"}, token="")
    assert (got.status_code, got.json()["code"]) == (401, 50027)


async def test_a_promise_is_kept_by_the_first_message_that_follows(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    press = await pressed(server, band, hand)
    got = await respond(hand, press, 5, query="?with_response=1")
    assert got.json()["interaction"]["response_message_loading"] is True
    promised = server.messages(band.general)[-1]
    assert (promised.content, promised.flags) == ("", 128)
    hook = f"/webhooks/{server.application_id}/{press.token}"
    await hand("POST", hook, {"content": "kept"}, token="")
    assert (promised.content, promised.flags, promised.edits) == ("kept", 0, [])
    more = (await hand("POST", hook, {"content": "more"}, token="")).json()
    assert [each.content for each in server.messages(band.general)][1:] == ["kept", "more"]
    assert (await hand("GET", f"{hook}/messages/@original", token="")).json()["content"] == "kept"
    assert (await hand("DELETE", f"{hook}/messages/{more['id']}", token="")).status_code == 204
    assert (await hand("DELETE", f"{hook}/messages/@original", token="")).status_code == 204
    assert [each.content for each in server.messages(band.general)] == ["status"]


async def test_what_was_written_without_the_token_is_not_reached_by_it(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    press = await pressed(server, band, hand)
    await respond(hand, press, 5)
    other = await server.say(band.general, band.ada, "mine")
    path = f"/webhooks/{server.application_id}/{press.token}/messages/{other.id}"
    assert (await hand("DELETE", path, token="")).json()["code"] == 10008


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        (4, {"content": "x" * 2001}, 50035),
        (4, {}, 50006),
        (4, {"content": "x", "flags": 8192}, 50035),
        (8, {"choices": []}, 50035),
        (9, {"custom_id": "", "title": "t", "components": [{}]}, 50035),
        (77, {}, 50035),
    ],
)
async def test_wrong_answers_are_refused_and_can_be_mended(
    server: LoopbackDiscord, band: Band, hand: Hand, kind: int, data: dict[str, Any], code: int
) -> None:
    press = await pressed(server, band, hand)
    got = await respond(hand, press, kind, data)
    assert (got.status_code, got.json()["code"]) == (400, code)
    assert (await respond(hand, press, 4, {"content": "right"})).status_code == 204
    assert press.text == "right"


async def test_answers_tell_only_users_unless_they_say_otherwise(
    server: LoopbackDiscord, band: Band, hand: Hand
) -> None:
    press = await pressed(server, band, hand)
    got = await respond(hand, press, 4, {"content": f"@everyone <@{band.ada.id}>"}, query="?with_response=true")
    answer = server.messages(band.general)[-1]
    assert (answer.mentions, answer.mention_everyone) == ([band.ada], False)
    assert got.json()["resource"]["message"]["webhook_id"] == str(server.application_id)


async def test_a_form_is_an_answer(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    press = await pressed(server, band, hand)
    await respond(hand, press, 9, {"custom_id": "form", "title": "Which?", "components": [{"type": 1}]})
    assert [(each.kind, each.text) for each in press.answers] == [("modal", "Which?")]


@pytest.mark.parametrize(
    "choices",
    [
        [{"name": "x", "value": "x"}] * 26,
        [{"name": "", "value": "x"}],
        [{"name": "x" * 101, "value": "x"}],
        [{"name": "x", "value": ""}],
        [{"name": "x"}],
    ],
)
async def test_choices_have_limits(
    server: LoopbackDiscord, band: Band, hand: Hand, choices: list[dict[str, str]]
) -> None:
    await hand("PUT", f"/applications/{server.application_id}/commands", [COMMAND])
    asked = asyncio.create_task(server.complete("stop", "message", "1", by=band.ada, at=band.general))
    await until(lambda: begun(server), what="somebody types")
    (made,) = server.interactions
    assert (await respond(hand, made, 4, {"content": "x"})).json()["code"] == 50035
    assert (await respond(hand, made, 8, {"choices": choices})).json()["code"] == 50035
    assert (await respond(hand, made, 8, {"choices": [{"name": "x", "value": "y"}] * 25})).status_code == 204
    assert await asked == [("x", "y")] * 25


async def begun(server: LoopbackDiscord) -> bool:
    return len(server.interactions) == 1


async def test_people_press_only_what_is_there(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    message = await shown(server, band, hand)
    with pytest.raises(LookupError, match="Go"):
        await server.press(message, "Go", by=band.ada)
    with pytest.raises(LookupError, match="cannot be chosen"):
        await server.press(message, custom_id="menu", by=band.ada, values=["3"])
    with pytest.raises(LookupError, match="/fly"):
        await server.command("fly", by=band.ada, at=band.general)
    await server.delete(message)
    with pytest.raises(LookupError, match="Stop"):
        await server.press(message, "Stop", by=band.ada)


async def test_waiting_for_an_answer_ends(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    press = await pressed(server, band, hand)
    with pytest.raises(AssertionError, match="1 answers"):
        await press.answered(seconds=0.01)
