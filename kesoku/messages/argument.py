"""The name and the arguments of a tool call, out of what a caller may have (L-090..L-094)."""

import ast
import json
from collections.abc import Mapping
from typing import Any

from kesoku.errors import CallInvalid
from kesoku.messages.freeze import FrozenDict

_UNREADABLE = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
"""What reading a text as JSON or as a literal raises."""


def tool_name(function: Any) -> str:
    """The name of a tool: text as it is, the `.function` of an object, the name of a callable.

    Raises:
        CallInvalid: it has no name.
    """
    if not isinstance(function, str):
        function = getattr(function, "function", function)
    name = getattr(function, "__name__", None) if callable(function) else function
    if not isinstance(name, str):
        raise CallInvalid(field="function", value=function, why="it is neither a name nor something with a name")
    return name


def arguments_of(given: Any) -> FrozenDict:
    """Arguments by name, detached and frozen: a mapping, or text of one as JSON or as Python writes it; no text is
    none.

    Raises:
        CallInvalid: it is neither.
    """
    if isinstance(given, dict):
        return given if type(given) is FrozenDict else FrozenDict(given)
    found = _parsed(given) if isinstance(given, str) else {} if given is None else given
    if not isinstance(found, Mapping):
        raise CallInvalid(field="arguments", value=given, why="it is no mapping of names to values")
    return FrozenDict(found)


def _parsed(text: str) -> Any:
    """JSON, else a literal: models write both, whatever they are told."""
    if not text.strip():
        return {}
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text.strip())
        except _UNREADABLE:
            continue
    raise CallInvalid(field="arguments", value=text, why="it is neither JSON nor a literal")
