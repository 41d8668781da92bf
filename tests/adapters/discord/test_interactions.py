"""Slash commands and their completion, over the loopback Discord with the real library and the core's inbox."""

import asyncio
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kesoku import CommandMisused
from kesoku.adapter import Argument, Choice, CommandSpec
from kesoku.adapter.access import Access
from kesoku.testing.discord import Hang, LoopbackDiscord, Lost, Refusal
from kesoku.testing.memory import MemoryStore

from .interaction_stage import Commands, Stage, product, stage
from .wire_stage import holds

FILL = "PATCH /webhooks/{}/{}/messages/@original"
CALLBACK = "POST /interactions/{}/{}/callback"
SYNC = "PUT /applications/{}/commands"
PIN = CommandSpec(
    name="pin",
    description="keep a message",
    arguments=(Argument(name="message", description="its number", completes=True),),
)
PING = CommandSpec(name="ping", description="say pong")
EDIT = CommandSpec(
    name="Edit!",
    description="say it differently",
    arguments=(
        Argument(name="with note", description="why"),
        Argument(name="text", description="what", required=True),
    ),
)


def replies(**scripted: Any) -> Commands:
    return Commands(PIN, PING, EDIT, replies=scripted)


async def test_the_commands_are_told_once_however_often_a_session_begins(tmp_path: Path) -> None:
    """Complaint 114."""
    async with stage(tmp_path, replies()) as on:
        for number in (2, 3):
            on.server.forget_sessions()
            await on.server.drop()
            await holds(lambda number=number: on.desk.readies == number, f"session {number}")  # type: ignore[misc]
        assert on.server.command_syncs == 1
        assert [each["name"] for each in on.server.commands] == ["pin", "ping", "edit"]


async def test_only_a_changed_list_is_told_after_a_restart(tmp_path: Path) -> None:
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, commands=replies())
        for commands, syncs in ((replies(), 1), (replies(), 1), (Commands(PING), 2)):
            on.commands = commands
            async with on.running():
                assert server.command_syncs == syncs
        assert [each["name"] for each in server.commands] == ["ping"]


async def test_a_list_that_discord_refuses_is_told_again_later_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with LoopbackDiscord() as server:
        server.script(Refusal(400, 50035, "Invalid Form Body"), on=SYNC)
        on = Stage(server, tmp_path, commands=replies())
        async with on.running():
            assert server.command_syncs == 0
            assert "did not take the list of commands" in caplog.text
            server.forget_sessions()
            await server.drop()
            await holds(lambda: server.command_syncs == 1, "the second try")


async def test_a_command_is_answered_to_its_giver_alone(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        given = await on.server.command("edit", {"with-note": "typo", "text": "hi"}, by=on.ada, at=on.room)
        promised, filled = await given.answered(2)
        assert (promised.kind, promised.ephemeral) == ("defer", True)
        assert (filled.kind, filled.ephemeral) == ("edit", True)
        assert "'with note': 'typo'" in filled.text
        assert on.server.messages(on.room) == []
        (invocation,) = commands.given
        assert invocation.name == "Edit!"
        assert invocation.address == on.address
        assert invocation.principal == replace(on.person(on.ada), roles=frozenset({str(on.guild.id)}))
        assert invocation.keys == (f"interaction:{given.id}",)


async def test_discord_is_answered_before_the_command_is_done(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def slow() -> str:
        await gate.wait()
        return "pong"

    async with stage(tmp_path, replies(ping=slow)) as on:
        given = await on.server.command("ping", {}, by=on.ada, at=on.room)
        assert [each.kind for each in await given.answered(1)] == ["defer"]
        gate.set()
        assert (await given.answered(2))[1].text == "pong"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "/ping is done, and there is nothing to tell."),
        (CommandMisused(usage="/ping", why="Not so."), "Not so. Usage: `/ping`."),
        (RuntimeError("a bug"), "This did not work; the log of the bot says why."),
    ],
)
async def test_no_command_is_left_without_an_answer(
    tmp_path: Path, reply: Any, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        async with stage(tmp_path, replies(ping=reply)) as on:
            given = await on.server.command("ping", {}, by=on.ada, at=on.room)
            assert (await given.answered(2))[1].text == said
            assert on.server.messages(on.room) == []
    assert ("a bug" in caplog.text) == isinstance(reply, RuntimeError)


async def test_a_long_answer_comes_in_parts(tmp_path: Path) -> None:
    text = "\n\n".join(f"paragraph {number} " + "word " * 150 for number in range(6))
    async with stage(tmp_path, replies(ping=text)) as on:
        given = await on.server.command("ping", {}, by=on.ada, at=on.room)
        await given.answered(4)
        first, *more = given.answers[1:]
        assert [each.kind for each in (first, *more)] == ["edit", "followup", "followup"]
        assert all(each.ephemeral and len(each.text) <= 2000 for each in (first, *more))
        assert " ".join(each.text for each in (first, *more)).split() == text.split()


async def test_a_command_that_a_stop_cuts_off_is_not_left_without_an_answer(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def slow() -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, commands=replies(ping=slow))
        async with on.running():
            given = await server.command("ping", {}, by=on.ada, at=on.room)
            await begun.wait()
        assert given.answers[-1].text.startswith("The bot was stopped while it did this.")


@pytest.mark.parametrize("times", [1, 5000])
async def test_an_answer_of_any_text_is_one_that_discord_takes(tmp_path: Path, times: int) -> None:
    async with stage(tmp_path, replies(ping=">>> half \ud800\n" * times)) as on:
        given = await on.server.command("ping", {}, by=on.ada, at=on.room)
        (filled,) = (await given.answered(2))[1:]
        assert filled.message is not None
        told = filled.text if times == 1 else filled.message.attachments[0].data.decode().replace(">>>", ">")
        assert told.strip() == ("> half \ufffd\n" * times).strip()


async def test_a_very_long_answer_is_a_file(tmp_path: Path) -> None:
    text = "word " * 5000
    async with stage(tmp_path, replies(ping=text)) as on:
        given = await on.server.command("ping", {}, by=on.ada, at=on.room)
        (filled,) = (await given.answered(2))[1:]
        assert filled.message is not None
        assert [(each.name, each.data.decode()) for each in filled.message.attachments] == [("answer.md", text)]


async def test_a_stranger_is_told_how_to_get_in_and_nothing_is_done(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        first = await on.server.command("ping", {}, by=on.eve, at=on.room)
        assert "only talks to people whom its owner let in" in (await first.answered(2))[1].text
        again = await on.server.command("ping", {}, by=on.eve, at=on.room)
        assert (await again.answered(2))[1].text == "This bot only talks to people whom its owner let in."
        offered = await on.server.complete("pin", "message", "1", by=on.eve, at=on.room)
        assert list(offered) == []
        assert commands.given == []
        assert on.server.messages(on.room) == []


async def test_a_stranger_in_a_direct_chat_is_given_a_code(tmp_path: Path) -> None:
    async with stage(tmp_path, replies()) as on:
        given = await on.server.command("ping", {}, by=on.eve, at=on.server.direct(on.eve))
        told = (await given.answered(2))[1]
        assert told.ephemeral
        (code,) = re.findall(r"`kesoku pair ([A-Z]{8})`", told.text)
        again = await on.server.command("ping", {}, by=on.eve, at=on.server.direct(on.eve))
        assert code in (await again.answered(2))[1].text, "what only one person sees is gone when Discord restarts"
        on.bot.inbox.access = Access(deny=(f"user:{on.eve.id}",))
        denied = await on.server.command("ping", {}, by=on.eve, at=on.server.direct(on.eve))
        assert (await denied.answered(2))[1].text == "This bot only talks to people whom its owner let in."


async def test_who_gives_too_many_commands_is_told_each_time(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        given = [await on.server.command("ping", {}, by=on.ada, at=on.room) for _ in range(32)]
        said = [(await each.answered(2))[1].text for each in given]
        assert (said.count("ping {}"), len(commands.given)) == (30, 30)
        assert [text.startswith("Slower, please") for text in said if text != "ping {}"] == [True, True]
        assert on.server.messages(on.room) == []


@pytest.mark.parametrize("code", [10062, 50027])
async def test_what_discord_takes_no_answer_to_is_answered_in_the_channel(tmp_path: Path, code: int) -> None:
    async with stage(tmp_path, replies()) as on:
        on.server.script(Refusal(404, code, "Unknown interaction"), on=CALLBACK)
        await on.server.command("ping", {}, by=on.ada, at=on.room)
        await on.shown("ping {}")
        assert bool(on.server.asked(FILL)) is (code != 10062)


async def test_an_acknowledgement_whose_answer_was_lost_is_filled_all_the_same(tmp_path: Path) -> None:
    async with stage(tmp_path, replies()) as on:
        on.server.script(Lost(done=True), on=CALLBACK)
        given = await on.server.command("ping", {}, by=on.ada, at=on.room)
        assert (await given.answered(2))[1].text == "ping {}"
        assert on.server.messages(on.room) == []


async def test_a_redelivered_command_is_done_once(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        given = await on.server.command("ping", {}, by=on.ada, at=on.room)
        await given.answered(2)
        await on.desk.interaction(on.desk.heard[0])
        assert len(commands.given) == 1
        assert len(given.answers) == 2


async def test_a_command_in_a_direct_chat(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        direct = on.server.direct(on.ada)
        given = await on.server.command("ping", {}, by=on.ada, at=direct)
        assert (await given.answered(2))[1].text == "ping {}"
        (invocation,) = commands.given
        assert invocation.address.channel_id == str(direct.id)
        assert (invocation.principal.direct, invocation.principal.guild) == (True, None)


async def test_a_command_in_a_thread_is_about_the_thread(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        thread = on.server.thread(on.room, "plans")
        given = await on.server.command("ping", {}, by=on.ada, at=thread)
        await given.answered(2)
        assert commands.given[0].address.channel_id == str(thread.id)
        on.bot.inbox.access = Access(allow=(f"channel:{on.room.id}",))
        given = await on.server.command("ping", {}, by=on.eve, at=thread)
        assert (await given.answered(2))[1].text == "ping {}"


async def test_roles_and_nickname_are_those_in_the_guild(tmp_path: Path) -> None:
    commands = replies()
    async with stage(tmp_path, commands) as on:
        role = on.server.role(on.guild, "friends")
        bob = on.server.user("Bob")
        on.server.join(on.guild, bob, nick="Bobby", roles=[role])
        on.bot.inbox.access = Access(allow=(f"role:{role.id}",))
        given = await on.server.command("ping", {}, by=bob, at=on.room)
        assert (await given.answered(2))[1].text == "ping {}"
        assert commands.given[0].principal.display_name == "Bobby"


async def test_what_fits_is_offered_while_somebody_types(tmp_path: Path) -> None:
    offered = [Choice(label=f"#{number} " + "word " * 30, value=str(number)) for number in range(30)]
    commands = Commands(PIN, offered=[*offered[:3], Choice(label="long", value="x" * 101), *offered[3:]])
    async with stage(tmp_path, commands) as on:
        found = await on.server.complete("pin", "message", "12", by=on.ada, at=on.room)
        assert [value for _, value in found] == [str(number) for number in range(24)]
        assert all(len(name) <= 100 for name, _ in found)
        assert found[0][0].startswith("#0 word")
        (typed,) = commands.given
        assert (typed.name, typed.arguments, typed.admin) == ("pin", {"message": "12"}, False)


async def test_more_choices_than_can_be_listed_are_found_by_what_was_typed(tmp_path: Path) -> None:
    hooks = tuple(f"hook-{number}" for number in range(40))
    many = CommandSpec(
        name="hooks", description="x", arguments=(Argument(name="hook", description="y", choices=hooks),)
    )
    async with stage(tmp_path, Commands(many)) as on:
        found = await on.server.complete("hooks", "hook", "3", by=on.ada, at=on.room)
        assert [value for _, value in found] == ["hook-3", "hook-13", "hook-23", *(f"hook-3{n}" for n in range(10))]


async def test_what_discord_no_longer_wants_to_offer_stops_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, replies()) as on:
        on.server.script(Refusal(404, 10062, "Unknown interaction"), on=CALLBACK)
        with pytest.raises(AssertionError):
            await on.server.complete("pin", "message", "1", by=on.ada, at=on.room, seconds=0.05)
        assert await on.server.complete("pin", "message", "1", by=on.ada, at=on.room) == []


async def test_where_discord_hangs_nothing_is_left_that_waits_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A completion comes with each letter that somebody types."""
    caplog.set_level(logging.INFO)
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, commands=replies(), patience=0.05)
        async with on.running():
            server.script(Hang(), on=CALLBACK)
            with pytest.raises(AssertionError):
                await server.complete("pin", "message", "1", by=on.ada, at=on.room, seconds=0.01)
            await holds(lambda: "did not take what fits behind /pin" in caplog.text, "the end of it")


async def test_what_is_found_too_late_is_not_waited_for(tmp_path: Path) -> None:
    class Slow(Commands):
        async def complete(self, invocation: Any, argument: str) -> Any:
            await asyncio.Event().wait()

    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, commands=Slow(PIN), patience=0.02)
        async with on.running():
            assert await on.server.complete("pin", "message", "1", by=on.ada, at=on.room) == []


def names() -> list[str]:
    world: Any = Stage.__new__(Stage)
    world.store, world.folder, world.gateway, world.clock = MemoryStore(), Path(), None, None
    return [each.name for each in product(world).specs()]


def needs(on: Stage, name: str) -> dict[str, str]:
    """What a command must be given."""
    listed = {each["name"]: each["options"] for each in on.server.commands}
    return {each["name"]: "1" for each in listed[name] if each["required"]}


@pytest.mark.parametrize("name", names())
async def test_every_command_of_the_product_is_listed_and_answered(tmp_path: Path, name: str) -> None:
    async with stage(tmp_path, product) as on:
        needed = needs(on, name)
        for giver in (on.ada, on.ida):
            given = await on.server.command(name, needed, by=giver, at=on.room)
            promised, filled, *_ = await given.answered(2)
            assert (promised.kind, promised.ephemeral) == ("defer", True)
            assert filled.ephemeral
            assert filled.text.strip()
            for wrong in ("There is no command", "did not work"):
                assert wrong not in filled.text


@pytest.mark.parametrize("name", ["system", "relay", "announce", "hooks"])
async def test_what_is_for_admins_is_refused_to_everybody_else(tmp_path: Path, name: str) -> None:
    async with stage(tmp_path, product) as on:
        needed = needs(on, name)
        given = await on.server.command(name, needed, by=on.ada, at=on.room)
        assert (await given.answered(2))[1].text == f"Only an admin of this bot may use /{name}."
        given = await on.server.command(name, needed, by=on.ida, at=on.room)
        assert "Only an admin" not in (await given.answered(2))[1].text


async def test_a_command_that_is_gone_is_told_so(tmp_path: Path) -> None:
    commands = Commands(PING, CommandSpec(name="pong", description="say ping"))
    async with stage(tmp_path, commands) as on:
        commands.listed = (PING,)
        given = await on.server.command("pong", {}, by=on.ada, at=on.room)
        assert (await given.answered(2))[1].text == "There is no command /pong. Did you mean /ping?"
