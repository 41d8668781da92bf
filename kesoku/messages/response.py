"""The text of a chat model's response, whatever provider gave it (L-081..L-087).

A response may be text, a plain dict, a model object of an SDK, or a list of any of these.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_TEXTS = frozenset(("text", "output_text"))
"""The types of content blocks that hold text for people."""
_NESTED = ("message", "delta")
"""Where a choice has its content: whole, or a piece of a stream."""


def response_text(response: Any) -> str:
    """All text of a plain response, without anything between the fragments; '' where there is none."""
    return "".join(_fragments(response))


def plain_response(response: Any) -> Any:
    """The response as plain data, if it can say so; of a list each one, of a list of one the one."""
    if isinstance(response, (list, tuple)):
        return plain_response(response[0]) if len(response) == 1 else [plain_response(each) for each in response]
    dump = getattr(response, "model_dump", None)
    return dump(mode="json") if callable(dump) and not isinstance(response, type) else response


def model_of(response: Any) -> str:
    """The model that a plain response names, of several the first; `unknown` if none does."""
    first = response[0] if isinstance(response, (list, tuple)) and response else response
    named = first.get("model") if isinstance(first, Mapping) else None
    return named if isinstance(named, str) and named else "unknown"


def _fragments(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _fragments(each)
    elif isinstance(value, Mapping):
        yield from _of_mapping(value)


def _of_mapping(response: Mapping[str, Any]) -> Iterator[str]:
    if response.get("type") in _TEXTS:
        yield from _fragments(response.get("text"))
    elif response.get("content") is not None:
        yield from _of_blocks(response["content"])
    elif "choices" in response:
        for choice in _listed(response["choices"]):
            yield from _of_choice(choice)
    elif "output" in response:
        for item in _listed(response["output"]):
            if isinstance(item, str) or (isinstance(item, Mapping) and item.get("type", "message") == "message"):
                yield from _fragments(item)
    elif "result" in response:
        yield from _fragments(response["result"])


def _of_blocks(content: Any) -> Iterator[str]:
    """Content is text or blocks; those that hold no text, such as a call or a thought, are left out."""
    for block in _listed(content):
        if isinstance(block, str):
            yield block
        elif isinstance(block, Mapping) and block.get("type") in _TEXTS:
            yield from _fragments(block.get("text"))


def _of_choice(choice: Any) -> Iterator[str]:
    if isinstance(choice, Mapping):
        for name in _NESTED:
            said = choice.get(name)
            if isinstance(said, Mapping):
                yield from _of_blocks(said.get("content"))


def _listed(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else (value,)
