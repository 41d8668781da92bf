"""Explicit and implicit caching of the loopback Gemini, and counting."""

from typing import Any

import pytest

from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.estimate import Prefixes, text_tokens, tokens_of

LONG = {"role": "user", "parts": [{"text": "word " * 400}]}
CACHE = {"model": "models/gemini-x", "contents": [LONG], "systemInstruction": {"parts": [{"text": "be brief"}]}}


@pytest.fixture(autouse=True)
def _small(server: LoopbackGemini) -> None:
    server.cache_minimum = 100


async def test_the_sdk_makes_uses_prolongs_and_deletes(server: LoopbackGemini, sdk: Any) -> None:
    async with sdk() as client:
        config = {"contents": "word " * 400, "system_instruction": "be brief", "ttl": "300s"}
        made = await client.caches.create(model="gemini-x", config=config)
        used = await client.models.generate_content(
            model="gemini-x", contents="calculate 1+1", config={"cached_content": made.name}
        )
        later = await client.caches.update(name=made.name, config={"ttl": "600s"})
        assert (later.expire_time - made.expire_time).total_seconds() == 300
        assert [each.name async for each in await client.caches.list()] == [made.name]
        assert (await client.caches.get(name=made.name)).model == "models/gemini-x"
        await client.caches.delete(name=made.name)
    usage = used.usage_metadata
    assert usage.cached_content_token_count == made.usage_metadata.total_token_count == 502
    assert usage.prompt_token_count == 502 + text_tokens("calculate 1+1")
    assert not server.caches


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contents": []}, "too small. total_token_count=2, min_total_token_count=100"),
        ({"model": ""}, "model is required"),
        ({"model": "models/other"}, "not found"),
        ({"ttl": "5"}, "ttl"),
        ({"ttl": "0s"}, "ttl"),
        ({"ttl": "5s", "expireTime": "2030-01-01T00:00:00Z"}, "ttl"),
        ({"expireTime": "soon"}, "expire_time"),
        ({"prefix": 1}, 'Unknown name "prefix"'),
        ({"contents": "x"}, "Invalid value at 'contents'"),
        ({"contents": [{"role": "tool", "parts": [{"text": "x"}]}]}, "valid role"),
    ],
)
async def test_a_wrong_cache_is_refused(hand: Any, change: dict[str, Any], message: str) -> None:
    got = await hand("v1beta/cachedContents", {**CACHE, **change})
    assert got.status in {400, 404}
    assert message in got.message


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({}, 200, None),
        ({"system_instruction": {"parts": [{"text": "x"}]}}, 400, "system_instruction, tools or tool_config"),
        ({"tools": [{"function_declarations": []}]}, 400, "system_instruction, tools or tool_config"),
        ({"model": "gemini-y"}, 400, "has to be the same"),
        ({"cached_content": "cachedContents/never"}, 403, "CachedContent not found"),
    ],
)
async def test_use_of_a_cache(hand: Any, change: dict[str, Any], status: int, message: str | None) -> None:
    name = (await hand("v1beta/cachedContents", CACHE)).json["name"]
    got = await hand.say("hello", **{"cached_content": name, **change})
    assert got.status == status
    assert message is None or message in got.message


async def test_the_grammar_reads_on_from_the_cache(hand: Any) -> None:
    call = {"role": "model", "parts": [{"function_call": {"name": "f"}}]}
    name = (await hand("v1beta/cachedContents", {**CACHE, "contents": [LONG, call]})).json["name"]
    got = await hand.say("no response", cached_content=name)
    assert "number of function response parts" in got.message


@pytest.mark.parametrize("how", ["time", "order"])
async def test_an_expired_cache_is_unknown(server: LoopbackGemini, hand: Any, clock: Any, how: str) -> None:
    name = (await hand("v1beta/cachedContents", {**CACHE, "ttl": "60s"})).json["name"]
    clock.seconds += 59
    assert (await hand.say("hello", cached_content=name)).status == 200
    if how == "time":
        clock.seconds += 1
    else:
        server.expire_caches()
    assert (await hand.say("hello", cached_content=name)).status == 403
    assert (await hand(f"v1beta/{name}", {"ttl": "60s"}, "PATCH")).status == 403


async def test_a_beginning_that_was_read_before_counts_as_cached(hand: Any) -> None:
    asked = [await hand.generate(LONG, *more) for more in ([], [LONG], [{**LONG, "role": "model"}, LONG])]
    cached = [got.json["usageMetadata"].get("cachedContentTokenCount") for got in asked]
    assert cached == [None, tokens_of({"contents": [LONG]}), tokens_of({"contents": [LONG]})]
    other = await hand.generate(LONG, system_instruction={"parts": [{"text": "new"}]})
    assert "cachedContentTokenCount" not in other.json["usageMetadata"]


def test_a_short_beginning_does_not_count() -> None:
    prefixes = Prefixes()
    body = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    assert [prefixes.cached("m", body, 2), prefixes.cached("m", body, 3), prefixes.cached("m", body, 2)] == [0, 0, 2]
    assert prefixes.cached("other", body, 2) == 0


async def test_counting_and_generating_agree(hand: Any) -> None:
    body = {
        "contents": [LONG, {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "iVBORw0K"}}]}]
    }
    counted = [
        await hand("v1beta/models/gemini-x:countTokens", body),
        await hand("v1beta/models/gemini-x:countTokens", {"generateContentRequest": body}),
    ]
    said = await hand.generate(*body["contents"])
    assert {got.json["totalTokens"] for got in counted} == {said.json["usageMetadata"]["promptTokenCount"]} == {758}
    assert (await hand("v1beta/models/nothing:countTokens", body)).status == 404
    assert (await hand("v1beta/models/gemini-x:countTokens", {})).status == 400
