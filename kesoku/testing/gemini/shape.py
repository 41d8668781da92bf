"""The types of the values in a request, in normal form. What is not named here may be anything."""

from collections.abc import Iterator, Mapping
from typing import Any

_BLOB = {"mime_type": str, "data": bytes | str}
_PART = {
    "text": str,
    "thought": bool,
    "thought_signature": bytes | str,
    "inline_data": _BLOB,
    "file_data": {"mime_type": str, "file_uri": str},
    "function_call": {"id": str, "name": str, "args": dict},
    "function_response": {"id": str, "name": str, "parts": [{"inline_data": _BLOB}]},
}
_CONTENT = {"role": str, "parts": [_PART]}
BODY: Mapping[str, Any] = {
    "contents": [_CONTENT],
    "system_instruction": _CONTENT,
    "tools": [{"function_declarations": [{"name": str}]}],
    "tool_config": {"function_calling_config": {"mode": str, "allowed_function_names": [str]}},
    "safety_settings": [{"category": str, "threshold": str}],
    "generation_config": {"thinking_config": {}, "max_output_tokens": int, "stop_sequences": [str]},
    "cached_content": str,
    "model": str,
    "ttl": str,
    "expire_time": str,
    "display_name": str,
    "file": {"name": str, "display_name": str, "mime_type": str},
}
"""Of everything that has a body in JSON."""


def misfits(value: Any, shape: Any = BODY, where: str = "") -> Iterator[str]:
    """The places where `value` has another type than `shape` says."""
    if isinstance(shape, Mapping):
        if not isinstance(value, dict):
            yield where
            return
        for name in value.keys() & shape.keys():
            yield from misfits(value[name], shape[name], f"{where}.{name}".lstrip("."))
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield where
            return
        for number, item in enumerate(value):
            yield from misfits(item, shape[0], f"{where}[{number}]")
    elif not isinstance(value, shape):
        yield where
