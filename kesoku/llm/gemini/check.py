"""What a Gemini model says when it is asked, for `kesoku doctor`, in the words that a chat would use."""

import asyncio
import difflib
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from kesoku.errors import (
    ModelError,
    ModelNotFound,
    ModelRateLimited,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.llm.gemini.attempt import chunks
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.client import Endpoint, borrow, give_back
from kesoku.llm.gemini.config import GeminiConfig, endpoint_of, host_of
from kesoku.llm.gemini.failure import foreign_errors
from kesoku.llm.gemini.profile import Profile, profile_of
from kesoku.ports import Finding, Severity

_SECONDS = 15.0
"""How long one model is examined."""
_SECONDS_OF_LIST = 5.0
_TOKENS = 256
"""More than the thoughts that some families cannot leave out."""
_ACTION = "generateContent"
_PERHAPS_THE_PROXY = (ModelUnavailable, ModelTimeout, ModelRequestRefused)


async def examine(
    name: str, config: GeminiConfig, environment: Mapping[str, str], *, seconds: float = _SECONDS
) -> Sequence[Finding]:
    """Look the model up and have it answer with a few tokens, in at most `seconds`.

    The answer is needed: a region that is not served, and a project without billing, only show there.
    """
    try:
        endpoint = endpoint_of(name, config, environment)
    except ModelError as error:
        return (_finding(name, error),)
    proxy = proxy_of(endpoint.base_url, environment)
    user = object()
    try:
        return await _Examination(name=name, config=config, endpoint=endpoint, proxy=proxy, user=user).run(seconds)
    except ModelError as error:
        on_the_way = proxy and isinstance(error, _PERHAPS_THE_PROXY)
        return (_finding(name, error, f"; {proxy} is on the way" if on_the_way else ""),)
    finally:
        await give_back(endpoint, user)


def proxy_of(address: str, environment: Mapping[str, str]) -> str:
    """VARIABLE=ADDRESS of the web proxy that leads to `address`, without its password; '' if there is none."""
    # As in urllib, which the HTTP client asks, the name in small letters wins, even with an empty value.
    names = {name.lower(): name for name in sorted(environment)}
    if _direct(host_of(address), environment.get(names.get("no_proxy", ""), "")):
        return ""
    variables = (names.get(f"{scheme}_proxy", "") for scheme in (address.partition(":")[0].lower(), "all"))
    return next((f"{each}={without_login(environment[each])}" for each in variables if environment.get(each)), "")


def _direct(host: str, listed: str) -> bool:
    """Whether NO_PROXY lists the host, a domain that it is in, or everything (*)."""
    ends = (each.strip().lstrip("*.") for each in listed.split(",") if each.strip())
    return any(not end or f".{host}".endswith(f".{end}") for end in ends)


def without_login(address: str) -> str:
    """An address without the name and the password that may stand in it."""
    return re.sub(r"^(\w+://)?.*@", r"\1", address)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Examination:
    """One model under one name."""

    name: str
    config: GeminiConfig
    endpoint: Endpoint
    proxy: str
    user: object

    async def run(self, seconds: float) -> Sequence[Finding]:
        """The findings of a model that answers. Raises leaves of ModelError."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                with foreign_errors(self._call):
                    client = await borrow(self.endpoint, self.user)
                facts = await self._facts(client)
                started = loop.time()
                await self._answer(client)
        except TimeoutError:
            raise ModelUnavailable(model=self.name, status=None, message=f"no answer within {seconds:g} s") from None
        return tuple(self._good(loop.time() - started, facts))

    @property
    def _call(self) -> Call:
        secret = self.endpoint.secret
        return Call(model=self.name, wanted=self.config.model, secret=secret, stage="first_chunk", seconds=_SECONDS)

    async def _facts(self, client: Any) -> Any:
        """What the API says about the model, or None. Vertex AI says nothing that helps."""
        if self.endpoint.vertex:
            return None
        try:
            with foreign_errors(self._call):
                facts = await client.aio.models.get(model=self.config.model)
        except ModelNotFound:
            return None  # a gateway may have answers, but no descriptions; the answer will tell
        actions = facts.supported_actions
        if actions and _ACTION not in actions:
            raise await self._not_found(client, f"it has no {_ACTION}, only {', '.join(actions)}")
        return facts

    async def _answer(self, client: Any) -> None:
        config = {
            "max_output_tokens": _TOKENS,
            "thinking_config": self._profile.thinking("off"),
            "automatic_function_calling": {"disable": True},
        }
        wire = {"model": self.config.model, "contents": "Say OK.", "config": config}
        try:
            async with aclosing(chunks(client, wire, token=None, first=self._call, idle=lambda: self._call)) as answer:
                seen = [chunk async for chunk in answer]
        except ModelNotFound as error:
            raise await self._not_found(client, error.message) from error
        if not seen:
            raise ModelStreamBroken(model=self.name, reason="the answer was empty")

    async def _not_found(self, client: Any, message: str) -> ModelNotFound:
        """The error, with names near to the wanted one if the API tells which there are."""
        wanted = self.config.model
        try:
            with foreign_errors(self._call):
                async with asyncio.timeout(_SECONDS_OF_LIST):
                    pages = await client.aio.models.list(config={"page_size": 1000})
                    there = [model async for model in pages]
        except ModelError:
            there = []
        names = [_short(model.name) for model in there if _ACTION in (model.supported_actions or [_ACTION])]
        near = difflib.get_close_matches(_short(wanted), names, n=3, cutoff=0.5)
        return ModelNotFound(model=self.name, wanted=wanted, message=message, near=near)

    def _good(self, seconds: float, facts: Any) -> Sequence[Finding]:
        endpoint, config = self.endpoint, self.config
        who = f"Vertex AI project {endpoint.project} in {endpoint.location}" if endpoint.vertex else "an API key"
        where = f"{without_login(endpoint.base_url)} {endpoint.api_version}"
        through = f", through {self.proxy}" if self.proxy else ""
        text = f"{config.model} at {where} with {who}{through} answered in {seconds:.1f} s"
        good = Finding(check=_check(self.name), severity=Severity.OK, text=text)
        limit = getattr(facts, "input_token_limit", None)
        if not limit or limit >= self._profile.context:
            return (good,)
        text = f"{config.model} reads {limit} tokens, not {self._profile.context} as was assumed"
        fix = f"keep context_tokens in [agent] below {limit}"
        return good, Finding(check=_check(self.name), severity=Severity.WARNING, text=text, fix=fix)

    @property
    def _profile(self) -> Profile:
        return profile_of(self.config.model)


def _finding(name: str, error: ModelError, more: str = "") -> Finding:
    severity = Severity.WARNING if isinstance(error, ModelRateLimited) else Severity.ERROR
    fix = error.cure or f"correct [models.{name}]{' or the proxy' if more else ''}"
    return Finding(check=_check(name), severity=severity, text=error.cause + more, fix=fix)


def _check(name: str) -> str:
    return f"models.{name}"


def _short(name: str | None) -> str:
    """A model's name without the collection that it is in."""
    return (name or "").rpartition("models/")[2]
