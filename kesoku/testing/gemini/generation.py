"""generateContent: the checks of a request, and who answers it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kesoku.testing.gemini import brain
from kesoku.testing.gemini.cache import Caches
from kesoku.testing.gemini.continuation import Act, Continuations
from kesoku.testing.gemini.estimate import Prefixes, tokens_of
from kesoku.testing.gemini.file import Files
from kesoku.testing.gemini.grammar import check, sign
from kesoku.testing.gemini.quota import Quota
from kesoku.testing.gemini.request import Seen
from kesoku.testing.gemini.rules import Rules
from kesoku.testing.gemini.script import Answer, Blocked, Call, Events, Refusal, invalid
from kesoku.testing.gemini.stream import Voice

TOO_LARGE = 20 * 1024 * 1024
"""Bytes of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A request that passed, together with what its cache holds."""

    body: dict[str, Any]
    cached: int
    """Tokens that come from an explicit cache."""


class Generation:
    """The models behind a server."""

    def __init__(self, rules: Rules, files: Files, caches: Caches) -> None:
        self._rules, self._files, self._caches = rules, files, caches
        self._quota = Quota()
        self._continuations, self._prefixes = Continuations(), Prefixes()
        self._calls = self._responses = 0

    def examine(self, seen: Seen) -> Whole | Refusal:
        """The whole request, or why it is refused."""
        if len(seen.raw) > TOO_LARGE:
            return invalid(f"Request payload size exceeds the limit: {TOO_LARGE} bytes.")
        merged = self._caches.merged(seen)
        if isinstance(merged, Refusal):
            return merged
        body, cached = merged
        return next(self._findings(seen, body), None) or Whole(body=body, cached=cached)

    def ruled(self, whole: Whole) -> Act | Refusal | None:
        """What the rules answer; None leaves it to the script."""
        said = (p.get("text", "") for c in whole.body["contents"] if c["role"] == "user" for p in c["parts"])
        if (pattern := self._rules.blocks) is not None and any(re.search(pattern, text) for text in said):
            return Act(answer=Blocked("PROHIBITED_CONTENT"))
        return self._continuations.next(whole.body)

    def act(self, whole: Whole, scripted: Answer | Blocked | Events | None) -> Act:
        """The first act of what the script says, or of what the default model thinks."""
        return self._continuations.begun(whole.body, scripted or brain.think(whole.body))

    def voice(self, seen: Seen, whole: Whole, act: Act) -> Voice:
        """How an act is spoken."""
        rules, self._responses = self._rules, self._responses + 1
        cached = whole.cached or self._prefixes.cached(seen.model, whole.body, rules.cache_minimum)
        signer = seen.model if rules.binds_signatures_to_model else ""
        counts = {"promptTokenCount": tokens_of(whole.body)}
        return Voice(
            model=seen.model,
            prompt={**counts, "cachedContentTokenCount": cached} if cached else counts,
            sign=lambda part: sign(part, signer),
            call_id=self._call_id,
            response=f"response-{self._responses}",
            token=act.token,
            called=act.called,
        )

    def _findings(self, seen: Seen, body: dict[str, Any]) -> Iterator[Refusal]:
        rules = self._rules
        if refusal := check(body, model=seen.model, bound=rules.binds_signatures_to_model):
            yield refusal
        yield from self._files.check(body["contents"], vertex=seen.vertex)
        tokens, limit = tokens_of(body), rules.input_limit
        if tokens > limit:
            yield invalid(f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit}).")
        limits = {"per_minute": rules.requests_per_minute, "per_day": rules.requests_per_day}
        if refusal := self._quota.take(seen.model, rules.now(), **limits):
            yield refusal

    def _call_id(self, call: Call) -> str:
        self._calls += 1
        return call.id if call.id is not None else f"fc-{self._calls}" if self._rules.call_ids else ""
