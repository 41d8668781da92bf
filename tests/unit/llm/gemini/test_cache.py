"""Explicit caches over the real SDK and a loopback server."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.cache import Prefix, PrefixCache, prefixes_of
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.client import Endpoint, borrow, give_back
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.wire import STAND_IN
from kesoku.messages.turn import CompiledRequest, TextBlock, Turn
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import Hang, Refusal, Reset, Scripted
from kesoku.testing.model_contract import listen

from .conftest import Pauses

MODEL = "gemini-2.5-flash"
LONG = "All work and no play makes a dull boy. " * 400
"""About 3,900 tokens."""
TOOLS = [{"function_declarations": [{"name": "f", "description": "Does it.", "parameters_json_schema": {}}]}]


@dataclass(kw_only=True)
class Bench:
    """A cache, its server, and a client."""

    server: LoopbackGemini
    client: Any
    pauses: Pauses
    cache: PrefixCache

    async def send(self, *contents: dict[str, Any], system: str = LONG) -> dict[str, Any]:
        """Send a request through the cache; what the server saw of it."""
        wire = wire_of(*contents, system=system)
        before = repr(wire)
        applied = await self.cache.apply(wire, self.client)
        assert repr(wire) == before
        answer = await self.client.aio.models.generate_content(**applied)
        seen = self.server.asked("generate")[-1]
        assert seen.refused is None
        if "cached_content" in seen.body:
            assert answer.usage_metadata.cached_content_token_count >= 2_048
            assert not seen.body.keys() & {"system_instruction", "tools", "tool_config"}
        return dict(seen.body)

    def asks(self) -> list[str]:
        """What was asked about caches."""
        return [seen.method for seen in self.server.asked("caches")]


def wire_of(*contents: dict[str, Any], system: str = LONG) -> dict[str, Any]:
    """A request as wire.py makes it."""
    config = {"automatic_function_calling": {"disable": True}, "system_instruction": system, "tools": TOOLS}
    return {"model": MODEL, "contents": list(contents), "config": config}


def user(text: str) -> dict[str, Any]:
    """A turn of a person."""
    return {"role": "user", "parts": [{"text": text}]}


def model(text: str) -> dict[str, Any]:
    """A turn of the model."""
    return {"role": "model", "parts": [{"text": text}]}


CALL = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}, "thought_signature": STAND_IN}]}
RESULT = {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"output": 1}}}, {"text": "note"}]}


@pytest.fixture
async def bench(no_proxy: None, pauses: Pauses) -> AsyncIterator[Bench]:
    async with LoopbackGemini(now=pauses.now) as server:
        server.cache_minimum = 2_048
        endpoint = Endpoint(base_url=server.base_url, api_version="v1beta", api_key=SecretStr("test-key"))
        call = Call(model="g", wanted=MODEL, secret="test-key", stage="first_chunk", seconds=5.0, now=pauses.now)
        cache = PrefixCache(minimum=2_048, minutes=5.0, call=call)
        yield Bench(server=server, client=await borrow(endpoint, server), pauses=pauses, cache=cache)
        await cache.aclose()
        await give_back(endpoint, server)


async def test_what_is_sent_again_is_cached_and_the_rest_begins_with_a_person(bench: Bench) -> None:
    first = await bench.send(user("hi"))
    assert "cached_content" not in first
    assert (await bench.send(user("other")))["contents"] == [user("other")]
    third = await bench.send(user("hi"), model("ho"), user("again"))
    assert third["contents"] == [user("hi"), model("ho"), user("again")]
    assert third["cached_content"] in bench.server.caches
    [made] = bench.server.asked("caches")
    assert made.body["ttl"] == "300s"
    assert "contents" not in made.body
    assert made.body["tools"] == first["tools"]
    assert made.body["system_instruction"] == first["system_instruction"]


async def test_a_cache_that_has_grown_by_half_is_replaced(bench: Bench) -> None:
    talk = [user("hi"), model("ho"), user("one")]
    await bench.send(*talk)
    before = (await bench.send(*talk, CALL, RESULT))["cached_content"]
    talk += [model(LONG), user("two")]
    assert (await bench.send(*talk))["cached_content"] == before
    after = await bench.send(*talk, CALL, RESULT)
    assert after["contents"][0] == user("two")
    assert after["cached_content"] != before
    assert await bench.server.has_seen(7)
    assert list(bench.server.caches) == [after["cached_content"]]
    await bench.cache.aclose()
    assert not bench.server.caches
    assert bench.asks() == ["POST", "POST", "DELETE", "DELETE"]


async def test_what_all_sessions_share_stays_when_one_has_outgrown_it(bench: Bench) -> None:
    await bench.send(user("hi"))
    shared = (await bench.send(user("hi")))["cached_content"]
    talk = [user("hi"), model(LONG), user("one")]
    assert (await bench.send(*talk))["cached_content"] == shared
    assert (await bench.send(*talk))["cached_content"] != shared
    assert (await bench.send(user("ho")))["cached_content"] == shared


async def test_sessions_with_one_beginning_make_one_cache(bench: Bench) -> None:
    await bench.send(user("hi"))
    wires = await asyncio.gather(*(bench.cache.apply(wire_of(user(f"{n}")), bench.client) for n in range(20)))
    assert len({wire["config"]["cached_content"] for wire in wires}) == 1
    assert bench.asks() == ["POST"]


async def test_a_session_that_leaves_does_not_spoil_the_cache_for_others(bench: Bench) -> None:
    await bench.send(user("hi"))
    leaves = asyncio.create_task(bench.cache.apply(wire_of(user("1")), bench.client))
    while not bench.cache._room().caches:  # noqa: ASYNC110 - it is in the making, and nobody tells
        await asyncio.sleep(0)
    stays = asyncio.create_task(bench.cache.apply(wire_of(user("2")), bench.client))
    leaves.cancel()
    assert "cached_content" in (await stays)["config"]
    assert leaves.cancelled()
    assert bench.asks() == ["POST"]


async def test_it_lives_as_long_as_it_is_used_and_is_made_anew_when_it_is_gone(bench: Bench) -> None:
    await bench.send(user("hi"))
    names = set()
    for _ in range(4):
        names.add((await bench.send(user("hi")))["cached_content"])
        await bench.pauses.sleep(200)
    assert len(names) == 1
    assert bench.asks() == ["POST", "PATCH", "PATCH", "PATCH"]
    await bench.pauses.sleep(300)
    names.add((await bench.send(user("hi")))["cached_content"])
    assert len(names) == 2


async def test_a_prolongation_that_fails_sends_whole_when_the_end_is_near(bench: Bench) -> None:
    await bench.send(user("hi"))
    await bench.send(user("hi"))
    await bench.pauses.sleep(200)
    bench.server.script(Refusal(500, "INTERNAL", "oops"), on="caches")
    assert "cached_content" in await bench.send(user("hi")), "it lives for a while yet"
    assert "cached_content" in await bench.send(user("hi"))
    bench.server.expire_caches()
    await bench.pauses.sleep(260)
    assert "cached_content" not in await bench.send(user("hi"))
    assert "cached_content" in await bench.send(user("hi"))


async def test_a_refused_cache_is_forgotten(bench: Bench) -> None:
    await bench.send(user("hi"))
    name = (await bench.send(user("hi")))["cached_content"]
    bench.server.expire_caches()
    await bench.cache.forget("cachedContents/other")
    assert (await bench.cache.apply(wire_of(user("hi")), bench.client))["config"]["cached_content"] == name
    await bench.cache.forget(name)
    assert "cached_content" not in await bench.send(user("hi"))
    assert (await bench.send(user("hi")))["cached_content"] != name


@pytest.mark.parametrize(
    "answer",
    [
        Refusal(429, "RESOURCE_EXHAUSTED", "TotalCachedContentStorageTokensPerModelFreeTier limit exceeded"),
        Refusal(404, "NOT_FOUND", "models/x is not supported for createCachedContent."),
        Refusal(500, "INTERNAL", "oops, test-key"),
        Reset(),
    ],
    ids=["quota", "unsupported", "error", "reset"],
)
async def test_a_cache_that_cannot_be_made_is_no_failure_and_not_tried_again(
    bench: Bench, answer: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    bench.server.script(answer, on="caches")
    await bench.send(user("hi"))
    with caplog.at_level(logging.WARNING, "kesoku"):
        for text in ("hi", "a", "b"):
            assert "cached_content" not in await bench.send(user(text))
        for _ in range(2):
            assert "cached_content" not in await bench.send(user("hi"), system=f"{LONG} other")
    assert bench.asks() == ["POST"]
    assert len(caplog.records) == 1
    assert "test-key" not in caplog.text
    await bench.pauses.sleep(601)
    assert "cached_content" not in await bench.send(user("hi"))
    assert "cached_content" in await bench.send(user("hi"), system=f"{LONG} other")


async def test_what_was_too_small_is_not_tried_again_but_more_is(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.server.cache_minimum = 5_000
    for text in ("hi", "a", "b"):
        assert "cached_content" not in await bench.send(user(text))
    assert bench.asks() == ["POST"]
    assert not caplog.records
    for _ in range(2):
        seen = await bench.send(user("hi"), system=2 * LONG)
    assert "cached_content" in seen


async def test_closing_is_quick_and_leaves_the_cache_usable(bench: Bench) -> None:
    await bench.send(user("hi"))
    await bench.send(user("hi"))
    bench.server.script(Refusal(500, "INTERNAL", "oops"), on="caches")
    await bench.cache.aclose()
    await bench.cache.aclose()
    assert bench.asks() == ["POST", "DELETE"]
    assert "cached_content" in await bench.send(user("hi"))
    bench.server.script(Hang(), on="caches")
    started = asyncio.get_running_loop().time()
    await bench.cache.aclose()
    assert asyncio.get_running_loop().time() - started < 5


async def test_off_is_the_very_same_request(bench: Bench) -> None:
    off = PrefixCache(minimum=None, minutes=5.0, call=bench.cache._call)
    small = PrefixCache(minimum=10**9, minutes=5.0, call=bench.cache._call)
    wire = wire_of(user("hi"))
    for cache in (off, small, off, small):
        assert await cache.apply(wire, bench.client) is wire
    assert not bench.asks()


async def test_a_model_uses_its_cache_and_does_without_it_when_it_is_refused(bench: Bench) -> None:
    config: dict[str, Any] = {"model": MODEL, "api_key": SecretStr("test-key"), "base_url": bench.server.base_url}
    explicit, implicit = (
        GeminiModel(name="g", config=GeminiConfig(**config, cache=cache), environment={}, now=bench.pauses.now)
        for cache in ("explicit", "implicit")
    )
    request = CompiledRequest(system=LONG, turns=(Turn(role="user", blocks=(TextBlock(text="hi"),)),))
    for gemini in (implicit, explicit):
        await listen(gemini, request)
    whole, same = bench.server.asked("generate")
    assert whole.raw == same.raw
    _, reply = await listen(explicit, request)
    assert "cached_content" in bench.server.asked("generate")[-1].body
    assert reply.usage.cached > 2_048
    bench.server.expire_caches()
    await listen(explicit, request)
    refused, repaired = bench.server.asked("generate")[-2:]
    assert refused.refused
    assert repaired.raw == whole.raw
    await listen(explicit, request)
    assert len(bench.server.caches) == 1
    await explicit.aclose()
    assert not bench.server.caches
    await implicit.aclose()


async def test_a_step_whose_cache_was_refused_goes_out_whole_whatever_others_do(bench: Bench) -> None:
    async def meanwhile(_: float) -> None:
        for _ in range(2):
            await listen(gemini, request)

    config = GeminiConfig(model=MODEL, api_key=SecretStr("test-key"), base_url=bench.server.base_url, cache="explicit")
    gemini = GeminiModel(name="g", config=config, environment={}, now=bench.pauses.now, sleep=meanwhile)
    request = CompiledRequest(system=LONG, turns=(Turn(role="user", blocks=(TextBlock(text="hi"),)),))
    for _ in range(2):
        await listen(gemini, request)
    bench.server.expire_caches()
    await listen(gemini, request)
    seen = bench.server.asked("generate")[-4:]
    assert ["cached_content" in each.body for each in seen] == [True, False, True, False]
    assert [bool(each.refused) for each in seen] == [True, False, False, False]
    await gemini.aclose()


def test_where_a_beginning_may_end() -> None:
    picture = {"role": "user", "parts": [{"file_data": {"mime_type": "image/png", "file_uri": "x"}}]}
    contents = [user("a"), model("b"), user("c"), CALL, RESULT, model("d"), user(""), model("e"), picture]
    wire = wire_of(*contents)
    assert [prefix.end for prefix in prefixes_of(wire)] == [6, 2, 0]
    assert prefixes_of(wire)[1:] == prefixes_of(wire_of(*contents[:3]))
    changed = [replaced(wire, "model", "other"), replaced(wire, "config", {"system_instruction": "x"})]
    digests = {prefix.digest for each in (wire, *changed) for prefix in prefixes_of(each)}
    assert len(digests) == 9
    assert prefixes_of(wire_of(model("a"))) == []
    bare = prefixes_of({"model": MODEL, "contents": [user("\ud800")], "config": {}})
    assert bare == [Prefix(end=0, digest=bare[0].digest, tokens=bare[0].tokens)]


def replaced(wire: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The wire with another value."""
    return {**wire, key: value}


def test_files_weigh_what_they_cost_not_what_they_hold() -> None:
    picture = {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": b"x" * 1_000_000}}]}
    without, with_it = (prefixes_of(wire_of(*above, user("q")))[0].tokens for above in ([], [picture]))
    assert 1_000 <= with_it - without < 1_200


@pytest.mark.parametrize(
    ("name", "minimum"),
    [
        ("gemini-3.5-flash", 4_096),
        ("gemini-3.1-pro-preview", 4_096),
        ("gemini-2.5-flash", 2_048),
        ("gemini-2.5-pro", 2_048),
        ("gemini-4-argon", None),
        ("gemini-3-pro-image", None),
        ("gemma-3-27b-it", None),
    ],
)
def test_how_long_a_cache_must_be(name: str, minimum: int | None) -> None:
    assert profile_of(name).cache_minimum == minimum
