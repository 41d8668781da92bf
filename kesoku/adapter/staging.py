"""Files of a conversation on disk, by the hash of their content, written before the row that names them (rule 13)."""

import asyncio
import contextlib
import hashlib
import os
import re
import unicodedata
import uuid
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from pathlib import Path
from typing import BinaryIO

from kesoku.messages.content import Attachment
from kesoku.messages.turn import MediaBlock

_BUFFER = 1 << 20
_NAME_BYTES = 120
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_DENIED = '<>:"|?*'


def safe_name(name: str) -> str:
    """A file name that is safe on every system: the last path part, one line, no control or direction marks.

    At most 120 bytes of UTF-8, the extension kept; never empty, hidden, an option, or a device name of Windows.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(each for each in last if unicodedata.category(each)[0] != "C" and each not in _DENIED)
    kept = " ".join(kept.split()).strip(" .").lstrip("-~") or "file"
    if _RESERVED.fullmatch(kept):
        kept = f"_{kept}"
    stem, dot, extension = kept.rpartition(".")
    if not dot or len(extension.encode()) > 16:
        return _cut(kept, _NAME_BYTES)
    return f"{_cut(stem, _NAME_BYTES - 1 - len(extension.encode()))}.{extension}"


def size_text(size: int) -> str:
    """A number of bytes for people: 10.7 MB."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


async def read_file(path: Path) -> AsyncIterator[bytes]:
    """The content of a regular file in pieces. The last part of the path must not be a link; a pipe is refused."""
    opened = await asyncio.to_thread(_open_regular, path)
    with opened:
        while piece := await asyncio.to_thread(opened.read, _BUFFER):
            yield piece


def unreadable(path: Path) -> str | None:
    """Why a file cannot be read as `read_file` reads it; None if it can."""
    try:
        _open_regular(path).close()
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    return None


class Staging:
    """A folder a session under `root`. Equal content under an equal name is stored once."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def folder(self, session_id: str) -> Path:
        """Where the files of a session are; an id that is no plain name is hashed."""
        plain = session_id if re.fullmatch(r"[A-Za-z0-9_-]{1,100}", session_id) else None
        return self._root / (plain or hashlib.sha256(session_id.encode(errors="surrogatepass")).hexdigest()[:40])

    async def save(
        self, session_id: str, name: str, stream: AsyncIterable[bytes], *, mime_type: str, limit: int
    ) -> Attachment:
        """Write what `stream` yields and return where it is (K-134).

        Beyond `limit` bytes, or if the disk does not take it, nothing is kept and the attachment says why it was
        `skipped` (complaint 82). What `stream` itself raises is raised here.
        """
        safe = safe_name(name)
        folder = self.folder(session_id)
        partial = folder / f".partial-{uuid.uuid4().hex}"
        try:
            size, digest = await _write(partial, stream, limit)
            if digest is None:
                return Attachment(name=safe, mime_type=mime_type, skipped=f"it is larger than {size_text(limit)}")
            path = folder / f"{digest[:32]}-{safe}"
            await asyncio.to_thread(_publish, partial, path)
        except _DiskError as error:
            return Attachment(name=safe, mime_type=mime_type, skipped=f"it could not be saved ({error})")
        finally:
            await asyncio.to_thread(_discard, partial)
        return Attachment(name=safe, path=str(path), mime_type=mime_type, size=size)

    async def copy(self, session_id: str, file: MediaBlock, *, limit: int) -> Attachment:
        """Save a file of this machine as it is now, under its name; one that cannot be read is `skipped`."""
        try:
            path = await asyncio.to_thread(Path(file.path).resolve)
            return await self.save(session_id, file.name, read_file(path), mime_type=file.mime_type, limit=limit)
        except (OSError, ValueError, RuntimeError) as error:  # no such file, no such name, links in a circle
            why = getattr(error, "strerror", None) or error
            return Attachment(name=safe_name(file.name), mime_type=file.mime_type, skipped=f"it cannot be read ({why})")


class _DiskError(Exception):
    """Our own disk failed, not the stream."""


@contextlib.contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _DiskError(error.strerror or type(error).__name__) from error


async def _write(path: Path, stream: AsyncIterable[bytes], limit: int) -> tuple[int, str | None]:
    """(size, hash) of what was written and synced; the hash is None beyond the limit."""
    size, digest = 0, hashlib.sha256()
    with await asyncio.to_thread(_create, path) as out:
        try:
            async for piece in stream:
                size += len(piece)
                if size > limit:
                    return size, None
                digest.update(piece)
                await asyncio.to_thread(_append, out, piece)
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        await asyncio.to_thread(_sync, out)
    return size, digest.hexdigest()


def _create(path: Path) -> BinaryIO:
    with _disk():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path.open("xb", buffering=0)


def _append(out: BinaryIO, piece: bytes) -> None:
    with _disk():
        rest = memoryview(piece)
        while rest:
            rest = rest[out.write(rest) :]


def _sync(out: BinaryIO) -> None:
    with _disk():
        os.fsync(out.fileno())


def _publish(partial: Path, path: Path) -> None:
    with _disk():
        partial.replace(path)
        for folder in (path.parent, path.parent.parent):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _discard(partial: Path) -> None:
    with contextlib.suppress(OSError):
        partial.unlink(missing_ok=True)


def _open_regular(path: Path) -> BinaryIO:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    opened = os.fdopen(handle, "rb")
    if not os.path.isfile(handle):  # noqa: PTH113  the open file, not its name
        opened.close()
        raise IsADirectoryError(21, "it is no regular file", str(path))
    return opened


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore").rstrip(" .") or "file"
