"""tools.md: the built-in tools as a model sees them."""

import json
from collections.abc import Mapping
from typing import Any

from pages.markdown import code, table

from kesoku.tools import Tool, default_policy
from kesoku.tools.builtin import BUILTIN

_INTRO = """# Built-in tools

`[tools.NAME]` of the config file sets another policy or timeout. Paths are confined to the workspace, to the roots of
the config file and to the files that came into the session.
"""
_WORDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def tools() -> str:
    """The page."""
    rows = (
        (code(each.name), code(each.effect.value), code(default_policy(each).value), f"{each.timeout:g} s")
        for each in BUILTIN
    )
    return "\n".join([_INTRO, table("tool", "effect", "default policy", "timeout", rows=rows), *map(_tool, BUILTIN)])


def _tool(tool: Tool) -> str:
    schema = tool.parameters
    rows = (
        (code(name), _shape(item), _default(item, required=name in schema.get("required", ())), item["description"])
        for name, item in schema["properties"].items()
    )
    shown = table("argument", "type", "default", "meaning", rows=rows)
    return f"## {tool.name}\n\n{tool.description}\n\n{shown}"


def _default(item: Mapping[str, Any], *, required: bool) -> str:
    default = item.get("default")
    return "required" if required else "" if default is None else code(json.dumps(default))


def _shape(item: Mapping[str, Any]) -> str:
    """A JSON Schema in words."""
    kind = item.get("type") or " or ".join(each["type"] for each in item["anyOf"])
    return ", ".join([kind, *(f"{word} {item[key]:,g}" for key, word in _WORDS.items() if key in item)])
