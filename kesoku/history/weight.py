"""How many tokens something has, roughly and without network: one for a digit, and one for four other bytes of UTF-8.

Four letters of English make about one token and so does a CJK character of three bytes; vocabularies of today have no
numbers, only digits. Good to a factor of about 1.5 for words, code and tables, which is enough to decide what fits; the
provider's own count comes with every reply.
"""

import json
from typing import Any

from kesoku.messages.freeze import thaw
from kesoku.messages.turn import Block, CallBlock, MediaBlock, TextBlock, Turn

MEDIA = 1_100
"""What one picture costs at a common resolution; other media are taken for the same."""
_DIGITS = b"0123456789"


def tokens_of(text: str) -> int:
    """Tokens of one text, rounded up; 0 only for the empty text."""
    data = text.encode("utf-8", "surrogatepass")
    others = len(data.translate(None, _DIGITS))
    return len(data) - others + (others + 3) // 4


def tokens_of_data(value: Any) -> int:
    """Tokens of a text, or of any other value as JSON."""
    if isinstance(value, str):
        return tokens_of(value)
    return tokens_of(json.dumps(thaw(value), default=str, ensure_ascii=False, skipkeys=True))


def weight(turn: Turn) -> int:
    """Tokens of one turn."""
    return sum(map(_block, turn.blocks))


def _block(block: Block) -> int:
    if isinstance(block, TextBlock):
        return tokens_of(block.text)
    if isinstance(block, MediaBlock):
        return MEDIA
    if isinstance(block, CallBlock):
        return tokens_of(block.name) + tokens_of_data(block.arguments)
    return tokens_of(block.name + (block.error or "")) + tokens_of_data(block.output) + len(block.media) * MEDIA
