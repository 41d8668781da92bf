"""Tool output as the model gets it: bounded, head and tail kept, the cut named (decision C-33)."""

import json
from typing import Any

from kesoku.messages.freeze import thaw
from kesoku.render.ends import clip


def bounded(output: Any, limit: int) -> Any:
    """`output` if it has at most `limit` bytes of UTF-8, as JSON if it is no text; otherwise the two ends of that."""
    if output is None:
        return None
    text = as_text(output)
    cut = clip(text, limit)
    return output if cut is text else cut


def as_text(output: Any) -> str:
    """Text as it is, anything else as JSON."""
    return output if isinstance(output, str) else json.dumps(thaw(output), ensure_ascii=False)
