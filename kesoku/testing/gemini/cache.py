"""Explicit caches: contents that later requests begin with."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kesoku.testing.gemini import grammar
from kesoku.testing.gemini.estimate import tokens_of
from kesoku.testing.gemini.file import page, timestamp
from kesoku.testing.gemini.request import Reply, Seen
from kesoku.testing.gemini.script import Refusal, cache_refused, invalid

_HELD = ("contents", "system_instruction", "tools", "tool_config")
_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCache:
    """Cached contents."""

    name: str
    """`cachedContents/…`, on Vertex AI below the project."""
    model: str
    """Without `models/`."""
    held: Mapping[str, Any]
    """What requests begin with, in normal form."""
    tokens: int
    created: float
    expires: float
    display_name: str = ""

    def json(self, shown_model: str) -> dict[str, Any]:
        """As the API shows it."""
        shown = {
            "name": self.name,
            "model": shown_model,
            "createTime": timestamp(self.created),
            "updateTime": timestamp(self.created),
            "expireTime": timestamp(self.expires),
            "usageMetadata": {"totalTokenCount": self.tokens},
        }
        return {**shown, "displayName": self.display_name} if self.display_name else shown


class Caches:
    """The caches of the key's project."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.kept: dict[str, StoredCache] = {}
        """By name; what is expired is gone."""
        self._count, self._now = 0, now

    def answer(self, seen: Seen, *, minimum: int) -> Reply | Refusal:
        """Create, look up, list, prolong or delete. A cache needs `minimum` tokens."""
        self._sweep()
        if not seen.name:
            if seen.method == "POST":
                return self._create(seen, minimum)
            return page([_shown(cache, seen) for cache in self.kept.values()], "cachedContents", seen)
        cache = self.kept.get(_full(seen.name, seen))
        if cache is None:
            return _missing(seen)
        if seen.method == "DELETE":
            del self.kept[cache.name]
            return Reply(body={})
        if seen.method == "PATCH":
            return self._prolong(cache, seen)
        return Reply(body=_shown(cache, seen))

    def merged(self, seen: Seen) -> tuple[dict[str, Any], int] | Refusal:
        """The whole request that a request with `cached_content` stands for, and how many tokens of it are cached."""
        self._sweep()
        body: dict[str, Any] = dict(seen.body)
        name = body.pop("cached_content", None)
        if name is None:
            return body, 0
        cache = self.kept.get(name)
        if cache is None:
            return _missing(seen)
        if cache.model != seen.model:
            return invalid(
                f"Model used by GenerateContent request (models/{seen.model}) and CachedContent (models/{cache.model}) "
                "has to be the same."
            )
        if body.keys() & {"system_instruction", "tools", "tool_config"}:
            return invalid(
                "CachedContent can not be used with GenerateContent request setting system_instruction, tools or "
                "tool_config."
            )
        if not body.get("contents"):
            return body, 0
        contents = [*cache.held.get("contents", ()), *body["contents"]]
        return {**body, **cache.held, "contents": contents}, cache.tokens

    def expire(self) -> None:
        """All caches have lived too long."""
        self.kept.clear()

    def _create(self, seen: Seen, minimum: int) -> Reply | Refusal:
        body = seen.body
        if refusal := grammar.held(body):
            return refusal
        if not body.get("model"):
            return invalid("* CreateCachedContentRequest.cached_content.model: model is required")
        held = {name: body[name] for name in _HELD if body.get(name)}
        tokens = tokens_of(held)
        if tokens < minimum:
            return invalid(f"Cached content is too small. total_token_count={tokens}, min_total_token_count={minimum}")
        expires = self._expiry(body)
        if isinstance(expires, Refusal):
            return expires
        self._count += 1
        cache = StoredCache(
            name=_full(f"loopback-{self._count}", seen),
            model=seen.model,
            held=held,
            tokens=tokens,
            created=self._now(),
            expires=expires,
            display_name=body.get("display_name") or "",
        )
        self.kept[cache.name] = cache
        return Reply(body=_shown(cache, seen))

    def _prolong(self, cache: StoredCache, seen: Seen) -> Reply | Refusal:
        if not seen.body or seen.body.keys() - {"ttl", "expire_time"}:
            return invalid("Only ttl or expire_time of a CachedContent can be updated.")
        expires = self._expiry(seen.body)
        if isinstance(expires, Refusal):
            return expires
        self.kept[cache.name] = replace(cache, expires=expires)
        return Reply(body=_shown(self.kept[cache.name], seen))

    def _expiry(self, body: Mapping[str, Any]) -> float | Refusal:
        if (moment := body.get("expire_time")) is not None and "ttl" not in body:
            return _moment(moment)
        ttl = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(body.get("ttl", f"{_HOUR:g}s")))
        if ttl is None or not float(ttl[1]) or "expire_time" in body:
            return invalid("Invalid value at 'cached_content.ttl' (Duration).")
        return self._now() + float(ttl[1])

    def _sweep(self) -> None:
        for name in [name for name, cache in self.kept.items() if cache.expires <= self._now()]:
            del self.kept[name]


def _moment(text: str) -> float | Refusal:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return invalid("Invalid value at 'cached_content.expire_time' (Timestamp).")


def _full(name: str, seen: Seen) -> str:
    parent = seen.parts.get("parent")
    return f"{parent}/cachedContents/{name}" if parent else f"cachedContents/{name}"


def _shown(cache: StoredCache, seen: Seen) -> dict[str, Any]:
    parent = seen.parts.get("parent")
    return cache.json(f"{parent}/publishers/google/models/{cache.model}" if parent else f"models/{cache.model}")


def _missing(seen: Seen) -> Refusal:
    if seen.vertex:
        return Refusal(404, "NOT_FOUND", "Not found: cached content metadata.")
    return cache_refused()
