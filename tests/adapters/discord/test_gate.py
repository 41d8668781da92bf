"""Who is heard at all: by ids that Discord gives, and codes; never by what people call themselves."""

import re
from pathlib import Path

import pytest

from kesoku.adapter.access import Access
from kesoku.adapter.pairing import Pairing
from kesoku.messages import make

from .message_stage import stage, texts
from .wire_stage import holds


async def test_a_server_on_the_list_admits_its_members_there(tmp_path: Path) -> None:
    """Not in another server, and not directly: there nobody is a member of anything."""
    async with stage(tmp_path) as on:
        other = on.server.guild("Other")
        on.server.join(other, on.eve)
        hall = on.server.channel("hall", guild=other)
        on.access = Access(allow=(f"guild:{on.guild.id}",))
        async with on.running() as bot:
            await on.server.say(hall, on.eve, "<@BOT> there")
            await on.server.say(on.server.direct(on.eve), on.eve, "directly")
            await on.server.say(on.room, on.eve, "<@BOT> here")
            assert texts(await on.prompts(1)) == ["here"]
            await holds(lambda: bot.adapter.handled >= 3, "all three")
            await on.prompts(1)


@pytest.mark.parametrize("form", ["{id}", "user:{id}", "Ada", "@Ada", "<@{id}>"])
async def test_nobody_gets_in_by_a_name(tmp_path: Path, form: str) -> None:
    """Not by that of somebody who is on the list, be it a nickname, and not by one that looks like an entry."""
    async with stage(tmp_path) as on, on.running() as bot:
        name = form.format(id=on.ada.id)
        on.server.join(on.guild, on.eve, nick=name)
        await on.server.say(on.room, on.eve, "<@BOT> hello")
        await on.server.say(on.room, on.server.user(name), "<@BOT> hello")
        await on.settled(bot, 2)
        assert await on.prompts(0) == []


async def test_who_is_paired_is_heard_directly_and_in_servers(tmp_path: Path) -> None:
    """A code is given in the direct chat alone; `kesoku pair` admits with it while the bot runs."""
    async with stage(tmp_path) as on, on.running() as bot:
        chat = on.server.direct(on.eve)
        await on.server.say(on.room, on.eve, "<@BOT> hello")
        await holds(lambda: on.shown(on.room), "a word to a stranger")
        assert not re.search(r"kesoku pair [A-Z]{8}", on.shown(on.room)[0])
        await on.server.say(chat, on.eve, "hello")
        await holds(lambda: on.shown(chat), "a code")
        (code,) = re.findall(r"`kesoku pair ([A-Z]{8})`", on.shown(chat)[0])
        at, welcome = on.clock.now(), make.notice("You are in.", reason="reply")
        await on.store.write(lambda tx: Pairing(tx, "discord").admit(code, by="owner", welcome=welcome, at=at))
        await on.server.say(chat, on.eve, "directly")
        await on.prompts(1)
        await on.server.say(on.room, on.eve, "<@BOT> here")
        assert texts(await on.prompts(2)) == ["directly", "here"]
        await on.store.write(lambda tx: Pairing(tx, "discord").remove(str(on.eve.id)))
        await on.server.say(chat, on.eve, "again")
        await on.server.say(on.room, on.ada, "<@BOT> me")
        assert texts(await on.prompts(3)) == ["directly", "here", "me"]
        assert bot.adapter.readies == 1
