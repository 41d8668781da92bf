"""JSON over several lines, as people and models are shown the arguments of a call."""

import json
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from kesoku.messages.freeze import FrozenDict, thaw

_WRITERS: dict[type, Callable[[Any], str]] = {
    str: encode_basestring,
    int: int.__repr__,
    bool: json.dumps,
    float: json.dumps,
    type(None): json.dumps,
}


def indented(value: FrozenDict) -> str:
    """What `json.dumps` writes with an indent of 2; many times as fast where no value holds others, as is common."""
    try:
        lines = [f"  {encode_basestring(key)}: {_WRITERS[type(item)](item)}" for key, item in value.items()]
    except KeyError:
        lines = []
    if not lines:
        return json.dumps(thaw(value), indent=2, ensure_ascii=False)
    return "{\n" + ",\n".join(lines) + "\n}"
