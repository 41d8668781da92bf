"""Explicit caches: the beginning that requests share goes to the provider once, and then by name.

What can be cached ends before a turn of a person: system instruction, tools, and the contents up to there. It is cached
when it is sent for the second time and is long enough, and anew when it has grown by half. Caching never fails a
request: without a cache it goes out whole.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from kesoku.errors import ModelError
from kesoku.history.weight import MEDIA, tokens_of
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.failure import foreign_errors
from kesoku.llm.gemini.wire import Json
from kesoku.messages.recent import Recent

_log = logging.getLogger(__name__)

_HELD = ("system_instruction", "tools", "tool_config")
"""What a cache holds beside contents, and a request that names it may not repeat."""
_MEDIA = ('"inline_data"', '"file_data"')
_REMEMBERED = 1_024
"""Beginnings that are remembered as sent."""
_MARGIN = 5.0
"""Seconds; a cache that ends sooner is taken for gone."""
_PATIENCE = 10.0
"""Seconds for the provider to make, prolong or delete a cache."""
_REST = 600.0
"""Seconds without another try after the provider refused to make one."""
_PARTING = 1.0
"""Seconds for all deletions when a model is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """A beginning of a request."""

    end: int
    """How many contents belong to it."""
    digest: str
    tokens: int
    """An estimate."""


@dataclass(slots=True, kw_only=True)
class _Cache:
    prefix: Prefix
    client: Any
    making: asyncio.Task[str | None]
    """Its name; None when the provider refused to make it."""
    until: float


@dataclass(slots=True)
class _Room:
    """What one event loop holds."""

    caches: dict[str, _Cache] = field(default_factory=dict)
    partings: set[asyncio.Task[None]] = field(default_factory=set)


class PrefixCache:
    """The explicit caches of one model."""

    def __init__(self, *, minimum: int | None, minutes: float, call: Call) -> None:
        """`minimum`: tokens that a cache must have; None makes no caches. `minutes`: how long one lives unused."""
        self._minimum, self._seconds = minimum, 60 * minutes
        self._call = replace(call, seconds=_PATIENCE)
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, _Room] = WeakKeyDictionary()
        self._sent: dict[str, None] = {}
        self._refused = Recent[str]()
        self._resting_until = 0.0

    async def apply(self, wire: Json, client: Any) -> Json:
        """`wire` with a cache in the place of its beginning, or as it is. Raises nothing of the provider's."""
        if self._minimum is None:
            return wire
        prefixes = await asyncio.to_thread(prefixes_of, wire)
        held = self._held(prefixes)
        cache = self._wanted(prefixes, held, wire, client) or held
        self._remember(prefixes)
        name = await self._name(cache) if cache else None
        if cache is not held:
            if name is None:
                cache, name = held, await self._name(held) if held else None
            elif held and held.prefix.end:
                self._part(held)
        return wire if cache is None or name is None else _shortened(wire, cache.prefix.end, name)

    async def forget(self, name: str) -> None:
        """The provider refused the cache `name`: what is sent next goes out whole, and caching begins anew.

        Does nothing when that is known already.
        """
        caches = self._room().caches
        if any(cache.making.done() and cache.making.result() == name for cache in caches.values()):
            caches.clear()
            self._sent.clear()

    async def aclose(self) -> None:
        """Delete the caches that the running loop made, as far as that is quick."""
        room = self._room()
        for cache in list(room.caches.values()):
            self._part(cache)
        if room.partings:
            await asyncio.wait(room.partings, timeout=_PARTING)
        for parting in tuple(room.partings):
            parting.cancel()

    def _room(self) -> _Room:
        return self._rooms.setdefault(asyncio.get_running_loop(), _Room())

    def _remember(self, prefixes: list[Prefix]) -> None:
        for prefix in prefixes:
            self._sent.pop(prefix.digest, None)
            self._sent[prefix.digest] = None
        for digest in list(self._sent)[:-_REMEMBERED]:
            del self._sent[digest]

    def _held(self, prefixes: list[Prefix]) -> _Cache | None:
        """The cache of the longest beginning that has one."""
        caches = self._room().caches
        soon = self._call.now() + _MARGIN
        for digest in [digest for digest, cache in caches.items() if cache.until <= soon]:
            del caches[digest]
        return next((caches[prefix.digest] for prefix in prefixes if prefix.digest in caches), None)

    def _wanted(self, prefixes: list[Prefix], held: _Cache | None, wire: Json, client: Any) -> _Cache | None:
        """A cache to be made now: of the longest beginning that was sent before, if it is worth it."""
        prefix = next((prefix for prefix in prefixes if prefix.digest in self._sent), None)
        now = self._call.now()
        least = max(self._minimum or 0, 1.5 * held.prefix.tokens if held else 0)
        if prefix is None or prefix.tokens < least or prefix.digest in self._refused or now < self._resting_until:
            return None
        making = asyncio.create_task(self._make(prefix, wire, client))
        cache = _Cache(prefix=prefix, client=client, making=making, until=now + self._seconds)
        self._room().caches[prefix.digest] = cache
        return cache

    async def _make(self, prefix: Prefix, wire: Json, client: Any) -> str | None:
        held = {key: wire["config"][key] for key in _HELD if key in wire["config"]}
        if prefix.end:
            held["contents"] = wire["contents"][: prefix.end]
        try:
            made = await self._asked(client.aio.caches.create(model=wire["model"], config={**held, "ttl": self._ttl}))
        except ModelError as error:
            self._room().caches.pop(prefix.digest, None)
            self._refused.add(prefix.digest)
            if "too small" in str(error).lower():
                self._minimum = max(self._minimum or 0, prefix.tokens + 1)
            else:
                self._resting_until = self._call.now() + _REST
                _log.warning("No explicit cache, requests go out whole: %s", error)
            return None
        return str(made.name)

    async def _name(self, cache: _Cache) -> str | None:
        """The name of `cache`, alive for a while yet; None if there is none after all."""
        name = await asyncio.shield(cache.making)
        now = self._call.now()
        if name is None or cache.until - now > self._seconds / 2:
            return name
        before, cache.until = cache.until, now + self._seconds
        try:
            await self._asked(cache.client.aio.caches.update(name=name, config={"ttl": self._ttl}))
        except ModelError:
            self._room().caches.pop(cache.prefix.digest, None)
            return name if before - now > self._seconds / 4 else None
        return name

    def _part(self, cache: _Cache) -> None:
        """Delete `cache` in the background."""
        room = self._room()
        room.caches.pop(cache.prefix.digest, None)
        parting = asyncio.create_task(self._delete(cache))
        room.partings.add(parting)
        parting.add_done_callback(room.partings.discard)

    async def _delete(self, cache: _Cache) -> None:
        if (name := await asyncio.shield(cache.making)) is not None:
            with contextlib.suppress(ModelError):
                await self._asked(cache.client.aio.caches.delete(name=name))

    async def _asked(self, call: Awaitable[Any]) -> Any:
        with foreign_errors(self._call):
            async with asyncio.timeout(_PATIENCE):
                return await call

    @property
    def _ttl(self) -> str:
        return f"{self._seconds:g}s"


def prefixes_of(wire: Mapping[str, Any]) -> list[Prefix]:
    """The beginnings of a request that end before a person's turn, the longest first."""
    said = _said([wire["model"], {key: wire["config"].get(key) for key in _HELD}])
    digest, tokens = hashlib.sha256(said.encode("utf-8", "surrogatepass")), tokens_of(said)
    found = []
    for end, content in enumerate(wire["contents"]):
        if _asks(content):
            found.append(Prefix(end=end, digest=digest.hexdigest(), tokens=tokens))
        said = _said(content)
        digest.update(said.encode("utf-8", "surrogatepass"))
        tokens += tokens_of(said) + MEDIA * sum(map(said.count, _MEDIA))
    return found[::-1]


def _asks(content: Mapping[str, Any]) -> bool:
    """Whether it is a turn of a person: text, and no result of a call."""
    parts = content["parts"]
    return (
        content["role"] == "user"
        and any("text" in part for part in parts)
        and not any("function_response" in part for part in parts)
    )


def _said(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda data: hashlib.sha256(data).hexdigest())


def _shortened(wire: Json, end: int, name: str) -> Json:
    rest = {key: value for key, value in wire["config"].items() if key not in _HELD}
    return {**wire, "contents": wire["contents"][end:], "config": {**rest, "cached_content": name}}
