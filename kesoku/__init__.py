"""Kesoku: AI bots on many platforms at once, with durable turns. The public face: message classes, enums, errors.

What `kesoku.messages` and `kesoku.errors` offer is offered here. It is imported when it is asked for, since a command
such as `kesoku --help` needs none of it; `__init__.pyi` tells type checkers.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_OFFERING = ("errors", "messages")
_MAKERS = ("create_assistant_message", "create_message", "create_tool_result_message", "create_user_message")
_FUNCTIONS = (*_MAKERS, "freeze_message", "from_json", "message_from_dict", "respond", "same_content", "to_json")


def __getattr__(name: str) -> Any:
    if name in _OFFERING:
        return import_module(f"kesoku.{name}")
    if name == "__all__":
        return [*_OFFERING, *(each for module in _OFFERING for each in import_module(f"kesoku.{module}").__all__)]
    # Only names of the face are looked up: any other one may be a module, which Python imports by itself.
    if name[0].isupper() or name in _FUNCTIONS:
        for module in _OFFERING:
            if name in (face := import_module(f"kesoku.{module}")).__all__:
                return globals().setdefault(name, getattr(face, name))
    raise AttributeError(f"module 'kesoku' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__getattr__("__all__")]
