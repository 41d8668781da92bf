"""Messages as JSON text and back."""

import json

from kesoku.messages.kinds import message_from_dict
from kesoku.messages.message import Message

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""Letters beyond ASCII are escaped, so that a lone surrogate passes through files and sockets."""
_decode = json.JSONDecoder().decode


def to_json(message: Message) -> str:
    """The complete message as one line of JSON.

    Raises:
        TypeError: the content of a base message, or opaque data of a source, is not made of JSON values.
    """
    return _encode(message.to_dict())


def from_json(text: str | bytes) -> Message:
    """The message that `to_json` wrote, with the class that its kind names.

    Raises:
        ValueError: the text is no JSON.
        UnknownKind: kind or source is not known here.
    """
    return message_from_dict(_decode(text) if isinstance(text, str) else json.loads(text))
