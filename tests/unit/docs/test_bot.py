"""The tests of docs/how-to/test-your-bot.md."""

import asyncio
import io
import runpy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai.errors import ClientError
from google.genai.types import HttpOptions

from kesoku.agent.limits import TurnLimits
from kesoku.errors import ModelRateLimited
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import VirtualClock
from kesoku.testing.faulty_store import AFTER, FULL, FaultyStore
from kesoku.testing.gemini import (
    Answer,
    Blocked,
    Call,
    Cut,
    LoopbackGemini,
    Processing,
    Say,
    Scripted,
    Think,
    api_disabled,
    rate_limited,
    region_refused,
)
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.testing.waiting import PATIENCE
from kesoku.tools import Policy, Tool

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ROLL: Tool = runpy.run_path(str(EXAMPLES / "dice" / "dice.py"))["roll"]


def gemini(server: LoopbackGemini) -> GeminiModel:
    config = GeminiConfig.model_validate({"base_url": server.base_url, "api_key": server.key})
    return GeminiModel(name="gemini", config=config, environment={})


@asynccontextmanager
async def google(server: LoopbackGemini, **options: Any) -> AsyncIterator[Any]:
    async with httpx2.AsyncClient(trust_env=False) as http:
        way = HttpOptions(base_url=server.base_url, httpx_async_client=http)
        yield genai.Client(**{"api_key": server.key, "vertexai": False, **options}, http_options=way).aio


async def test_the_bot_rolls_when_it_is_asked_to() -> None:
    model = ScriptedModel(reply(call("roll", count=2)), "There they are.")
    harness = AgentHarness(model, tools=[ROLL])
    prompt = await harness.say("roll two dice")
    async with harness.at_work():
        answer = await harness.answered(prompt)
    assert answer.message.rendered == "There they are."
    kinds = [record.kind for record in await harness.turn(prompt)]
    assert kinds == ["user_prompt", "tool_call", "tool_result", "answer"]


async def test_gemini_is_offered_the_tool_and_reads_its_result() -> None:
    async with LoopbackGemini() as server:
        server.script(Answer(Think("Two dice."), Call("roll", {"count": 2})), Answer(Say("There they are.")))
        model = gemini(server)
        harness = AgentHarness(model, tools=[ROLL])
        prompt = await harness.say("roll two dice")
        async with harness.at_work():
            answer = await harness.answered(prompt)
        await model.aclose()
    assert answer.message.rendered == "There they are."
    first, second = server.requests
    assert first.body["tools"][0]["function_declarations"][0]["name"] == "roll"
    assert len(second.body["contents"][-1]["parts"][0]["function_response"]["response"]["output"]["dice"]) == 2


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (region_refused(), "region"),
        (api_disabled(project="42"), "project=42"),
        (rate_limited(daily=True), "quota"),
        (Blocked("PROHIBITED_CONTENT"), "PROHIBITED_CONTENT"),
    ],
)
async def test_trouble_is_told_in_words(trouble: Scripted, told: str) -> None:
    async with LoopbackGemini() as server:
        server.script(trouble)
        model = gemini(server)
        harness = AgentHarness(model)
        prompt = await harness.say("hello")
        async with harness.at_work():
            answer = await harness.answered(prompt)
        await model.aclose()
    assert told in answer.message.rendered


async def test_the_conversation_goes_on_after_a_blocked_message() -> None:
    async with LoopbackGemini(blocks="forbidden") as server:
        model = gemini(server)
        harness = AgentHarness(model)
        async with harness.at_work():
            refused = await harness.answered(await harness.say("something forbidden"))
            answer = await harness.answered(await harness.say("hello"))
        await model.aclose()
    assert "PROHIBITED_CONTENT" in refused.message.rendered
    assert "I am the offline model" in answer.message.rendered


async def test_an_answer_in_two_requests() -> None:
    async with LoopbackGemini() as server, google(server) as client:
        server.script(Answer(Say("It is "), Cut(), Say("noon.")))
        chunks = await client.models.generate_content_stream(model="gemini-3.5-flash", contents="what time is it?")
        assert "".join([chunk.text or "" async for chunk in chunks]) == "It is noon."
    assert [bool(seen.body.get("continuation_token")) for seen in server.requests] == [False, True]


async def test_the_third_request_of_a_minute_is_refused() -> None:
    async with LoopbackGemini(requests_per_minute=2) as server, google(server) as client:
        for _ in range(2):
            await client.models.generate_content(model="gemini-3.5-flash", contents="hello")
        with pytest.raises(ClientError, match="RESOURCE_EXHAUSTED"):
            await client.models.generate_content(model="gemini-3.5-flash", contents="hello")


async def test_a_file_is_processed_used_and_expires() -> None:
    async with LoopbackGemini() as server, google(server) as client:
        server.script(Processing(polls=1), on="upload")
        file = await client.files.upload(file=io.BytesIO(b"%PDF-1.7"), config={"mime_type": "application/pdf"})
        assert [(await client.files.get(name=file.name)).state for _ in range(2)] == ["PROCESSING", "ACTIVE"]
        await client.models.generate_content(model="gemini-3.5-flash", contents=["read this", file])
        server.expire_files()
        with pytest.raises(ClientError, match="do not have permission to access the File"):
            await client.models.generate_content(model="gemini-3.5-flash", contents=["read this", file])
    assert server.asked("chunk")[0].raw == b"%PDF-1.7"


async def test_a_cache_is_used_and_expires() -> None:
    async with LoopbackGemini(cache_minimum=10) as server, google(server) as client:
        made = await client.caches.create(model="gemini-3.5-flash", config={"contents": "a long story " * 10})
        ask = partial(client.models.generate_content, model="gemini-3.5-flash", contents="who did it?")
        answer = await ask(config={"cached_content": made.name})
        assert answer.usage_metadata.cached_content_token_count == made.usage_metadata.total_token_count
        server.expire_caches()
        with pytest.raises(ClientError, match="CachedContent not found"):
            await ask(config={"cached_content": made.name})


async def test_vertex_with_a_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with LoopbackGemini() as server:
        key = server.service_account(tmp_path / "key.json")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key))
        async with google(server, vertexai=True, api_key=None, project="p", location="europe-west1") as client:
            assert (await client.models.generate_content(model="gemini-3.5-flash", contents="hello")).text
    assert [seen.kind for seen in server.requests] == ["token", "generate"]


async def test_a_turn_that_takes_too_long_is_ended_with_words() -> None:
    model = ScriptedModel(Held())
    harness = AgentHarness(model, limits=TurnLimits(seconds=60))
    held = model.lines[0]
    assert isinstance(held, Held)
    prompt = await harness.say("take your time")
    async with harness.at_work():
        await held.entered.wait()
        await harness.clock.advance(61)
        answer = await harness.answered(prompt)
    assert "60 s" in answer.message.rendered
    assert held.cancelled


async def test_a_second_model_answers_when_the_first_is_out_of_quota() -> None:
    tired = ScriptedModel(ModelRateLimited(model="first", retry_after=None, daily=True, message="quota"), name="first")
    harness = AgentHarness(tired, ScriptedModel("I help out.", name="second"))
    prompt = await harness.say("hello")
    async with harness.at_work():
        assert (await harness.answered(prompt)).message.rendered == "I help out."


async def test_what_a_person_forbids_does_not_run() -> None:
    harness = AgentHarness(ScriptedModel(reply(call("roll")), "Then not."), tools=[ROLL], policies={"roll": Policy.ASK})
    harness.approver.answer = "no"
    prompt = await harness.say("roll")
    async with harness.at_work():
        await harness.answered(prompt)
    result = next(record for record in await harness.turn(prompt) if record.kind == "tool_result")
    assert "said no" in result.message.rendered


async def test_a_new_message_stops_the_turn_before_it() -> None:
    held = Held()
    harness = AgentHarness(ScriptedModel(held, "Gladly."))
    first = await harness.say("count to a million")
    async with harness.at_work():
        await held.entered.wait()
        second = await harness.say("stop, and say hello")
        answer = await harness.answered(second)
        assert await asyncio.wait_for(held.gone.wait(), PATIENCE)
    assert answer.message.rendered == "Gladly."
    assert await harness.status(first) == "interrupted"


async def test_a_full_disk_and_a_commit_that_nobody_saw_cost_no_answer() -> None:
    clock = VirtualClock()
    store = FaultyStore(MemoryStore(), clock)
    store.script("StoreGateway.finish", FULL, AFTER)
    harness = AgentHarness(ScriptedModel("There you are."), store=store, clock=clock)
    prompt = await harness.say("where am I?")
    async with harness.at_work():
        await clock.advance(11)
    assert store.hits["StoreGateway.finish"] == 2
    assert [record.kind for record in await harness.turn(prompt)] == ["user_prompt", "answer"]
