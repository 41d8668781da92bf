"""The commands of the core as Discord lists them: told to Discord when they changed, and only then (complaint 114)."""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import discord

from kesoku.adapter import Argument, CommandSpec, DeliveryError, Inbox
from kesoku_discord.drawing.text import one_line
from kesoku_discord.wire.errors import foreign_errors

T = TypeVar("T")

MOST_COMMANDS = 100
"""Commands that Discord takes from one bot."""
MOST_CHOICES = 25
"""Choices that Discord lists for one option; options of one command, too."""
STATE = "commands"
"""Where the adapter's state holds what Discord was told last."""
_NAME, _DESCRIPTION, _CHOICE = 32, 100, 100
_CHAT_INPUT, _STRING = 1, 3
_EVERYWHERE, _INSTALLED_BY_GUILD = [0, 1], [0]
_SECONDS = 30.0
_log = logging.getLogger(__name__)


def payload(specs: Sequence[CommandSpec]) -> list[dict[str, Any]]:
    """The whole list on the wire, at most 100 commands; they stand in guilds and in direct chats."""
    return [_command(name, spec) for name, spec in commands_of(specs).items()]


def commands_of(specs: Sequence[CommandSpec]) -> Mapping[str, CommandSpec]:
    """Each command that is listed, by the name it has there."""
    return _named(((spec.name, spec) for spec in specs), MOST_COMMANDS)


def arguments_of(spec: CommandSpec) -> Mapping[str, Argument]:
    """Each argument of a command, by the name its option has, needed ones first as Discord wants it."""
    ordered = sorted(spec.arguments, key=lambda each: not each.required)
    return _named(((each.name, each) for each in ordered), MOST_CHOICES)


def is_completed(argument: Argument) -> bool:
    """Whether Discord asks what fits while somebody types: too many choices to list are offered so, too."""
    return argument.completes or len(argument.choices) > MOST_CHOICES


def fingerprint(listed: Sequence[Mapping[str, Any]]) -> str:
    """A hash that is another one whenever Discord would list something else."""
    return hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()


async def sync(client: discord.Client, inbox: Inbox) -> bool:
    """Tell Discord the commands if it does not have them; False if that failed, which is logged, and no more."""
    listed = payload(inbox.commands())
    told = {"application": str(client.application_id), "hash": fingerprint(listed)}
    if await inbox.state.get(STATE) == told:
        return True
    try:
        with foreign_errors():
            async with asyncio.timeout(_SECONDS):
                await client.http.bulk_upsert_global_commands(client.application_id or 0, listed)
    except DeliveryError as error:
        _log.warning("Discord did not take the list of commands, it is told again at the next connection: %s", error)
        return False
    await inbox.state.set(STATE, told)
    return True


def _named(named: Iterable[tuple[str, T]], most: int) -> dict[str, T]:
    """What is listed, by names that Discord takes; what is left out is logged."""
    listed: dict[str, T] = {}
    for name, each in named:
        shown = _name(name)
        if not shown or shown in listed or len(listed) == most:
            _log.warning("%r is not listed on Discord: no such name can stand there beside the others", name)
            continue
        if shown != name:
            _log.warning("%r is listed on Discord as %r", name, shown)
        listed[shown] = each
    return listed


def _name(name: str) -> str:
    """Letters, digits, `-` and `_`, in lower case; empty if nothing is left."""
    return re.sub(r"[^\w-]+", "-", name.lower()).strip("-")[:_NAME]


def _command(name: str, spec: CommandSpec) -> dict[str, Any]:
    return {
        "name": name,
        "type": _CHAT_INPUT,
        "description": _described(spec.description, name),
        "options": [_option(shown, each) for shown, each in arguments_of(spec).items()],
        "contexts": _EVERYWHERE,
        "integration_types": _INSTALLED_BY_GUILD,
    }


def _option(name: str, argument: Argument) -> dict[str, Any]:
    option = {
        "name": name,
        "type": _STRING,
        "description": _described(argument.description, name),
        "required": argument.required,
    }
    if is_completed(argument):
        return option | {"autocomplete": True}
    if argument.choices and all(0 < len(each) <= _CHOICE for each in argument.choices):
        return option | {"choices": [{"name": each, "value": each} for each in dict.fromkeys(argument.choices)]}
    return option


def _described(text: str, name: str) -> str:
    return one_line(text, _DESCRIPTION) or name
