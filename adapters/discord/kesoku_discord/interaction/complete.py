"""What Discord offers while somebody types an argument of a command."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import discord
from discord import app_commands

from kesoku import KesokuError
from kesoku.adapter import Argument, Choice, Command, CommandSpec, DeliveryError, Inbox
from kesoku_discord.drawing.text import one_line
from kesoku_discord.interaction.command import given
from kesoku_discord.interaction.command_sync import MOST_CHOICES, arguments_of, commands_of
from kesoku_discord.wire.errors import foreign_errors

PATIENCE = 2.0
"""Seconds in which something must be found, and then Discord be told: it waits for three."""
_LABEL = 100
_log = logging.getLogger(__name__)


async def complete(chatbot_id: str, interaction: discord.Interaction, inbox: Inbox, *, patience: float) -> None:
    """Offer what is found in `patience` seconds; nothing to who may not give the command. Whatever hangs is left."""
    specs = inbox.commands()
    command = given(chatbot_id, interaction, specs)
    argument = _typed(interaction, specs)
    try:
        async with asyncio.timeout(patience):
            found = await _found(inbox, command, argument) if argument else ()
    except (KesokuError, TimeoutError) as error:
        _log.warning("nothing could be offered for /%s: %s", command.name, error)
        found = ()
    offered = [
        app_commands.Choice(name=one_line(each.label, _LABEL) or each.value, value=each.value)
        for each in found
        if _fits(each)
    ]
    try:
        with foreign_errors():
            async with asyncio.timeout(patience):
                await interaction.response.autocomplete(offered[:MOST_CHOICES])
    except DeliveryError as error:
        _log.info("Discord did not take what fits behind /%s: %s", command.name, error)


def _typed(interaction: discord.Interaction, specs: Sequence[CommandSpec]) -> Argument | None:
    """The argument that is typed now, if the command has it."""
    data: Mapping[str, Any] = interaction.data or {}
    spec = commands_of(specs).get(str(data.get("name", "")))
    focused = next((each["name"] for each in data.get("options") or () if each.get("focused")), "")
    return arguments_of(spec).get(focused) if spec else None


async def _found(inbox: Inbox, command: Command, argument: Argument) -> Sequence[Choice]:
    if argument.completes:
        return await inbox.complete(command, argument.name)
    if not await inbox.allowed(command.principal, command.address):
        return ()
    said = str(command.arguments.get(argument.name) or "").casefold()
    return [Choice(label=each, value=each) for each in argument.choices if said in each.casefold()]


def _fits(choice: Choice) -> bool:
    return 0 < len(choice.value) <= _LABEL
