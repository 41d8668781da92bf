"""A request as the server sees it, and what it is answered with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, web

from kesoku.testing.discord.error import Rejected, broken_json, invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file of a multipart request."""

    number: int
    """The n of `files[n]`."""
    name: str
    content_type: str
    data: bytes


@dataclass(eq=False, slots=True, kw_only=True)
class Seen:
    """One request, as it came in."""

    method: str
    route: str
    """Such as "POST /channels/{}/messages"; for an unknown one "" """
    path: str
    """As it was sent, without the version."""
    at: float
    """Seconds of the server's clock."""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: Any = None
    """The JSON, also that of `payload_json`."""
    files: tuple[Upload, ...] = ()
    status: int | None = None
    """What was answered; None while nothing was."""
    scripted: bool = False
    """Whether the script made the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request to a route."""

    seen: Seen
    parts: tuple[str, ...]
    """What stood in the places of the route, in order."""

    def id(self, place: int = 0) -> int:
        """The id in a place of the route; raises Rejected if it is none."""
        return snowflake(self.parts[place], "id")

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object; raises Rejected if it is none."""
        body = {} if self.seen.body is None else self.seen.body
        if not isinstance(body, dict):
            raise invalid("_", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return body

    @property
    def files(self) -> tuple[Upload, ...]:
        """The uploaded files."""
        return self.seen.files


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer in JSON; without a body 204."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


NOTHING = Reply(status=204)
"""Done."""


def snowflake(text: Any, path: str) -> int:
    """An id in a path or body; raises Rejected if it is none."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str) and text.isascii() and text.isdecimal():
        return int(text)
    raise invalid(path, "NUMBER_TYPE_COERCE", f'Value "{text}" is not snowflake.')


async def read(request: web.Request, seen: Seen) -> None:
    """Read body and files into `seen`. Raises Rejected for what is no JSON or has no `payload_json`."""
    kind = request.content_type
    if kind == "multipart/form-data":
        await _read_multipart(request, seen)
        return
    raw = await request.read()
    if raw:
        if kind != "application/json":
            raise broken_json()
        seen.body = _parsed(raw)


async def _read_multipart(request: web.Request, seen: Seen) -> None:
    files = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise invalid("_", "UNKNOWN_FIELD", "A form has payload_json and files[n].")
        name, data = part.name or "", bytes(await part.read())
        if name == "payload_json":
            seen.body = _parsed(data)
        elif name.startswith("files[") and name.endswith("]") and name[6:-1].isdecimal():
            kind = part.headers.get("Content-Type", "application/octet-stream")
            files.append(Upload(number=int(name[6:-1]), name=part.filename or "", content_type=kind, data=data))
        else:
            raise invalid(name or "_", "UNKNOWN_FIELD", "A form has payload_json and files[n].")
    seen.files = tuple(files)
    if seen.body is None:
        raise Rejected(400, 50035, "Invalid Form Body: payload_json is missing")


def _parsed(raw: bytes) -> Any:
    try:
        found = json.loads(raw)
        json.dumps(found, ensure_ascii=False).encode()  # fails for half a character, which Discord does not take
    except ValueError as error:
        raise broken_json() from error
    return found
