"""How many tokens a request has, by one rule everywhere: 4 bytes of text are a token, a file is 258."""

import hashlib
import json
from collections import deque
from typing import Any

MEDIA = 258
"""Tokens of any file; the API charges an image of one tile the same."""
_READ = ("system_instruction", "tools", "tool_config", "contents")
_FREE = frozenset({"role", "thought_signature", "id"})


def tokens_of(body: Any) -> int:
    """Tokens of what the model reads of a request in normal form."""
    return sum(_tokens(body[name]) for name in _READ if name in body)


def text_tokens(text: str) -> int:
    """Tokens of a text."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


class Prefixes:
    """Implicit caching: how much of a request stood at the start of an earlier one, turn by turn."""

    def __init__(self) -> None:
        self._seen: deque[list[tuple[bytes, int]]] = deque(maxlen=100)

    def cached(self, model: str, body: Any, minimum: int) -> int:
        """Tokens of the longest prefix that was read before, 0 below `minimum`; remembers this request."""
        head = {name: body[name] for name in _READ[:-1] if name in body}
        pieces = [(model.encode(), 0), *(_piece(each) for each in (head, *body["contents"]))]
        best = max((_common(pieces, earlier) for earlier in self._seen), default=0)
        self._seen.append(pieces)
        return best if best >= minimum else 0


def _piece(value: Any) -> tuple[bytes, int]:
    return _digest(json.dumps(value, default=_digest_text).encode("utf-8", "surrogatepass")), _tokens(value)


def _digest_text(data: bytes) -> str:
    return _digest(data).hex()


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _common(one: list[tuple[bytes, int]], other: list[tuple[bytes, int]]) -> int:
    total = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        total += here[1]
    return total


def _tokens(value: Any) -> int:
    if isinstance(value, dict):
        if value.keys() & {"mime_type"} and value.keys() & {"data", "file_uri"}:
            return MEDIA
        return sum(_tokens(item) for name, item in value.items() if name not in _FREE)
    if isinstance(value, list):
        return sum(map(_tokens, value))
    return 0 if value is None else text_tokens(value if isinstance(value, str) else str(value))
