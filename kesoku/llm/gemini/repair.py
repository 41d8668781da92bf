"""Signatures that Gemini no longer takes: replaced in the request at hand, and in all later ones."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from kesoku.llm.gemini.wire import STAND_IN, Json
from kesoku.messages.recent import Recent

REMEMBERED = 10_000
"""So many refused signatures are known. One that was forgotten is refused again, which costs one request."""


class Signatures:
    """What one model has refused. They may be of another model, project or route, or simply too old."""

    def __init__(self) -> None:
        self._refused = Recent[bytes](REMEMBERED)
        self._any = False  # not the same as an empty set: a missing signature is refused as well

    def refuse(self, contents: Iterable[Json]) -> None:
        """Gemini refused these contents for a signature, and does not say which: none of them is sent again."""
        self._refused.add(*(_digest(part["thought_signature"]) for part in _signed(contents)))
        self._any = True

    def mended(self, contents: list[Json]) -> list[Json]:
        """`contents` without refused signatures, with the stand-in where a step needs one."""
        if not self._any:
            return contents
        mended = ({**content, "parts": self._parts(content["parts"])} for content in contents)
        return [content for content in mended if content["parts"]]

    def _parts(self, parts: Iterable[Json]) -> list[Json]:
        """A step needs a signature on its first call; a part without any data is none."""
        kept = [self._part(part) for part in parts]
        first = next((part for part in kept if "function_call" in part), {})
        first.setdefault("thought_signature", STAND_IN)
        return [part for part in kept if part.get("text") != "" or "thought_signature" in part]

    def _part(self, part: Json) -> Json:
        signature = part.get("thought_signature")
        if signature is None or _digest(signature) not in self._refused:
            return dict(part)
        return {name: value for name, value in part.items() if name != "thought_signature"}


def _signed(contents: Iterable[Json]) -> Iterator[Json]:
    return (part for content in contents for part in content["parts"] if _foreign(part.get("thought_signature")))


def _foreign(signature: Any) -> bool:
    return signature is not None and signature != STAND_IN


def _digest(signature: bytes) -> bytes:
    return hashlib.sha256(signature).digest()
