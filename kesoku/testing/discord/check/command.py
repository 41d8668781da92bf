"""What application commands may be."""

import re
from typing import Any

from kesoku.testing.discord.error import Faults
from kesoku.testing.discord.world.entity import Json

_NAME = re.compile(r"[-_'\w]{1,32}")
_SUB, _GROUP, _STRING, _INTEGER, _NUMBER = 1, 2, 3, 4, 10
_COMMANDS, _OPTIONS, _CHOICES, _CHARACTERS = 100, 25, 25, 8000


def check_commands(commands: Any) -> None:
    """Raises Rejected with all that is wrong with a list of commands."""
    faults = Faults()
    if not isinstance(commands, list):
        faults.add("_", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        faults.raise_any()
    slash = [each for each in commands if each.get("type", 1) == 1]
    if len(slash) > _COMMANDS:
        faults.add("_", "APPLICATION_COMMAND_TOO_MANY", f"Maximum number of application commands reached ({_COMMANDS})")
    seen: set[tuple[int, str]] = set()
    for number, each in enumerate(commands):
        key = (each.get("type", 1), str(each.get("name")))
        if key in seen:
            message = "Application command names must be unique"
            faults.add(str(number), "APPLICATION_COMMANDS_DUPLICATE_NAME", message)
        seen.add(key)
        _check(each, str(number), faults)
    faults.raise_any()


def _check(command: Json, path: str, faults: Faults) -> None:
    kind = command.get("type", 1)
    if kind == 1:
        _name(command, path, faults)
        faults.length(f"{path}.description", command.get("description"), 1, 100)
    else:
        faults.length(f"{path}.name", command.get("name"), 1, 32)
        if command.get("description"):
            faults.add(
                f"{path}.description", "APPLICATION_COMMAND_INVALID_DESCRIPTION", "Only slash commands have one."
            )
    _options(command.get("options") or [], path, faults)
    if (size := _size(command)) > _CHARACTERS:
        faults.add(path, "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({size} > {_CHARACTERS})")


def _name(holder: Json, path: str, faults: Faults) -> None:
    name = holder.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.lower():
        faults.add(f"{path}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


def _options(options: list[Json], path: str, faults: Faults) -> None:
    if len(options) > _OPTIONS:
        faults.add(f"{path}.options", "BASE_TYPE_MAX_LENGTH", f"Must be {_OPTIONS} or fewer in length.")
    optional, names = False, set()
    for number, option in enumerate(options):
        at = f"{path}.options.{number}"
        _option(option, at, faults)
        if option.get("required") and optional:
            message = "Required options must be placed before non-required options"
            faults.add(at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message)
        optional = optional or not option.get("required")
        if option.get("name") in names:
            faults.add(at, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
        names.add(option.get("name"))


def _option(option: Json, path: str, faults: Faults) -> None:
    _name(option, path, faults)
    faults.length(f"{path}.description", option.get("description"), 1, 100)
    kind = option.get("type")
    if kind not in range(1, 12):
        faults.add(f"{path}.type", "BASE_TYPE_CHOICES", "Value must be between 1 and 11.")
    if kind in {_SUB, _GROUP}:
        _options(option.get("options") or [], path, faults)
        return
    choices = option.get("choices") or []
    if option.get("autocomplete"):
        if kind not in {_STRING, _INTEGER, _NUMBER}:
            message = "Only strings and numbers are completed."
            faults.add(path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID_FOR_AUTOCOMPLETE", message)
        if choices:
            message = "Autocomplete cannot be set with choices"
            faults.add(path, "APPLICATION_COMMAND_OPTIONS_CHOICES_WITH_AUTOCOMPLETE", message)
    if len(choices) > _CHOICES:
        faults.add(f"{path}.choices", "BASE_TYPE_MAX_LENGTH", f"Must be {_CHOICES} or fewer in length.")
    for number, choice in enumerate(choices):
        at = f"{path}.choices.{number}"
        faults.length(f"{at}.name", choice.get("name"), 1, 100)
        if kind == _STRING:
            faults.length(f"{at}.value", choice.get("value"), 1, 100)


def _size(holder: Json) -> int:
    """Characters of names, descriptions and values."""
    own = sum(len(str(holder.get(name) or "")) for name in ("name", "description", "value"))
    return own + sum(_size(each) for name in ("options", "choices") for each in holder.get(name) or ())
