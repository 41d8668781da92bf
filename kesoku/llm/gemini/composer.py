"""From a `CompiledRequest` to what is sent: files, words, signatures, cache; and what is left out once refused."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kesoku.llm.gemini.cache import PrefixCache
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.client import Endpoint
from kesoku.llm.gemini.config import GeminiConfig
from kesoku.llm.gemini.media import MediaRoom
from kesoku.llm.gemini.profile import Profile
from kesoku.llm.gemini.repair import Signatures
from kesoku.llm.gemini.upload import Uploads
from kesoku.llm.gemini.wire import Json, Media, to_config, to_contents
from kesoku.llm.shared import Shared
from kesoku.messages.turn import CompiledRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One request, ready to be sent."""

    wire: Json
    """The arguments for the SDK."""
    whole: Json
    """The same without a cache in it."""
    media: Media


class Composer:
    """Composes the requests of one model, and remembers what the provider has refused of them."""

    def __init__(
        self,
        *,
        config: GeminiConfig,
        profile: Profile,
        endpoint: Endpoint,
        call: Call,
        shared: Shared,
        sleep: Callable[[float], Awaitable[None]],
        now: Callable[[], float],
    ) -> None:
        """`call` names the model in errors; `sleep` and `now` are the seams for a virtual clock."""
        self._config, self._profile = config, profile
        seconds = config.upload_seconds
        uploads = Uploads(shared=shared, call=call, endpoint=endpoint, seconds=seconds, now=now, sleep=sleep)
        self._media = MediaRoom(profile=profile, uploads=None if endpoint.vertex else uploads)
        minimum = profile.cache_minimum if config.cache == "explicit" else None
        self._cache = PrefixCache(minimum=minimum, minutes=config.cache_minutes, call=call)
        self._signatures = Signatures()

    async def compose(self, request: CompiledRequest, client: Any, *, cached: bool) -> Composed:
        """The request as it is sent now; `cached`: whether a cache may be in it. Raises nothing of the provider's."""
        media = await self._media.parts(request.turns, client)
        whole = await asyncio.to_thread(self._whole, request, media)
        applied = await self._cache.apply(whole, client)
        return Composed(wire=applied if cached else whole, whole=whole, media=media)

    async def repair(self, composed: Composed, what: str) -> bool:
        """Do without what was refused from now on; whether composing anew is worth a try."""
        name = composed.wire["config"].get("cached_content")
        if what == "cache" and name is None:
            return False
        if what == "signature":
            self._signatures.refuse(composed.whole["contents"])
        elif what == "file":
            await self._media.forget(composed.media)
        if name is not None:
            await self._cache.forget(name)
        return True

    async def aclose(self) -> None:
        """Let go of what the provider keeps for the running loop."""
        await self._cache.aclose()

    def _whole(self, request: CompiledRequest, media: Media) -> Json:
        settings = self._config.model_dump(include={"thinking", "temperature", "max_output_tokens"})
        return {
            "model": self._config.model,
            "contents": self._signatures.mended(to_contents(request.turns, self._profile, media)),
            "config": to_config(request, self._profile, settings),
        }
