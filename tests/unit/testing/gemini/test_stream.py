"""Streams: continuations, faults, bytes at awkward places, compression."""

import asyncio
import json
import zlib
from contextlib import suppress
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.testing.gemini import (
    BROKEN_JSON,
    HTML_502,
    Answer,
    Call,
    Cut,
    ErrorEvent,
    Events,
    Hang,
    LoopbackGemini,
    Processing,
    Raw,
    Refusal,
    Reset,
    Say,
    Think,
    api_disabled,
    exhausted,
    internal,
    key_expired,
    key_leaked,
    key_unknown,
    overloaded,
    rate_limited,
    region_refused,
    too_slow,
)
from kesoku.testing.gemini.stream import torn

STREAM = "v1beta/models/gemini-x:streamGenerateContent"
USER = {"role": "user", "parts": [{"text": "hi"}]}


async def test_the_sdk_follows_a_continuation(server: LoopbackGemini, sdk: Any) -> None:
    server.script(Answer(Say("It is "), Cut(), Say("noo"), Cut(), Say("n.")))
    async with sdk() as client:
        stream = await client.models.generate_content_stream(model="gemini-x", contents="hi")
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.text or "" for chunk in chunks) == "It is noon."
    assert [chunk.candidates[0].finish_reason for chunk in chunks if chunk.candidates[0].finish_reason] == ["STOP"]
    assert [seen.body.get("continuation_token", b"")[-5:] for seen in server.requests] == [b"", b"act 1", b"act 2"]
    assert server.unused == 0


async def test_a_continuation_belongs_to_its_request(server: LoopbackGemini, hand: Any) -> None:
    server.script(Answer(Call("f"), Cut(), Call("g")), Answer(Say("next")))
    first = (await hand.say("hello")).json["candidates"][0]
    token = first["continuationToken"]
    assert first["finishReason"] == "CONTINUATION"
    wrong = [await hand.say("other", continuationToken=token), await hand.say("hello", continuationToken="AAAA")]
    assert [got.status for got in wrong] == [400, 400]
    for _ in range(2):  # once more, as after a lost connection
        (part,) = (await hand.say("hello", continuationToken=token)).json["candidates"][0]["content"]["parts"]
        assert (part["functionCall"]["name"], "thoughtSignature" in part) == ("g", False)
    assert (await hand.say("hello")).text == "next"


async def test_after_a_token_of_raw_events_the_script_goes_on(server: LoopbackGemini, hand: Any) -> None:
    server.script(Events(({"candidates": [{"continuationToken": "AAAA"}]}, "odd")), Answer(Say("rest")))
    await hand(STREAM, {"contents": [USER]})
    assert (await hand.generate(continuation_token="AAAA")).text == "rest"


async def test_usage_grows_and_early_events_lack_a_count(server: LoopbackGemini, hand: Any) -> None:
    server.script(Answer(Think("hmmmmmmm"), Say("12345678", piece=4)))
    events = (await hand(STREAM, {"contents": [USER]})).json
    usages = [event["usageMetadata"] for event in events]
    assert [(u.get("thoughtsTokenCount"), u.get("candidatesTokenCount"), u["totalTokenCount"]) for u in usages] == [
        (None, None, 1),
        (2, None, 3),
        (2, 1, 4),
        (2, 2, 5),
    ]
    assert {event["modelVersion"] for event in events} == {"gemini-x"}


@pytest.mark.parametrize("streams", [True, False])
async def test_faults_before_any_header(server: LoopbackGemini, hand: Any, streams: bool) -> None:
    path = f"{STREAM}?alt=sse" if streams else STREAM
    server.script(Hang(), Reset())
    hanging = asyncio.create_task(hand(path, {"contents": [USER]}))
    assert await server.has_seen()
    hanging.cancel()
    with suppress(asyncio.CancelledError):
        await hanging
    assert await server.has_left()
    with pytest.raises(aiohttp.ClientConnectionError):
        await hand(path, {"contents": [USER]})


async def test_a_reset_is_the_servers_own_doing(
    server: LoopbackGemini, hand: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(Answer(Say("a"), then=Reset()), Answer(Say("b")))
    with pytest.raises(aiohttp.ClientError):
        await hand(f"{STREAM}?alt=sse", {"contents": [USER]})
    assert (await hand.generate()).text == "b"
    assert (server.left, caplog.text) == (0, "")


async def test_faults_come_without_events_as_well(server: LoopbackGemini, hand: Any) -> None:
    server.script(Answer(Say("a"), then=ErrorEvent()), Answer(Say("a"), then=Reset()))
    assert (await hand.generate()).status == 503
    with pytest.raises(aiohttp.ClientConnectionError):
        await hand.generate()


@pytest.mark.parametrize(
    ("scripted", "status", "word"),
    [
        (rate_limited(seconds=1.5), 429, '"1.5s"'),
        (rate_limited(daily=True), 429, "PerDay"),
        (exhausted(), 429, "Resource exhausted"),
        (overloaded(), 503, "UNAVAILABLE"),
        (internal(), 500, "INTERNAL"),
        (too_slow(), 504, "DEADLINE_EXCEEDED"),
        (key_unknown(), 400, "API_KEY_INVALID"),
        (key_expired(), 400, "API key expired"),
        (key_leaked(), 403, "reported as leaked"),
        (region_refused(), 400, "User location is not supported for the API use."),
        (api_disabled(project="7"), 403, "overview?project=7"),
        (Refusal(503, "UNAVAILABLE", "busy", array=True), 503, '[{"error"'),
        (HTML_502, 502, "<html>"),
        (BROKEN_JSON, 200, "data: {"),
        (Raw(b"{}", content_type="application/json"), 200, "{}"),
    ],
)
async def test_what_can_come_in_place_of_a_stream(
    server: LoopbackGemini, hand: Any, scripted: Any, status: int, word: str
) -> None:
    server.script(scripted)
    got = await hand(f"{STREAM}?alt=sse", {"contents": [USER]})
    assert got.status == status
    assert word in got.raw.decode()
    (seen,) = server.requests
    assert (seen.method, seen.kind, seen.model, seen.answer, seen.refused) == (
        "POST", "generate", "gemini-x", scripted, None
    )  # fmt: skip


@pytest.mark.parametrize(("answer", "on"), [(Answer(), "files"), (Processing(), "generate"), (Events(), "upload")])
def test_a_script_that_makes_no_sense_is_refused(answer: Any, on: Any) -> None:
    with pytest.raises(ValueError, match=type(answer).__name__):
        LoopbackGemini().script(answer, on=on)


async def test_events_are_compressed_one_by_one(server: LoopbackGemini) -> None:
    server.script(Answer(Say("first", piece=0), then=Hang()))
    headers = {"x-goog-api-key": "test-key", "Accept-Encoding": "gzip"}
    url, unpack = f"{server.base_url}/{STREAM}?alt=sse", zlib.decompressobj(wbits=31)
    async with (
        aiohttp.ClientSession(auto_decompress=False) as client,
        client.post(url, json={"contents": [USER]}, headers=headers) as got,
    ):
        assert got.headers["Content-Encoding"] == "gzip"
        text = b""
        while not text.endswith(b"\r\n\r\n"):
            text += unpack.decompress(await got.content.readany())
    assert json.loads(text[6:])["candidates"][0]["content"]["parts"] == [{"text": "first"}]


@pytest.mark.parametrize(
    ("ascii_only", "head", "tail"),
    [(False, b"\xf0", b"\x9f\x98\x80"), (True, b"\\ud83d", b"\\ude00")],
)
def test_an_event_is_torn_inside_a_character(ascii_only: bool, head: bytes, tail: bytes) -> None:
    first, second = torn({"text": "ab😀"}, ascii_only=ascii_only)
    assert first.endswith(head)
    assert second.startswith(tail)


@given(st.text(), st.booleans())
def test_torn_events_are_whole_again(text: str, ascii_only: bool) -> None:
    pieces = torn({"text": text}, ascii_only=ascii_only)
    assert all(pieces)
    whole = b"".join(pieces)
    assert whole.startswith(b"data: ")
    assert json.loads(whole[6:]) == {"text": text}
