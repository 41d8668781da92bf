"""Commands that Discord would refuse are refused; others are registered and keep their ids."""

from typing import Any

import pytest

from kesoku.testing.discord import LoopbackDiscord

from .conftest import Band, Hand

COMMAND = {"name": "stop", "description": "Stop."}
OPTION = {"type": 3, "name": "message", "description": "Which."}


def command(*options: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**COMMAND, "options": list(options), **more}


async def put(server: LoopbackDiscord, hand: Hand, *commands: dict[str, Any]) -> Any:
    return await hand("PUT", f"/applications/{server.application_id}/commands", list(commands))


@pytest.mark.parametrize(
    ("commands", "path"),
    [
        ([command(name="Stop")], "0.name"),
        ([command(name="stop it")], "0.name"),
        ([command(name="x" * 33)], "0.name"),
        ([command(description="")], "0.description"),
        ([command(description="x" * 101)], "0.description"),
        ([command(), command()], "1"),
        ([command({**OPTION, "name": f"o{n}"}) for n in range(101)], "_"),
        ([command(*[{**OPTION, "name": f"o{n}"} for n in range(26)])], "0.options"),
        ([command(OPTION, OPTION)], "0.options.1"),
        ([command(OPTION, {**OPTION, "name": "b", "required": True})], "0.options.1"),
        ([command({**OPTION, "type": 12})], "0.options.0.type"),
        ([command({**OPTION, "description": "x" * 101})], "0.options.0.description"),
        ([command({**OPTION, "autocomplete": True, "choices": [{"name": "a", "value": "a"}]})], "0.options.0"),
        ([command({**OPTION, "autocomplete": True, "type": 6})], "0.options.0"),
        ([command({**OPTION, "choices": [{"name": "a", "value": "a"}] * 26})], "0.options.0.choices"),
        ([command({**OPTION, "choices": [{"name": "a", "value": "x" * 101}]})], "0.options.0.choices.0.value"),
        (
            [
                command(
                    *[
                        {**OPTION, "name": f"o{n}", "choices": [{"name": f"{m}", "value": "x" * 80} for m in range(25)]}
                        for n in range(4)
                    ]
                )
            ],
            "0",
        ),
        ([{"name": "Menu of messages", "type": 3, "description": "x"}], "0.description"),
    ],
)
async def test_what_is_wrong_is_named_by_its_path(
    server: LoopbackDiscord, hand: Hand, commands: list[dict[str, Any]], path: str
) -> None:
    names = [f"n{at}" if len(commands) > 2 else None for at in range(len(commands))]
    sent = [{**each, "name": name} if name else each for each, name in zip(commands, names, strict=True)]
    got = await put(server, hand, *sent)
    assert (got.status_code, got.json()["code"]) == (400, 50035)
    at = got.json()["errors"]
    for name in path.split("."):
        at = at[name]
    assert at["_errors"]
    assert (server.commands, server.command_syncs) == ([], 0)


async def test_commands_keep_id_and_version_until_they_change(server: LoopbackDiscord, hand: Hand) -> None:
    (first,) = (await put(server, hand, command(OPTION))).json()
    (same,) = (await put(server, hand, command(OPTION))).json()
    (other,) = (await put(server, hand, command(OPTION, description="Other."))).json()
    assert same == first
    assert (other["id"], other["version"] != first["version"]) == (first["id"], True)
    got = await hand("GET", f"/applications/{server.application_id}/commands")
    assert (got.json(), server.command_syncs) == ([other], 3)


async def test_a_guild_has_commands_of_its_own(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    path = f"/applications/{server.application_id}/guilds/{band.guild.id}/commands"
    (made,) = (await hand("PUT", path, [COMMAND])).json()
    assert made["guild_id"] == str(band.guild.id)
    assert (server.commands, server.registered(band.guild)) == ([], [made])
    assert (await hand("PUT", path.replace(str(band.guild.id), "1"), [COMMAND])).json()["code"] == 10004
    assert (await hand("PUT", "/applications/1/commands", [COMMAND])).json()["code"] == 20012


async def test_required_arguments_are_required(server: LoopbackDiscord, band: Band, hand: Hand) -> None:
    await put(server, hand, command({**OPTION, "required": True}))
    with pytest.raises(LookupError, match="needs"):
        await server.command("stop", by=band.ada, at=band.general)
    with pytest.raises(LookupError, match="has no"):
        await server.command("stop", {"other": 1}, by=band.ada, at=band.general)
    made = await server.command("stop", {"message": "5"}, by=band.ada, at=server.direct(band.ada))
    assert made.data["options"] == [{"name": "message", "type": 3, "value": "5"}]
