"""How many tokens a piece of history has, roughly: one for every four bytes of UTF-8.

Good enough to decide what still fits; the provider's own count comes with every reply.
"""

from kesoku.history.bound import as_text
from kesoku.messages.turn import Block, CallBlock, MediaBlock, TextBlock, Turn

_MEDIA = 1_100
"""What one picture costs at a common resolution."""


def weight(turn: Turn) -> int:
    """Estimated tokens of one turn."""
    return sum(map(_block, turn.blocks))


def _block(block: Block) -> int:
    if isinstance(block, TextBlock):
        return _text(block.text)
    if isinstance(block, CallBlock):
        return _text(block.name + as_text(block.arguments))
    if isinstance(block, MediaBlock):
        return _MEDIA
    return _text(block.name + (block.error or "") + as_text(block.output)) + len(block.media) * _MEDIA


def _text(text: str) -> int:
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
