"""A command on its way through the core: from what Discord sends to an answer that never stays out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import discord

from kesoku.adapter import Command, CommandSpec, Inbox
from kesoku_discord.inbound.wording import harmless
from kesoku_discord.interaction.command_sync import arguments_of, commands_of
from kesoku_discord.interaction.origin import key_of, person_of, place_of
from kesoku_discord.interaction.reply import Reply

_ELSEWHERE = "The answer stands in the channel."
_DONE = "/{name} is done, and there is nothing to tell."


def command_of(chatbot_id: str, interaction: discord.Interaction, name: str, arguments: Mapping[str, Any]) -> Command:
    """The event for the core."""
    return Command(
        key=key_of(interaction),
        address=place_of(chatbot_id, interaction),
        principal=person_of(interaction),
        name=name,
        arguments=arguments,
    )


def given(chatbot_id: str, interaction: discord.Interaction, specs: Sequence[CommandSpec]) -> Command:
    """What somebody gave, or types now, with the names that the core knows; no line of it passes for a header."""
    data: Mapping[str, Any] = interaction.data or {}
    options: Iterable[Mapping[str, Any]] = data.get("options") or ()
    name = str(data.get("name", ""))
    spec = commands_of(specs).get(name)
    known = arguments_of(spec) if spec else {}
    arguments = {
        known[each["name"]].name if each["name"] in known else each["name"]: harmless(str(each["value"]))
        for each in options
    }
    return command_of(chatbot_id, interaction, spec.name if spec else name, arguments)


async def run(inbox: Inbox, command: Command, reply: Reply) -> None:
    """Hand a command in; the reply that was begun is filled even where the core says nothing."""
    records = await inbox.accept([command])
    if not reply.said:
        await reply.try_to_say(_ELSEWHERE if records else reply.kept or _DONE.format(name=command.name))
