"""A request as the loopback server sees it: which door it comes to, and what it brings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kesoku.testing.gemini.script import Scripted

Kind = Literal["generate", "count", "models", "upload", "chunk", "files", "caches", "token"]
"""What a request is for. "upload" is the start of an upload, "chunk" its bytes."""

_AI_STUDIO = r"/(?P<version>v1|v1beta)/"
_PROJECT = r"/(?P<version>v1|v1beta1)/(?P<parent>projects/(?P<project>[^/]+)/locations/[^/]+)/"
_PUBLISHER = r"(?:publishers/google/)"
_NAME = r"(?P<name>[^/:]+)"
_GENERATE = rf"models/{_NAME}:(?P<verb>streamGenerateContent|generateContent)"
_ROUTES: tuple[tuple[Kind, str, str], ...] = (
    ("generate", "POST", _AI_STUDIO + _GENERATE),
    ("generate", "POST", _PROJECT + _PUBLISHER + _GENERATE),
    ("count", "POST", rf"{_AI_STUDIO}models/{_NAME}:countTokens"),
    ("count", "POST", rf"{_PROJECT}{_PUBLISHER}models/{_NAME}:countTokens"),
    ("models", "GET", rf"{_AI_STUDIO}models(?:/{_NAME})?"),
    ("models", "GET", rf"(?:{_PROJECT}|/(?P<base>v1|v1beta1)/){_PUBLISHER}models(?:/{_NAME})?"),
    ("upload", "POST", rf"/upload{_AI_STUDIO}files"),
    ("files", "GET", rf"{_AI_STUDIO}files"),
    ("files", "GET|DELETE", rf"{_AI_STUDIO}files/{_NAME}"),
    *(("caches", "GET|POST", f"{base}cachedContents") for base in (_AI_STUDIO, _PROJECT)),
    *(("caches", "GET|PATCH|DELETE", f"{base}cachedContents/{_NAME}") for base in (_AI_STUDIO, _PROJECT)),
    ("token", "POST", "/token"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as the server saw it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    body: Any = None
    """Normal form: snake_case names, bytes where the API has base64. None for bytes of a file and broken JSON."""
    kind: Kind | None = None
    """None: there is no such path."""
    model: str = ""
    """The model of the path or of a new cache, without `models/`."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The named pieces of the path."""
    refused: str | None = None
    """Why the server refused it by its own rules, or None."""
    answer: Scripted | None = None
    """What the script had for it, or None."""

    @property
    def vertex(self) -> bool:
        """Whether it came by a path of Vertex AI."""
        return "parent" in self.parts or "base" in self.parts

    @property
    def name(self) -> str:
        """The last piece of the path: a model, file or cache; empty for all of them."""
        return self.parts.get("name", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer in JSON."""

    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


def routed(method: str, path: str, query: Mapping[str, str]) -> tuple[Kind | None, dict[str, str]]:
    """What a request is for, and the named pieces of its path."""
    for kind, methods, pattern in _ROUTES:
        found = re.fullmatch(pattern, path)
        if found and method in methods.split("|"):
            parts = {name: text for name, text in found.groupdict().items() if text is not None}
            return ("chunk" if kind == "upload" and "upload_id" in query else kind), parts
    return None, {}
