"""Messages as JSON text and back."""

import json
from collections import Counter
from typing import Any

from kesoku.errors import MessageUnreadable
from kesoku.messages.kinds import message_from_dict
from kesoku.messages.message import Message

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""Letters beyond ASCII are escaped, so that a lone surrogate passes through files and sockets."""


def to_json(message: Message) -> str:
    """The complete message as one line of JSON.

    Raises:
        TypeError: the content of a base message, or opaque data of a source, is not made of JSON values.
    """
    return _encode(message.to_dict())


def from_json(text: str | bytes) -> Message:
    """The message that `to_json` wrote, with the class that its kind names.

    Raises:
        MessageUnreadable: the text is no JSON, or that of no object, or an object has one key twice.
        UnknownKind: kind or source is not known here.
        IdentityMissing: there is no id.
        TypeError: a field holds what it does not take, or is unknown.
    """
    try:
        data = _decode(text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass"))
    except RecursionError:
        raise MessageUnreadable(why="lists and objects stand in each other without an end") from None
    except ValueError as error:
        if isinstance(error, MessageUnreadable):
            raise
        raise MessageUnreadable(why=str(error)) from error
    if not isinstance(data, dict):
        raise MessageUnreadable(why="it is no object")
    return message_from_dict(data)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless it has a key twice: which one was meant nobody knows."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen = Counter(key for key, _ in pairs)
        raise MessageUnreadable(why=f"the key {next(key for key in seen if seen[key] > 1)!r} stands there twice")
    return made


_decode = json.JSONDecoder(object_pairs_hook=_object).decode
"""What `json.loads` does, with a decoder that is made once."""
