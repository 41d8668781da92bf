"""config.md: every table of the config file."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pages.markdown import code, fields, line, table
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from kesoku.adapter import AdapterConfig
from kesoku.config.hook_event import HOOK_EVENTS
from kesoku.config.schema import Config, HookTable, PriceTable, RoleTable, ToolTable
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.offline import OfflineConfig
from kesoku_cli.config import CliConfig
from kesoku_discord.config import ChannelConfig, DiscordConfig

_INTRO = """# Configuration

One TOML file. Kesoku takes the first of `--config FILE`, `$KESOKU_CONFIG`, `./config.toml` and
`~/.config/kesoku/config.toml` (`$XDG_CONFIG_HOME` is honoured). Without a file the defaults hold.
[config.example.toml](../../config.example.toml) holds every key at its default.

- An environment variable `KESOKU_TABLE__KEY` goes over the file: `KESOKU_AGENT__BUSY=queue` is `busy = "queue"` in
  `[agent]`. A value that reads as TOML is taken as such, anything else as text.
- Any text may be given as `{ env = "NAME" }` or `{ file = "path" }`. That path starts at the folder of the config file;
  every other relative path starts at the current folder.
- An unknown key is a warning at start and an error for `kesoku doctor`. A wrong value stops the start with exit code
  78; all wrong values are named at once.
"""
_TYPED = "Any such table may say `type`, the name of the provider; by default it is the name of the table."
_HOOKS = (
    "An event hook, told of what happens to messages after it is stored: [how to use it](../how-to/event-hooks.md). "
    '`url`, and each of `headers`, may come from elsewhere too, as `{ env = "NAME" }` or `{ file = "path" }`.'
)
_WORDS = {str: "text", int: "integer", float: "number", bool: "boolean", Path: "path", SecretStr: "text (secret)"}
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def config() -> str:
    """The page."""
    parts = [_INTRO, _section("Top level", Config, "Keys that stand before the first table.")]
    for name, field in Config.model_fields.items():
        if isinstance(field.default, BaseModel):
            parts.append(_section(f"`[{name}]`", type(field.default), line(type(field.default).__doc__)))
    parts += [
        _section("`[tools.NAME]`", ToolTable, "One tool; NAME is the tool's name."),
        _section("`[models.NAME]` of type `gemini`", GeminiConfig, f"A Gemini model. {_TYPED}"),
        _section("`[models.NAME]` of type `offline`", OfflineConfig, f"The built-in offline model. {_TYPED}"),
        _section("`[prices.NAME]`", PriceTable, f"{line(PriceTable.__doc__)} NAME is the name of the model."),
        _section("`[roles.NAME]`", RoleTable, "A role that a bot can play; NAME is what `role` of a bot says."),
        _section("`[adapters.NAME]`", AdapterConfig, f"What every adapter has; NAME is the bot's chatbot_id. {_TYPED}"),
        _section("`[adapters.cli]`", CliConfig, "The terminal: `kesoku chat`. What it sets itself is marked so."),
        _section("`[adapters.discord]`", DiscordConfig, "A Discord bot, beside what every adapter has."),
        _section("`[adapters.discord.channels.ID]`", ChannelConfig, "One channel; ID is the channel's id."),
        _section("`[[hooks]]`", HookTable, _HOOKS),
        table("word in `events`", "what happened", rows=((code(each.word), each.text) for each in HOOK_EVENTS)),
    ]
    return "\n".join(parts)


def _section(title: str, schema: type[BaseModel], text: str) -> str:
    said = dict(_docstrings(schema))
    rows = (
        (code(name), _bounded(field), "required" if field.is_required() else _default(field.default), said[name])
        for name, field in schema.model_fields.items()
        if not _is_tables(field)
    )
    return f"## {title}\n\n{text}\n\n{table('key', 'type', 'default', 'meaning', rows=rows)}"


def _is_tables(field: FieldInfo) -> bool:
    """Whether a field is a table, or several of them, with a section of its own."""
    kinds = [field.annotation, *get_args(field.annotation)]
    return any(isinstance(each, type) and issubclass(each, BaseModel) for each in kinds)


def _docstrings(schema: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for each in schema.__mro__:
        if issubclass(each, BaseModel) and each is not BaseModel:
            yield from ((name, text) for name, _, _, text in fields(each))


def _bounded(field: FieldInfo) -> str:
    """The type in words, with its bounds."""
    bounds = (
        f"{word} {getattr(each, name):,}"
        for name, word in _BOUNDS.items()
        for each in field.metadata
        if hasattr(each, name)
    )
    return ", ".join((_kind(field.annotation), *bounds))


def _kind(hint: Any) -> str:
    arguments = [each for each in get_args(hint) if each not in {NoneType, ...}]
    if get_origin(hint) is tuple:
        return f"list of {_kind(arguments[0])}"
    if get_origin(hint) is Literal:
        return " or ".join(code(json.dumps(each)) for each in arguments)
    if get_origin(hint) is Annotated:
        return _kind(arguments[0])
    if get_origin(hint) is dict:
        return f"table of {_kind(arguments[1])}"
    return _kind(arguments[0]) if arguments else _WORDS[hint]


def _default(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, tuple):
        return code(json.dumps(value))
    return code({"''": '""'}.get(repr(value), repr(value).replace("'", '"')))
