"""Gemini over google-genai's async streaming: requests, limits and retries; the words are in wire.py.

One attempt is one HTTP request. A failed attempt is repeated by this layer alone, and only while nothing of the answer
was shown. Cancelling the reader closes the socket at once.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from kesoku.errors import ModelError, ModelStreamBroken
from kesoku.llm.estimate import estimate
from kesoku.llm.gemini.client import Sockets, borrow, give_back
from kesoku.llm.gemini.config import GeminiConfig, endpoint_of
from kesoku.llm.gemini.failure import Call, Stage, foreign_errors
from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.reply import ReplyBuilder
from kesoku.llm.gemini.wire import Json, own_names, to_config, to_contents
from kesoku.llm.retry import Backoff
from kesoku.messages.turn import CompiledRequest, Delta, Reply, StreamItem


class GeminiModel:
    """A Gemini model under its configured name. `sleep` and `jitter` are the seams for a virtual clock."""

    provider = "gemini"

    def __init__(
        self,
        *,
        name: str,
        config: GeminiConfig,
        environment: Mapping[str, str],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Without network. Raises ModelKeyMissing when neither config nor environment has a key."""
        self.name = name
        self._config = config
        self._profile = profile_of(config.model)
        self._endpoint = endpoint_of(name, config, environment)
        self._backoff = Backoff(retries=config.retries)
        self._sleep, self._jitter = sleep, jitter

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """Deltas, then one Reply. Raises leaves of ModelError."""
        wire = await asyncio.to_thread(self._wire, request)
        names = own_names(request.tools)
        shown = False
        failed = 0
        while True:
            try:
                async with aclosing(self._attempt(wire, names)) as items:
                    async for item in items:
                        shown = True
                        yield item
            except ModelError as error:
                failed += 1
                pause = None if shown else self._backoff.pause(failed, error, self._jitter())
                if pause is None:
                    raise
            else:
                return
            await self._sleep(pause)

    def count(self, request: CompiledRequest) -> int:
        """Estimate of the input tokens, without network."""
        return estimate(request)

    async def aclose(self) -> None:
        """Close what this model holds in the running loop. The model can be used again afterwards."""
        await give_back(self._endpoint, self)

    def _wire(self, request: CompiledRequest) -> Json:
        settings = self._config.model_dump(include={"thinking", "temperature", "max_output_tokens"})
        return {
            "model": self._config.model,
            "contents": to_contents(request.turns, self._profile),
            "config": to_config(request, self._profile, settings),
        }

    async def _attempt(self, wire: Json, names: Mapping[str, str]) -> AsyncGenerator[Delta | Reply, None]:
        builder = ReplyBuilder(provider=self.provider, model=self._config.model, names=names)
        empty = True
        async with aclosing(self._chunks(wire)) as chunks:
            async for chunk in chunks:
                empty = False
                for delta in builder.feed(chunk):
                    yield delta
        if empty:
            raise ModelStreamBroken(model=self.name, reason="the answer was empty")
        yield builder.reply()

    async def _chunks(self, wire: Json) -> AsyncGenerator[Any, None]:
        """The SDK's chunks within the limits of silence; the only place that awaits foreign code."""
        call = self._call("first_chunk")
        with foreign_errors(call):
            client = await borrow(self._endpoint, self)
            opened = await client.aio.models.generate_content_stream(**wire)
        async with aclosing(Sockets()) as sockets, aclosing(opened) as chunks:
            while True:
                sockets.watch()
                with foreign_errors(call):
                    async with asyncio.timeout(call.seconds):
                        chunk = await anext(chunks, None)
                if chunk is None:
                    return
                yield chunk
                call = self._call("idle")

    def _call(self, stage: Stage) -> Call:
        config = self._config
        return Call(
            model=self.name,
            wanted=config.model,
            secret=self._endpoint.api_key.get_secret_value(),
            stage=stage,
            seconds=config.first_chunk_seconds if stage == "first_chunk" else config.idle_seconds,
        )
