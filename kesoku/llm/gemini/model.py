"""Gemini over google-genai's async streaming: the life of a step. The words are in wire.py and reply.py.

A step is one answer. It takes one HTTP request, and further ones where the answer goes on, where a failure may pass, or
where something that the request refers to was refused and can be replaced. All retries are made here. Once answer text
was shown, a step goes on from where the provider can take it up, or not at all: then what is there is the reply, and
it says that it is broken.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from kesoku.errors import ModelError, ModelRateLimited, ModelReferenceRefused, ModelStreamBroken
from kesoku.history.weight import weight
from kesoku.llm.estimate import estimate
from kesoku.llm.gemini.attempt import chunks
from kesoku.llm.gemini.call import Call, Stage
from kesoku.llm.gemini.client import borrow, give_back
from kesoku.llm.gemini.composer import Composed, Composer
from kesoku.llm.gemini.config import GeminiConfig, endpoint_of
from kesoku.llm.gemini.failure import foreign_errors
from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.refusal import used_up
from kesoku.llm.gemini.reply import ReplyBuilder
from kesoku.llm.gemini.size import beyond_pictures
from kesoku.llm.gemini.wire import own_names
from kesoku.llm.limiter import RateLimiter, Ticket
from kesoku.llm.retry import Backoff, again
from kesoku.llm.shared import Shared
from kesoku.messages.turn import CompiledRequest, Delta, Reply, Retry, StreamItem, Turn, Usage

_GRACE = 0.1
"""How much of the idle limit is waited after the finish reason, for what may come is no more than counts."""
_PATIENCE = 90.0
"""Seconds that a request waits at the limiter; beyond them another model gets its chance."""


@dataclass(slots=True, kw_only=True)
class _Step:
    """One answer in the making."""

    request: CompiledRequest
    said: ReplyBuilder
    composed: Composed | None = None
    """The request as it is sent; None until it is made, and again after a repair."""
    ticket: Ticket | None = None
    """The place at the limiter, as long as it waits there."""
    waited: float = 0.0
    """Seconds at the limiter since the last request."""
    failed: int = 0
    repaired: set[str] = field(default_factory=set)


class GeminiModel:
    """A Gemini model under its configured name. `sleep`, `jitter` and `now` are the seams for a virtual clock."""

    provider = "gemini"

    def __init__(
        self,
        *,
        name: str,
        config: GeminiConfig,
        environment: Mapping[str, str],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Without network. Raises ModelKeyMissing when neither config nor environment has a key."""
        self.name = name
        self._config = config
        self._endpoint = endpoint_of(name, config, environment)
        self._backoff = Backoff(retries=config.retries)
        self._sleep, self._jitter, self._now = sleep, jitter, now
        shared = Shared.of(environment)
        door = f"limit-{self._endpoint.account}-{config.model}"
        self._limiter = RateLimiter(shared, door, per_minute=config.requests_per_minute, now=now, jitter=jitter)
        self._composer = Composer(
            config=config,
            profile=profile_of(config.model),
            endpoint=self._endpoint,
            call=self._call("first_chunk"),
            shared=shared,
            sleep=sleep,
            now=now,
        )

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """Deltas and Retries, then one Reply. Raises leaves of ModelError."""
        names = own_names(request.tools)
        said = ReplyBuilder(provider=self.provider, model=self._config.model, names=names)
        step = _Step(request=request, said=said)
        try:
            while True:
                try:
                    follows: Retry | Reply | None = await self._admission(step)
                    if follows is None:
                        async with aclosing(self._attempt(step)) as deltas:
                            async for delta in deltas:
                                yield delta
                        follows = Retry(after=0.0, reason="the answer goes on") if said.continues else said.reply()
                except ModelError as error:
                    follows = await self._recovery(step, error)
                if isinstance(follows, Reply):
                    yield self._final(follows, request)
                    return
                # People are told of what they notice, and see again what still holds of what they have seen.
                if told := said.rewind() or follows.wait is not None:
                    yield follows
                await self._sleep(follows.after)
                for delta in said.deltas() if told else ():
                    yield delta
        finally:
            if step.ticket is not None:
                await self._limiter.leave(step.ticket)

    def count(self, request: CompiledRequest) -> int:
        """Estimate of the input tokens, without network. Looks at the files of the request."""
        return estimate(request) + beyond_pictures(request.turns, profile_of(self._config.model))

    async def aclose(self) -> None:
        """Close what this model holds in the running loop. The model can be used again afterwards."""
        await self._composer.aclose()
        await give_back(self._endpoint, self)

    async def _attempt(self, step: _Step) -> AsyncGenerator[Delta, None]:
        """One HTTP request. Raises what it failed of, or lacks to be an answer."""
        said = step.said
        said.begin()
        try:
            client = await self._client()
            step.composed = step.composed or await self._compose(step, client)
            stream = chunks(
                client,
                step.composed.wire,
                token=said.token,
                first=self._call("first_chunk"),
                idle=lambda: self._call("idle", share=_GRACE if said.finished else 1.0),
            )
            async with aclosing(stream) as received:
                async for chunk in received:
                    for delta in said.feed(chunk):
                        yield delta
        except ModelError as error:
            if isinstance(error, ModelRateLimited):
                ends = error.resets_at.timestamp() if error.resets_at else None
                await self._limiter.refused(error.retry_after, daily_until=ends)
            if not said.finished:
                raise
        if missing := said.missing:
            raise ModelStreamBroken(model=self.name, reason=missing)
        if said.unsigned:
            raise ModelReferenceRefused(model=self.name, what="signature", message="it is missing")
        await self._limiter.passed()

    async def _admission(self, step: _Step) -> Retry | None:
        """The pause that the limiter asks for; None: go. Raises ModelRateLimited when that would take too long."""
        await self._client()  # a cold start takes its time, and the limiter counts from the claim on
        ticket = step.ticket = await self._limiter.claim(step.ticket)
        if ticket.wait <= 0:
            step.ticket, step.waited = None, 0.0
            return None
        closed = self._closed(ticket)
        step.waited += ticket.wait
        if step.waited > _PATIENCE:
            step.failed = self._backoff.retries  # who has waited for so long asks no more
            raise closed
        return Retry(after=ticket.wait, reason=again(closed))

    async def _recovery(self, step: _Step, error: ModelError) -> Retry | Reply:
        """What follows a failure: another request, or the answer as far as it came. Raises the error without either."""
        pause = await self._pause(step, error)
        if pause is not None:
            return Retry(after=pause, reason=again(error))
        if step.said.stands(error):
            return step.said.broken(error.cause)
        raise error

    async def _pause(self, step: _Step, error: ModelError) -> float | None:
        """Seconds until the step may go on after a failure; None: it cannot."""
        if not step.said.resumable:
            return None
        if isinstance(error, ModelReferenceRefused):
            return 0.0 if await self._repair(step, error.what) else None
        step.failed += 1
        pause = self._backoff.pause(step.failed, error, self._jitter())
        # After a 429 the limiter keeps the time: it knows what all the others do.
        return 0.0 if pause and isinstance(error, ModelRateLimited) else pause

    async def _repair(self, step: _Step, what: str) -> bool:
        """Do without what was refused, once each; whether that is worth another request."""
        if what in step.repaired or step.composed is None:
            return False
        step.repaired.add(what)
        composed, step.composed = step.composed, None
        return await self._composer.repair(composed, what)

    async def _compose(self, step: _Step, client: Any) -> Composed:
        return await self._composer.compose(step.request, client, cached="cache" not in step.repaired)

    async def _client(self) -> Any:
        with foreign_errors(self._call("first_chunk")):
            return await borrow(self._endpoint, self)

    def _closed(self, ticket: Ticket) -> ModelRateLimited:
        call, message = self._call("first_chunk"), "there were too many requests of late"
        if ticket.daily:
            return used_up(call, ticket.at, message)
        return ModelRateLimited(model=self.name, retry_after=ticket.wait, daily=False, message=message)

    def _final(self, reply: Reply, request: CompiledRequest) -> Reply:
        """The reply without the key in it. Of a gateway that counts nothing, our estimate stands: budgets must hold."""
        detail = reply.detail and self._call("idle").line(reply.detail)
        if reply.usage.total or not reply.blocks:
            return replace(reply, detail=detail)
        said = Turn(role="model", blocks=reply.blocks)
        return replace(reply, detail=detail, usage=Usage(prompt=self.count(request), answer=weight(said)))

    def _call(self, stage: Stage, *, share: float = 1.0) -> Call:
        config = self._config
        seconds = config.first_chunk_seconds if stage == "first_chunk" else config.idle_seconds
        return Call(
            model=self.name,
            wanted=config.model,
            secret=self._endpoint.secret,
            stage=stage,
            seconds=seconds * share,
            now=self._now,
        )
