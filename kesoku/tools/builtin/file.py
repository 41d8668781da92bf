"""Reading and writing text files, confined to the roots of the session.

A path is checked once and used right after. Against somebody who swaps a folder for a link in between, only the
operating system's permissions help.
"""

import errno
import io
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Annotated
from uuid import uuid4
from weakref import WeakValueDictionary

from pydantic import Field

from kesoku.errors import ToolRefused
from kesoku.render.confine import confine
from kesoku.tools.context import ToolContext
from kesoku.tools.tool import Effect, tool

_READ_LIMIT = 256 * 1024
"""Bytes that one call reads out."""
_EDIT_LIMIT = 16 * 1024 * 1024
"""Bytes of the largest file that is edited."""
_ENTRIES = 1000
_SNIFF = 8192
_NAMED = 10
"""Places that an ambiguous edit names."""


@tool(effect=Effect.READ)
def read_file(
    path: str,
    context: ToolContext,
    offset: Annotated[int, Field(ge=1)] = 1,
    limit: Annotated[int, Field(ge=1, le=20_000)] = 2000,
) -> str:
    """Read a text file. A note at the end says how to go on if there is more.

    Args:
        path: the file, relative to the workspace
        offset: the first line to read, counted from 1
        limit: how many lines to read
    """
    with _opened(path, _file(path, context)) as file:
        if not _skip(file, offset - 1):
            raise ToolRefused(what=path, reason=f"it has fewer than {offset} lines", advice="use a smaller offset")
        data, lines = _lines(file, limit)
        more = bool(file.peek(1))
    text = data.decode("utf-8", "replace")
    if not more:
        return text
    if data.endswith(b"\n"):
        return f"{text}[more follows; go on with offset {offset + lines}]"
    return f"{text}\n[line {offset} is cut after {_READ_LIMIT:,} bytes; go on with offset {offset + 1}]"


def _skip(file: io.BufferedReader, lines: int) -> bool:
    """Go past so many lines, however long they are; False if there are not that many."""
    while lines and (piece := file.readline(_SNIFF)):
        lines -= piece.endswith(b"\n")
    return not lines


def _lines(file: io.BufferedReader, limit: int) -> tuple[bytes, int]:
    """At most `limit` whole lines and at most `_READ_LIMIT` bytes; one line alone may be cut. And how many they are."""
    data = bytearray()
    for count in range(limit):
        line = file.readline(_READ_LIMIT)
        if not line or len(data) + len(line) > _READ_LIMIT:
            file.seek(-len(line), io.SEEK_CUR)
            return bytes(data), count
        data += line
    return bytes(data), limit


@tool(effect=Effect.WRITE)
def write_file(path: str, content: str, context: ToolContext) -> str:
    """Write a text file as a whole, in one step: a new one, or in place of an old one. Folders are made as needed.

    Args:
        path: the file, relative to the workspace
        content: everything that the file shall contain
    """
    target = confine(path, context.roots, context.workspace)
    data = content.encode()
    with _reasoned(path), _alone(target):
        if target.exists():
            _regular(path, target)
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data)
    return f"wrote {len(data):,} bytes to {path}"


@tool(effect=Effect.WRITE)
def edit_file(
    path: str,
    old: str,
    new: str,
    context: ToolContext,
    all: bool = False,  # noqa: A002 - the word that a model expects
) -> str:
    """Replace a piece of a text file by another. The piece must be there exactly as given, and only once.

    Args:
        path: the file, relative to the workspace
        old: the text to replace, with its indentation, and with enough around it to be unique
        new: the text to put there
        all: replace it wherever it is
    """
    if not old:
        raise ToolRefused(what="old", reason="it is empty", advice="use write_file for a new file or a whole content")
    if old == new:
        raise ToolRefused(what="new", reason="it equals `old`, so there is nothing to change")
    target = _file(path, context)
    with _reasoned(path), _alone(target):
        text = _whole(path, target)
        if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
            old, new = (piece.replace("\r\n", "\n").replace("\n", "\r\n") for piece in (old, new))
        lines = [text.count("\n", 0, place) + 1 for place in islice(_places(text, old), _NAMED)]
        if not lines:
            raise ToolRefused(what=path, reason="`old` is not in it", advice="read the file and copy the text exactly")
        if len(lines) > 1 and not all:
            raise ToolRefused(
                what=path,
                reason=f"`old` is in it more than once, in lines {', '.join(map(str, lines))}",
                advice="give more of the text around it, or set `all`",
            )
        _replace(target, text.replace(old, new).encode())
    return f"replaced {text.count(old):,} in {path}"


@tool(effect=Effect.READ)
def list_dir(context: ToolContext, path: str = ".") -> str:
    """List a folder: folders end with `/`, links with `@`, files show their size in bytes.

    Args:
        path: the folder, relative to the workspace
    """
    folder = confine(path, context.roots, context.workspace)
    with _reasoned(path):
        entries = sorted(folder.iterdir())
    lines = [_entry(entry) for entry in entries[:_ENTRIES]]
    if len(entries) > _ENTRIES:
        lines.append(f"[{len(entries) - _ENTRIES:,} of {len(entries):,} entries left out]")
    return "\n".join(lines) or "(empty)"


def _entry(entry: Path) -> str:
    name = entry.name if entry.name.isprintable() else repr(entry.name)
    if entry.is_symlink():
        return f"{name}@"
    if entry.is_dir():
        return f"{name}/"
    with suppress(OSError):
        return f"{name}  {entry.stat().st_size:,}"
    return name


def _file(path: str, context: ToolContext) -> Path:
    """An existing regular file within the roots."""
    target = confine(path, context.roots, context.workspace)
    _regular(path, target)
    return target


def _regular(path: str, target: Path) -> None:
    """Refuse what is no plain file: opening a pipe or a device could wait for ever."""
    with _reasoned(path):
        mode = target.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ToolRefused(what=path, reason="it is a folder", advice="use list_dir")
    if not stat.S_ISREG(mode):
        raise ToolRefused(what=path, reason="it is a device, a pipe or a socket and no file")


@contextmanager
def _opened(path: str, target: Path) -> Iterator[io.BufferedReader]:
    with _reasoned(path), target.open("rb") as file:
        if b"\0" in file.read(_SNIFF):
            raise ToolRefused(what=path, reason=f"it is a binary file of {target.stat().st_size:,} bytes")
        file.seek(0)
        yield file


def _whole(path: str, target: Path) -> str:
    size = target.stat().st_size
    if size > _EDIT_LIMIT:
        raise ToolRefused(what=path, reason=f"it has {size:,} bytes, more than {_EDIT_LIMIT:,}")
    with _opened(path, target) as file:
        try:
            return file.read().decode()
        except UnicodeDecodeError as error:
            raise ToolRefused(what=path, reason=f"it is not UTF-8 (byte {error.start:,})") from error


def _places(text: str, old: str) -> Iterator[int]:
    """Where `old` begins in `text`, overlaps included: what could be meant must be unique."""
    place = text.find(old)
    while place >= 0:
        yield place
        place = text.find(old, place + 1)


_LOCKS: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
_LOCKS_LOCK = threading.Lock()


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """One change of a file at a time, within this process (complaint 45). Tools run in threads, hence this lock."""
    with _LOCKS_LOCK:
        lock = _LOCKS.setdefault(target, threading.Lock())
    with lock:
        yield


def _replace(target: Path, data: bytes) -> None:
    """Put `data` in place of `target` in one step, so that no reader and no crash sees a half; keeps mode and owner."""
    draft = target.with_name(f".kesoku-{uuid4().hex}")
    try:
        before = target.stat() if target.exists() else None
        if before and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if before:
                with suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _reasoned(path: str) -> Iterator[None]:
    """What the operating system refused, in its words, about the path as it was given."""
    try:
        yield
    except OSError as error:
        raise ToolRefused(what=path, reason=error.strerror or str(error)) from error
