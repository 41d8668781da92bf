"""How many tokens a request has, roughly and without network: one token per four bytes of UTF-8.

Four letters of English make about one token and so does a CJK character of three bytes. Good to a factor of about
1.5, which is enough to decide when to compact; the provider's own count comes with every reply.
"""

import json
from collections.abc import Mapping
from typing import Any

from kesoku.messages.turn import Block, CallBlock, CompiledRequest, MediaBlock, TextBlock

_MEDIA_TOKENS = 1_100
"""What Gemini 3 charges for one image at its default resolution; other media are taken for the same."""


def tokens_of(text: str) -> int:
    """Tokens of one text, rounded up; 0 only for the empty text."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def estimate(request: CompiledRequest) -> int:
    """Tokens of the whole input: system instruction, tools and history."""
    tools = sum(tokens_of(tool.name + tool.description) + _data(tool.parameters) for tool in request.tools)
    return tokens_of(request.system) + tools + sum(_block(block) for turn in request.turns for block in turn.blocks)


def _block(block: Block) -> int:
    if isinstance(block, TextBlock):
        return tokens_of(block.text)
    if isinstance(block, MediaBlock):
        return _MEDIA_TOKENS
    if isinstance(block, CallBlock):
        return tokens_of(block.name) + _data(block.arguments)
    return tokens_of(block.name + (block.error or "")) + _data(block.output) + len(block.media) * _MEDIA_TOKENS


def _data(value: Any) -> int:
    if isinstance(value, str):
        return tokens_of(value)
    return tokens_of(json.dumps(value, default=_plain, ensure_ascii=False, skipkeys=True))


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
