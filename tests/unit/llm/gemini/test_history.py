"""Stored conversations, compiled and sent: what the server refuses, the compiler or the wire got wrong."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from kesoku.history.compile import compile_turns
from kesoku.llm.gemini import GeminiConfig, GeminiModel
from kesoku.llm.offline import OfflineModel
from kesoku.messages.turn import CompiledRequest, Reply, TurnRequest
from kesoku.ports import ChatModel
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.model_contract import CALCULATE, CURRENT_TIME, listen
from kesoku.testing.talk import Talk

ASKED = TurnRequest(system="Be brief.", tools=(CURRENT_TIME, CALCULATE))


@pytest.fixture(params=[True, False], ids=["with call ids", "without"])
async def server(no_proxy: None, request: pytest.FixtureRequest) -> AsyncIterator[LoopbackGemini]:
    async with LoopbackGemini(call_ids=request.param) as server:
        yield server


@pytest.fixture
async def gemini(server: LoopbackGemini) -> AsyncIterator[GeminiModel]:
    config = GeminiConfig(api_key=SecretStr("test-key"), base_url=server.base_url)
    model = GeminiModel(name="gemini", config=config, environment={})
    yield model
    await model.aclose()


def compiled(talk: Talk, model: ChatModel) -> CompiledRequest:
    return compile_turns(talk.records, talk.steps, ASKED, provider=model.provider)


async def step(talk: Talk, model: ChatModel, *, answered: bool = True) -> Reply:
    """One step of the running turn: ask, store what was said, store results or the answer."""
    _, reply = await listen(model, compiled(talk, model))
    talk.provider = model.provider
    calls = talk.step(*reply.blocks)
    if answered:
        for call in calls:
            talk.result(call, f"result of {call.message.content.tool}")
    if not calls:
        talk.answer(reply.text)
    return reply


async def test_turns_with_parallel_and_repeated_steps(gemini: GeminiModel, server: LoopbackGemini) -> None:
    talk = Talk()
    for _ in range(2):
        talk.prompt("think about rivers\ntime\n6*7 and then time")
        replies = [await step(talk, gemini) for _ in range(3)]
        assert [len(reply.calls) for reply in replies] == [2, 1, 0]
        assert "result of calculate" in replies[-1].text
    assert [seen.refused for seen in server.requests] == [None] * 6


async def test_a_turn_that_another_model_began(gemini: GeminiModel, server: LoopbackGemini) -> None:
    talk = Talk()
    talk.prompt("time\n6*7 and then time")
    await step(talk, OfflineModel())
    reply = await step(talk, gemini)
    assert [call.name for call in reply.calls] == ["current_time"]
    reply = await step(talk, OfflineModel())
    assert "result of calculate" in reply.text
    talk.prompt("hello")
    assert (await step(talk, gemini)).text
    assert [seen.refused for seen in server.requests] == [None] * 2


async def test_an_interrupted_call_and_an_error(gemini: GeminiModel, server: LoopbackGemini) -> None:
    talk = Talk()
    talk.prompt("time\n6*7")
    await step(talk, gemini, answered=False)
    talk.prompt("time")
    await step(talk, gemini)
    talk.error("it broke")
    talk.nudge()
    reply = await step(talk, gemini)
    assert reply.text
    assert [seen.refused for seen in server.requests] == [None] * 3
