"""Files too large for a request, uploaded to the Files API, which keeps them for 48 hours.

An upload is remembered by its content, for every process of the same key, until shortly before it expires; then the
file is uploaded again from where it lies. https://ai.google.dev/gemini-api/docs/files
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from weakref import WeakValueDictionary

from kesoku.errors import ModelError, ModelRateLimited
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.client import Endpoint
from kesoku.llm.gemini.failure import foreign_errors
from kesoku.llm.shared import Shared

T = TypeVar("T")

LIFE = 48 * 3600.0
"""Seconds that an upload lives, unless the server says otherwise."""
MARGIN = 3600.0
"""Seconds before its end at which an upload is no longer used: a turn may last."""

_ATTEMPTS = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
"""Seconds between two attempts, or two looks at a file in processing; they double."""
_AT_ONCE = 3
_REST, _SHORT_REST = 600.0, 30.0
"""Seconds in which a file that could not be uploaded is not tried again: for good, and because of a passing failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What is to be uploaded: bytes, or a file that is too large to hold in memory."""

    mime_type: str
    source: bytes | Path


class UploadFailed(Exception):
    """The file cannot be referred to; `reason` is told to the model. `passes`: it may work soon."""

    def __init__(self, reason: str, *, passes: bool = False) -> None:
        self.reason, self.passes = reason, passes
        super().__init__(reason)


class Uploads:
    """The uploads of one key at one address. `now` is wall clock; with `sleep` it is the seam for a virtual clock."""

    def __init__(
        self,
        *,
        shared: Shared,
        call: Call,
        endpoint: Endpoint,
        seconds: float,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`call` names the model in errors and holds the key; `seconds` bounds one upload, processing included."""
        self._shared, self._subject = shared, f"files-{endpoint.account}"
        self._call, self._base_url, self._seconds = call, endpoint.base_url, seconds
        self._now, self._sleep = now, sleep
        self._locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()
        self._doors: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()
        self._failed: dict[str, tuple[str, float]] = {}

    async def uri(self, content: Upload, client: Any) -> str:
        """The reference of `content`, uploaded now if need be; the same content is never uploaded twice at once.

        Raises UploadFailed.
        """
        loop = id(asyncio.get_running_loop())
        key = await _disk(lambda: _digest(content))
        lock = self._locks.setdefault((loop, key), asyncio.Lock())
        door = self._doors.setdefault(loop, asyncio.Semaphore(_AT_ONCE))
        async with lock, door:
            if (known := _known(await self._shared.read(self._subject), key, self._now())) is not None:
                return known
            self._check(key)
            try:
                file = await self._ready(content, client)
            except UploadFailed as error:
                self._failed[key] = (error.reason, self._now() + (_SHORT_REST if error.passes else _REST))
                raise
            return await self._remember(key, file)

    async def forget(self, uris: Collection[str]) -> None:
        """These references are of no use any more."""

        def change(old: Any) -> tuple[Any, None]:
            return {key: entry for key, entry in _entries(old).items() if entry["uri"] not in uris} or None, None

        if uris:
            await self._shared.update(self._subject, change)

    def _check(self, key: str) -> None:
        self._failed = {each: failed for each, failed in self._failed.items() if failed[1] > self._now()}
        if key in self._failed:
            raise UploadFailed(self._failed[key][0])

    async def _remember(self, key: str, file: Any) -> str:
        """The reference from now on: that of another process which was quicker, so that everybody's stays the same."""
        now = self._now()
        ends = file.expiration_time.timestamp() if isinstance(file.expiration_time, datetime) else now + LIFE
        entry = {"uri": str(file.uri), "until": min(ends, now + LIFE) - MARGIN}

        def change(old: Any) -> tuple[Any, str]:
            live = {each: found for each, found in _entries(old).items() if found["until"] > now}
            return live, str(live.setdefault(key, entry)["uri"])

        return await self._shared.update(self._subject, change)

    async def _ready(self, content: Upload, client: Any) -> Any:
        """The uploaded file, processed."""
        try:
            async with asyncio.timeout(self._seconds):
                file = await self._retried(lambda: self._upload(content, client))
                file = await self._processed(file, client)
        except TimeoutError:
            raise UploadFailed(f"its upload was not ready within {self._seconds:g} s", passes=True) from None
        except ModelError as error:
            said = getattr(error, "message", None) or getattr(error, "reason", None) or str(error)
            raise UploadFailed(f"its upload was refused ({said})", passes=error.retryable) from error
        if _state(file) == "FAILED" or not file.uri:
            said = getattr(file.error, "message", None)
            raise UploadFailed("the provider could not process it" + (f" ({said})" if said else ""))
        return file

    async def _processed(self, file: Any, client: Any) -> Any:
        name, pause, waited = file.name, _FIRST_PAUSE, 0.0
        while _state(file) == "PROCESSING":
            if waited >= self._seconds:
                raise TimeoutError
            await self._sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE)
            file = await self._retried(lambda: client.aio.files.get(name=name))
        return file

    async def _retried(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        for failed in range(1, _ATTEMPTS + 1):
            try:
                with foreign_errors(self._call):
                    return await ask()
            except ModelError as error:
                if failed == _ATTEMPTS or not error.retryable or isinstance(error, ModelRateLimited):
                    raise
            await self._sleep(_FIRST_PAUSE * 2**failed)
        raise AssertionError

    async def _upload(self, content: Upload, client: Any) -> Any:
        """One attempt. An open file, not its path, for the SDK would put the name into a header; it reads 8 MB at once.

        The server names the address for the bytes; a proxy in front of it has to be put back there.
        """
        config = {"mime_type": content.mime_type, "http_options": {"base_url": self._base_url}}
        with await _disk(lambda: _opened(content.source)) as file:
            return await client.aio.files.upload(file=file, config=config)


async def _disk(read: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(read)
    except OSError as error:
        raise UploadFailed(f"it cannot be read ({error.strerror or type(error).__name__})") from error


def _opened(source: bytes | Path) -> BinaryIO:
    return BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _state(file: Any) -> str:
    return getattr(file.state, "value", None) or str(file.state)


def _digest(content: Upload) -> str:
    source = content.source
    if isinstance(source, bytes):
        digest = hashlib.sha256(source).hexdigest()
    else:
        facts = source.stat()
        digest = _file_digest(source, facts.st_size, facts.st_mtime_ns)
    return f"{digest} {content.mime_type}"


@lru_cache(maxsize=256)
def _file_digest(path: Path, _size: int, _changed: int) -> str:
    """Of a file in this state: a large one is read once, not at every step."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _entries(fact: Any) -> dict[str, Any]:
    """The remembered uploads; whatever is none is left out."""
    found = fact.items() if isinstance(fact, dict) else ()
    return {key: entry for key, entry in found if _is_entry(entry)}


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict) and isinstance(entry.get("uri"), str) and isinstance(entry.get("until"), (int, float))
    )


def _known(fact: Any, key: str, now: float) -> str | None:
    entry = _entries(fact).get(key)
    return str(entry["uri"]) if entry and entry["until"] > now else None
