"""The Files API: resumable uploads, processing, expiry."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from kesoku.testing.gemini.request import Reply, Seen
from kesoku.testing.gemini.script import Processing, Refusal, file_refused, invalid
from kesoku.testing.gemini.shape import misfits

LIFE = 48 * 3600.0
"""Seconds that a file lives."""
LARGEST = 2 * 1024**3
_GRAIN = 256 * 1024
"""Every chunk but the last is a multiple of this."""
_ID = re.compile(r"(?:https?://[^/]+/v1(?:beta)?/)?files/([a-z0-9-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file that was uploaded."""

    name: str
    """`files/…`"""
    uri: str
    mime_type: str
    display_name: str
    data: bytes
    created: float
    polls: int = 0
    """For how many more look-ups it is PROCESSING."""
    error: str | None = None
    """Why it is FAILED, once it is processed."""

    @property
    def state(self) -> str:
        """PROCESSING, ACTIVE or FAILED."""
        return "PROCESSING" if self.polls else "FAILED" if self.error is not None else "ACTIVE"

    def json(self) -> dict[str, Any]:
        """As the API shows it."""
        shown = {
            "name": self.name,
            "uri": self.uri,
            "mimeType": self.mime_type,
            "sizeBytes": str(len(self.data)),
            "sha256Hash": _digest(self.data),
            "createTime": timestamp(self.created),
            "updateTime": timestamp(self.created),
            "expirationTime": timestamp(self.created + LIFE),
            "state": self.state,
            "source": "UPLOADED",
        }
        if self.display_name:
            shown["displayName"] = self.display_name
        return {**shown, "error": {"code": 9, "message": self.error}} if self.state == "FAILED" else shown


@lru_cache(maxsize=4)
def _digest(data: bytes) -> str:
    """Asked for at every look at a file that may be large."""
    return base64.b64encode(hashlib.sha256(data).hexdigest().encode()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Upload:
    file: StoredFile
    size: int


class Files:
    """The files of the key's project."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.kept: dict[str, StoredFile] = {}
        """By name; what is expired is gone."""
        self._open: dict[str, _Upload] = {}
        self._count, self._now = 0, now

    def start(self, seen: Seen, plan: Processing) -> Reply | Refusal:
        """The start of a resumable upload."""
        if where := next(misfits(seen.body), None):
            return invalid(f"Invalid value at '{where}'")
        facts = seen.body.get("file") or {}
        size = seen.headers.get("x-goog-upload-header-content-length", "")
        mime_type = seen.headers.get("x-goog-upload-header-content-type") or facts.get("mime_type")
        protocol = seen.headers.get("x-goog-upload-protocol"), seen.headers.get("x-goog-upload-command")
        if protocol != ("resumable", "start") or not size.isdecimal() or not mime_type:
            return invalid("A resumable upload starts with its protocol, command, content length and content type.")
        if str(facts.get("size_bytes") or size) != size or not 0 < int(size) <= LARGEST:
            return invalid(f"Upload size {size} is not that of the file, is 0, or is above {LARGEST} bytes.")
        self._count += 1
        base, name = f"http://{seen.headers['host']}", facts.get("name") or f"files/loopback-{self._count}"
        if not name.startswith("files/") or not _ID.fullmatch(name):
            return invalid("A file is named files/, and small letters, digits or dashes.")
        if name in self.kept:
            return Refusal(409, "ALREADY_EXISTS", f"The file {name} exists already.")
        file = StoredFile(
            name=name,
            uri=f"{base}/{seen.parts['version']}/{name}",
            mime_type=mime_type,
            display_name=facts.get("display_name") or "",
            data=b"",
            created=self._now(),
            polls=plan.polls,
            error=plan.error,
        )
        key = f"upload-{self._count}"
        self._open[key] = _Upload(file=file, size=int(size))
        url = f"{base}{seen.path}?upload_id={key}&upload_protocol=resumable"
        grain = {"X-Goog-Upload-Chunk-Granularity": str(_GRAIN)}
        return Reply(body={}, headers={"X-Goog-Upload-URL": url, "X-Goog-Upload-Status": "active", **grain})

    def chunk(self, seen: Seen) -> Reply | Refusal:
        """Bytes of an upload; the last ones make the file. A refusal ends the upload."""
        key = seen.query["upload_id"]
        upload = self._open.pop(key, None)
        if upload is None:
            return Refusal(404, "NOT_FOUND", f"There is no upload {key}.")
        commands = {each.strip() for each in seen.headers.get("x-goog-upload-command", "").split(",")}
        have, size = len(upload.file.data), upload.size
        if not commands <= {"upload", "finalize"}:
            return invalid("An upload knows the commands upload and finalize.")
        if "upload" in commands and seen.headers.get("x-goog-upload-offset") != str(have):
            return invalid(f"The upload offset is not {have}, the number of bytes that were received.")
        data, final = upload.file.data + seen.raw, "finalize" in commands
        if len(data) > size or (final and len(data) != size) or (not final and len(seen.raw) % _GRAIN):
            return invalid(f"{len(data)} of {size} bytes do not end the upload, or no chunk ends there.")
        file = replace(upload.file, data=data)
        if final:
            self.kept[file.name] = file
            return Reply(body={"file": file.json()}, headers={"X-Goog-Upload-Status": "final"})
        self._open[key] = replace(upload, file=file)
        received = {"X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": str(len(data))}
        return Reply(body={}, headers=received)

    def answer(self, seen: Seen) -> Reply | Refusal:
        """Look up, list or delete. A look-up brings a file nearer to the end of its processing."""
        self._sweep()
        if not seen.name:
            return page([file.json() for file in self.kept.values()], "files", seen)
        file = self.kept.get(f"files/{seen.name}")
        if file is None:
            return file_refused(seen.name)
        if seen.method == "DELETE":
            del self.kept[file.name]
            return Reply(body={})
        self.kept[file.name] = replace(file, polls=max(0, file.polls - 1))
        return Reply(body=file.json())

    def check(self, contents: Any, *, vertex: bool) -> Iterator[Refusal]:
        """The refusals of the files that a request refers to."""
        self._sweep()
        for part in _parts(contents):
            uri = (part.get("file_data") or {}).get("file_uri")
            if uri is None:
                continue
            found = _ID.fullmatch(uri)
            if vertex and found:
                yield invalid(f"Invalid file URI: {uri}. Files of the Files API are unknown here.")
            elif found:
                yield from self._usable(found[1])
            elif not uri.startswith(("https://", "gs://") if vertex else "https://"):
                yield invalid(f"Invalid or unsupported file uri: {uri}")

    def expire(self) -> None:
        """All files have lived too long."""
        self.kept.clear()

    def _usable(self, name: str) -> Iterator[Refusal]:
        file = self.kept.get(f"files/{name}")
        if file is None:
            yield file_refused(name)
        elif file.state != "ACTIVE":
            text = f"The File {name} is not in an ACTIVE state and usage is not allowed."
            yield Refusal(400, "FAILED_PRECONDITION", text)

    def _sweep(self) -> None:
        for name in [name for name, file in self.kept.items() if file.created + LIFE <= self._now()]:
            del self.kept[name]


def timestamp(seconds: float) -> str:
    """As the API writes a moment."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def page(items: list[Any], name: str, seen: Seen) -> Reply | Refusal:
    """One page of a list, as `pageSize` and `pageToken` ask for it."""
    token, wanted = seen.query.get("pageToken") or "0", seen.query.get("pageSize") or "50"
    if not token.isdecimal() or not wanted.isdecimal() or not int(wanted):
        return invalid("Invalid page size or page token.")
    at, size = int(token), int(wanted)
    more = {"nextPageToken": str(at + size)} if at + size < len(items) else {}
    return Reply(body={name: items[at : at + size], **more})


def _parts(contents: Any) -> Iterator[Any]:
    for content in contents:
        yield from content["parts"]
