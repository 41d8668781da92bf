"""What each file of a request becomes.

| The file is                               | The model gets                                                     |
| ----------------------------------------- | ------------------------------------------------------------------ |
| a picture of a type that the family takes | its bytes; scaled down when it is huge                             |
| any other picture                         | a PNG, of an animation the first frame, with a text that says so   |
| text, by its content (SVG too)            | a text part with its name; of a long one the two ends              |
| audio, video, PDF that the family takes   | its bytes; beyond `INLINE_LIMIT` the reference of an uploaded file |
| anything else, broken, missing, too large | a text part: name, type, size and why it is not shown              |

No file ever makes a request fail here. Files are taken in the order of the request, so that what older ones become
does not depend on newer ones: request n stays a prefix of request n + 1.
"""

import asyncio
import hashlib
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from kesoku.llm.gemini.convert import Picture, picture
from kesoku.llm.gemini.kind import HEAD, UNKNOWN, encoding_of, kind_of
from kesoku.llm.gemini.profile import Profile
from kesoku.llm.gemini.upload import Upload, UploadFailed, Uploads
from kesoku.llm.gemini.wire import Json, Media, clean_text, files_of
from kesoku.messages.turn import MediaBlock, Turn
from kesoku.render.ends import gap
from kesoku.render.sanitise import printable_name

INLINE_LIMIT = 15_000_000
"""Raw bytes of all files in one request; base64 then stays within the API's 20 MB."""
TEXT_LIMIT = 512 * 1024
"""Bytes of one text file."""
PICTURE_LIMIT = 100_000_000
"""Bytes of a picture that is opened at all."""

LOST = "\ufffd"
"""What stands for bytes that are no text."""

_UPLOAD_LIMIT = 2_000_000_000
_LIMITS = {"application/pdf": 50_000_000}
"""Bytes of one file that the API takes."""
_UNOPENED = frozenset({"image/heic", "image/heif"})
"""Pictures that Pillow cannot read; they go as they are."""
_KEPT = 32_000_000
"""Bytes of converted pictures that are kept for the next step."""


class MediaRoom:
    """Prepares the files of requests for one model. Any number of requests at once, in any loop."""

    def __init__(self, *, profile: Profile, uploads: Uploads | None) -> None:
        """`uploads` is None where there is no Files API."""
        self._profile, self._uploads = profile, uploads
        self._pictures = Pictures(kept=_KEPT)

    async def parts(self, turns: Iterable[Turn], client: Any) -> Media:
        """The parts of every file in `turns`. `client` is the SDK's, for uploads."""
        blocks = list(dict.fromkeys(file for turn in turns for file in files_of(turn)))
        if not blocks:
            return {}
        found = await asyncio.to_thread(self._look, blocks)
        async with asyncio.TaskGroup() as group:
            uploading = {
                block: group.create_task(each.parts(client))
                for block, each in found.items()
                if isinstance(each, _Pending)
            }
        done = {block: each for block, each in found.items() if isinstance(each, tuple)}
        return done | {block: task.result() for block, task in uploading.items()}

    async def forget(self, media: Media) -> None:
        """The provider refused a file of this request: what `parts` gave was uploaded too long ago, or elsewhere."""
        uris = {part["file_data"]["file_uri"] for parts in media.values() for part in parts if "file_data" in part}
        if self._uploads is not None:
            await self._uploads.forget(uris)

    def _look(self, blocks: Iterable[MediaBlock]) -> dict[MediaBlock, "Found"]:
        left = _Left(text=2 * self._profile.context)
        return {block: self._found(block, left) for block in blocks}

    def _found(self, block: MediaBlock, left: "_Left") -> "Found":
        try:
            with opened(block.path) as file:
                head = file.read(HEAD)
                size = max(len(head), os.fstat(file.fileno()).st_size)
                file.seek(0)
                return self._becomes(_File(block=block, file=file, head=head, size=size), left)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return _not_shown(block, block.mime_type, None, f"it cannot be read ({why})")

    def _becomes(self, file: "_File", left: "_Left") -> "Found":
        """The table at the top of this module."""
        if not file.head:
            return file.not_shown("it is empty")
        taken = self._profile.media_type(file.kind)
        if taken == "text/plain":
            return self._text(file, left)
        if file.kind.startswith("image/") and file.kind not in _UNOPENED:
            return self._picture(file, taken, left)
        if taken is None:
            return file.not_shown("this model does not take this type")
        return self._whole(file, taken, left)

    def _text(self, file: "_File", left: "_Left") -> "Found":
        limit = min(TEXT_LIMIT, self._profile.context)
        text = file.text(limit)
        size = min(len(text.encode("utf-8", "replace")), limit)
        if size > left.text:
            return file.not_shown("there is no room left for its text; read a part of it")
        left.text -= size
        lost = "" if encoding_of(file.head) else f", not all UTF-8: {LOST} stands for what cannot be read"
        return _said(f"[File {file.name}{lost}]\n{clean_text(text)}")

    def _picture(self, file: "_File", taken: str | None, left: "_Left") -> "Found":
        if file.size > PICTURE_LIMIT:
            return file.not_shown("it is too large to open")
        data = file.file.read(file.size)
        found = self._pictures.of(data, taken)
        if isinstance(found, str):
            return file.not_shown(found)
        note = _said(f"[File {file.name}: {found.note}]") if found.note else ()
        source = found.data or (data if file.size <= left.inline else Path(file.block.path))
        return self._bytes(file, found.mime_type, source, left, note)

    def _whole(self, file: "_File", taken: str, left: "_Left") -> "Found":
        if file.size > (limit := _LIMITS.get(taken, _UPLOAD_LIMIT)):
            return file.not_shown(f"at most {limit:,} bytes can be sent")
        source = file.file.read(file.size) if file.size <= left.inline else Path(file.block.path)
        return self._bytes(file, taken, source, left)

    def _bytes(
        self, file: "_File", mime_type: str, source: bytes | Path, left: "_Left", note: tuple[Json, ...] = ()
    ) -> "Found":
        if isinstance(source, bytes) and len(source) <= left.inline:
            left.inline -= len(source)
            return (*note, {"inline_data": {"mime_type": mime_type, "data": source}})
        if self._uploads is None:
            return file.not_shown("it is too large to send")
        return _Pending(file=file, uploads=self._uploads, content=Upload(mime_type=mime_type, source=source), note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One open file."""

    block: MediaBlock
    file: BinaryIO
    head: bytes
    size: int

    @property
    def name(self) -> str:
        return printable_name(self.block.name, 120)

    @property
    def kind(self) -> str:
        return kind_of(self.head, self.block.name, self.block.mime_type)

    def text(self, limit: int) -> str:
        """The text in it: all of it, or its two ends with the cut named."""
        mark, encoding = encoding_of(self.head) or (0, "utf-8")
        half = limit // 2
        self.file.seek(mark)
        if self.size - mark <= 2 * half:
            return self.file.read(2 * half).decode(encoding, "replace")
        head = self.file.read(half).decode(encoding, "ignore")
        start = self.size - half
        start -= (start - mark) % 4  # where a character begins in an encoding that has a mark
        self.file.seek(start)
        tail = self.file.read(half + 3).decode(encoding, "ignore")
        return f"{head}{gap(start - mark - half, self.size - mark)}{tail}"

    def not_shown(self, why: str) -> tuple[Json, ...]:
        return _not_shown(self.block, self.kind, self.size, why)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """A file that has to be uploaded."""

    file: _File
    uploads: Uploads
    content: Upload
    note: tuple[Json, ...]

    async def parts(self, client: Any) -> tuple[Json, ...]:
        try:
            uri = await self.uploads.uri(self.content, client)
        except UploadFailed as error:
            return self.file.not_shown(error.reason)
        return (*self.note, {"file_data": {"file_uri": uri, "mime_type": self.content.mime_type}})


Found = tuple[Json, ...] | _Pending


@dataclass(slots=True, kw_only=True)
class _Left:
    """What is left of the limits of one request, in bytes."""

    text: int
    inline: int = INLINE_LIMIT


class Pictures:
    """Every picture is opened and converted once: the latest results by content, one conversion at a time."""

    def __init__(self, *, kept: int) -> None:
        """`kept`: bytes of results."""
        self._kept = kept
        self._known: OrderedDict[tuple[bytes, str | None], Picture | str] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, data: bytes, taken: str | None) -> Picture | str:
        key = (hashlib.sha256(data).digest(), taken)
        with self._lock:
            if key not in self._known:
                self._known[key] = picture(data, taken=taken)
            self._known.move_to_end(key)
            found = self._known[key]
            while sum(map(_weight, self._known.values())) > self._kept:
                self._known.popitem(last=False)
        return found


def _weight(found: Picture | str) -> int:
    return 1_000 + (len(found.data or b"") if isinstance(found, Picture) else 0)


def opened(path: str) -> BinaryIO:
    """A regular file; a pipe neither blocks nor counts."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise ValueError("it is no regular file")


def _said(text: str) -> tuple[Json, ...]:
    return ({"text": text},)


def _not_shown(block: MediaBlock, kind: str, size: int | None, why: str) -> tuple[Json, ...]:
    facts = ", ".join([printable_name(kind or UNKNOWN, 100), *([] if size is None else [f"{size:,} bytes"])])
    return _said(f"[File {printable_name(block.name, 120)} ({facts}) is not shown: {why}]")
