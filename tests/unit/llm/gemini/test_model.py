"""Gemini over the real SDK and a loopback server: failures, limits, retries, sockets, configuration."""

import asyncio
import socket
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest
from PIL import Image
from pydantic import SecretStr, ValidationError

from kesoku.errors import (
    ModelError,
    ModelKeyMissing,
    ModelKeyRejected,
    ModelNotFound,
    ModelRequestRefused,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.llm.gemini import MANIFEST, GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.messages.turn import Finish, MediaBlock, Reply, TextBlock, Turn
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import (
    Answer,
    Call,
    Events,
    Hang,
    Reset,
    Say,
    Scripted,
    Think,
    overloaded,
)
from kesoku.testing.model_contract import CURRENT_TIME, listen, request, results, user
from kesoku.testing.waiting import PATIENCE

from .conftest import HELLO, Make, event


async def test_a_character_in_two_events_is_seen_whole(server: LoopbackGemini, make: Make) -> None:
    server.script(Answer(Say("abc😀efgh", piece=4)))
    deltas, reply = await listen(make(), HELLO)
    assert [delta.text for delta in deltas] == ["abc", "😀efg", "h"]
    assert reply.text == "abc😀efgh"


async def test_a_request_that_is_repeated_is_the_same(server: LoopbackGemini, make: Make) -> None:
    server.script(overloaded(), Answer(Think("hm"), then=Reset()), Answer(Say("here")))
    await listen(make(), HELLO)
    assert len({seen.raw for seen in server.requests}) == 1
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("script", "config", "error"),
    [
        (overloaded(), {"retries": 0}, ModelUnavailable),
        (None, {"model": "unknown-model"}, ModelNotFound),
        (None, {"model": "gemini-flash-latest", "api_version": "v1"}, ModelNotFound),
        (None, {"model": "models/../x"}, ModelRequestRefused),
        (None, {"key": "wrong"}, ModelKeyRejected),
        (None, {"key": "schlüssel"}, ModelKeyRejected),
    ],
)
async def test_failures_that_stay_are_told_at_once(
    server: LoopbackGemini,
    make: Make,
    pauses: Any,
    script: Scripted | None,
    config: dict[str, Any],
    error: type[ModelError],
) -> None:
    server.script(*[script] if script else [])
    with pytest.raises(error) as caught:
        await listen(make(**config), HELLO)
    assert len(server.requests) <= 1
    assert pauses == []
    assert str(config.get("key", "test-key")) not in str(caught.value)


async def test_a_refused_connection_is_told(make: Make, pauses: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ModelUnavailable, match="base_url"):
        await listen(make(base_url=f"http://127.0.0.1:{port}", retries=1), HELLO)
    assert len(pauses) == 1


async def test_silence_closes_the_socket_at_its_limit(server: LoopbackGemini, make: Make) -> None:
    server.script(Answer(Think("so"), then=Hang()))
    with pytest.raises(ModelTimeout) as caught:
        await listen(make(idle_seconds=0.2, retries=0), HELLO)
    assert caught.value.stage == "idle"
    assert await server.has_left()


async def test_a_slow_drip_is_no_silence(server: LoopbackGemini, make: Make) -> None:
    server.script(Answer(Say("slow but sure", piece=1), gap=0.05))
    _, reply = await listen(make(idle_seconds=0.5), HELLO)
    assert reply.text == "slow but sure"


async def test_what_keeps_silent_after_its_finish_reason_is_not_waited_for(server: LoopbackGemini, make: Make) -> None:
    model = make(idle_seconds=5)
    await listen(model, HELLO)  # a cold start takes its time
    server.script(Events((event({"text": "all"}, finishReason="STOP"),), then=Hang()))
    async with asyncio.timeout(4):
        _, reply = await listen(model, HELLO)
    assert (reply.text, reply.finish) == ("all", Finish.STOP)


async def test_a_gateway_that_counts_nothing_does_not_make_a_step_free(server: LoopbackGemini, make: Make) -> None:
    server.script(Events((event({"text": "four words of text"}, finishReason="STOP"),)))
    model = make()
    _, reply = await listen(model, HELLO)
    assert (reply.usage.prompt, reply.usage.answer) == (model.count(HELLO), 5)


async def test_the_key_does_not_come_back_in_a_reason(server: LoopbackGemini, make: Make) -> None:
    server.script(Events(({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "bad test-key\n here"}},)))
    _, reply = await listen(make(), HELLO)
    assert reply.detail == "the provider stopped the request and gave no closer reason (OTHER: bad *** here)"


@pytest.mark.parametrize("script", [Answer(then=Hang()), Answer(Say("so"), then=Hang())])
async def test_cancelling_closes_the_socket_at_once(server: LoopbackGemini, make: Make, script: Scripted) -> None:
    server.script(script)
    task = asyncio.create_task(listen(make(), HELLO))
    assert await server.has_seen()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    assert await server.has_left()


async def test_leaving_early_closes_the_socket_at_once(server: LoopbackGemini, make: Make) -> None:
    server.script(Answer(Say("so"), then=Hang()))
    async with aclosing(make().stream(HELLO)) as stream:
        await anext(stream)
    assert await server.has_left()


async def test_cancelling_during_a_pause_between_attempts(server: LoopbackGemini, make: Make) -> None:
    server.script(overloaded())
    pausing = asyncio.Event()

    async def sleep(_: float) -> None:
        pausing.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(listen(make(sleep=sleep), HELLO))
    await asyncio.wait_for(pausing.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_signatures_and_ids_go_back_byte_for_byte(server: LoopbackGemini, make: Make) -> None:
    calls = (Call("current_time", {"zone": "UTC"}, id="w1"), Call("current_time", None, id=""))
    server.script(Answer(Think("hm"), Say("wait", piece=0, signed=True), *calls), Answer(Say("noon")))
    model = make()
    asked = request(user("time"), tools=(CURRENT_TIME,))
    _, step = await listen(model, asked)
    assert step.blocks[1].signature
    await listen(model, request(*asked.turns, *results(step, "a", "b"), tools=asked.tools))
    _, said, answered = server.requests[1].body["contents"]
    assert [part.get("thought_signature") for part in said["parts"]] == [block.signature for block in step.blocks]
    assert said["parts"][0] == {"text": "hm", "thought": True}
    assert [part["function_response"].get("id") for part in answered["parts"]] == ["w1", None]


async def test_one_request_is_a_prefix_of_the_next_within_a_turn(server: LoopbackGemini, make: Make) -> None:
    # D-X12
    asked = request(user("time and then time"), tools=(CURRENT_TIME,))
    model = make()
    for _ in range(2):
        _, step = await listen(model, asked)
        asked = request(*asked.turns, *results(step, "noon"), tools=asked.tools)
    await listen(model, asked)
    bodies = [seen.raw for seen in server.requests]
    starts = [raw[: raw.index(b'], "systemInstruction"')] for raw in bodies]
    assert len(starts) == 3
    assert all(later.startswith(earlier) for earlier, later in pairwise(starts))
    assert len({raw.removeprefix(start) for raw, start in zip(bodies, starts, strict=True)}) == 1


async def test_media_reaches_the_server(server: LoopbackGemini, make: Make, tmp_path: Any) -> None:
    Image.new("RGB", (3, 3)).save(tmp_path / "p.png")
    picture = MediaBlock(path=str(tmp_path / "p.png"), mime_type="image/png", name="p.png")
    _, reply = await listen(make(), request(Turn(role="user", blocks=(TextBlock(text="look"), picture))))
    assert "image/png" in reply.text
    parts = server.requests[0].body["contents"][0]["parts"]
    assert parts[:2] == [{"text": "look"}, {"text": "[File p.png]"}]
    assert parts[2]["inline_data"]["data"] == (tmp_path / "p.png").read_bytes()


def test_a_long_file_counts_before_it_is_sent(make: Make, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("word " * 80_000)
    file = MediaBlock(path=str(tmp_path / "a.txt"), mime_type="text/plain", name="a.txt")
    counted = make().count(request(Turn(role="user", blocks=(TextBlock(text="look"), file))))
    assert 100_000 < counted < 100_200


async def test_what_is_sent(server: LoopbackGemini, make: Make) -> None:
    await listen(make(temperature=0, max_output_tokens=99, thinking="low"), request(user("hi"), tools=(CURRENT_TIME,)))
    (seen,) = server.requests
    assert seen.path == "/v1beta/models/gemini-3.5-flash:streamGenerateContent"
    assert seen.body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "system_instruction": {"role": "user", "parts": [{"text": "You are a test."}]},
        "tools": [
            {
                "function_declarations": [
                    {
                        "name": "current_time",
                        "description": "The current time.",
                        "parameters_json_schema": {"type": "object", "properties": {}},
                    }
                ]
            }
        ],
        "generation_config": {
            "temperature": 0,
            "max_output_tokens": 99,
            "thinking_config": {"include_thoughts": True, "thinking_level": "LOW"},
        },
    }


async def test_models_with_one_endpoint_share_a_client_until_the_last_leaves(
    server: LoopbackGemini, make: Make
) -> None:
    first, second = make(), make(model="gemini-3.1-pro")
    await listen(first, HELLO)
    await listen(second, HELLO)
    server.script(Answer(Say("on and on"), gap=0.02))
    async with aclosing(second.stream(HELLO)) as stream:
        said = [await anext(stream)]
        await first.aclose()
        said += [item async for item in stream]
    assert isinstance(said[-1], Reply)
    await second.aclose()
    _, reply = await listen(first, HELLO)
    assert reply.text


def test_the_key_comes_from_config_or_environment() -> None:
    with pytest.raises(ModelKeyMissing, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        GeminiModel(name="g", config=GeminiConfig(), environment={"GEMINI_API_KEY": " "})
    for variable in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        GeminiModel(name="g", config=GeminiConfig(), environment={variable: "k"})


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
async def test_environment_alone_is_enough(server: LoopbackGemini, variable: str) -> None:
    environment = {variable: "test-key\n", "GOOGLE_GEMINI_BASE_URL": server.base_url}
    model = GeminiModel(name="g", config=GeminiConfig(), environment=environment)
    _, reply = await listen(model, HELLO)
    assert reply.text
    await model.aclose()


async def test_vertex_variables_change_nothing(
    server: LoopbackGemini, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    _, reply = await listen(make(), HELLO)
    assert reply.text


def test_the_config_is_strict_and_hides_the_key() -> None:
    for wrong in ({"modle": "x"}, {"idle_seconds": 0}, {"thinking": "deep"}, {"base_url": "ftp://x"}, {"model": ""}):
        with pytest.raises(ValidationError):
            MANIFEST.config.model_validate(wrong)
    assert "hunter2" not in repr(GeminiConfig(api_key=SecretStr("hunter2")))
