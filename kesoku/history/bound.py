"""Tool output as the model gets it: bounded, head and tail kept, the cut named (decision C-33)."""

import json
from typing import Any

from kesoku.messages.freeze import thaw


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


def clip(text: str, limit: int) -> str:
    """`text` if it has at most `limit` bytes of UTF-8; otherwise its ends, cut between characters."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    half = limit // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - half :].decode("utf-8", "ignore")
    return f"{head}\n[... {len(data) - 2 * half:,} of {len(data):,} bytes are left out here ...]\n{tail}"
