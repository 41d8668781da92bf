"""What a turn does on its way, a line each: `💭 …` and `🛠️ run_shell_command: uv run pytest ⏳`. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kesoku.adapter import Record
from kesoku_discord.drawing.inert import literal, prose

LINE = 100
"""Columns of what a line says, such as the arguments of a call."""
_NAME = 48
_VALUE = 300
_SECONDS = 2
"""Seconds from which on it is told how long something takes."""
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def thought_line(text: str) -> str:
    """The first line of a thought; empty if it says nothing."""
    said = prose(text, LINE)
    return f"💭 {said}" if said else ""


def notice_line(text: str) -> str:
    """The first line of a notice; empty if it says nothing."""
    said = prose(text, LINE)
    return f"ℹ️ {said}" if said else ""


def call_line(tool: str, shown: str, mark: str, seconds: int = 0) -> str:
    """A call with its arguments as `arguments_shown` tells them, how it stands, and how long it took or takes."""
    said = f"🛠️ {literal(tool, _NAME)}{': ' if shown.strip() else ''}{literal(shown, LINE) if shown.strip() else ''}"
    return f"{said} {mark}{f' {_time(seconds)}' if seconds >= _SECONDS else ''}"


def arguments_shown(arguments: Mapping[str, Any]) -> str:
    """The beginning of what a tool is called with: one text as it is, anything else as `name=value`."""
    if len(arguments) == 1 and isinstance(only := next(iter(arguments.values())), str):
        return only[:_VALUE]
    named = enumerate(arguments.items())
    return _beginning(f"{', ' if number else ''}{name[:_VALUE]}={_json(value)}" for number, (name, value) in named)


def step_line(record: Record) -> str:
    """The line of a thought, a call or a result that is shown alone; empty for any other record."""
    content = record.message.content
    match record.kind:
        case "thought":
            return thought_line(content.text) or "💭 …"
        case "tool_call":
            return call_line(content.tool, arguments_shown(content.arguments), "⏳")
        case "tool_result":
            return call_line(content.tool, arguments_shown(content.arguments), "✅" if content.success else "❌")
        case _:
            return ""


def _json(value: Any) -> str:
    return _beginning(_ENCODER.iterencode(value[:_VALUE] if isinstance(value, str) else value))


def _beginning(pieces: Iterable[str]) -> str:
    """What is shown of them; the others are not even made, for a file that is written may be megabytes of lines."""
    shown = ""
    for piece in pieces:
        shown += piece
        if len(shown) >= _VALUE:
            break
    return shown[:_VALUE]


def _time(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
