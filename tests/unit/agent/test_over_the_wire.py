"""Turns of the real Gemini provider, over HTTP to the loopback server: what goes wrong there is told, and survived."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.source import PROMPT_BLOCKED
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import Answer, Blocked, Call, Reset, Say, Think, overloaded

from .asking import answer_to


@pytest.fixture
async def server(no_proxy: None) -> AsyncIterator[LoopbackGemini]:
    async with LoopbackGemini() as server:
        yield server


@pytest.fixture
async def harness(server: LoopbackGemini) -> AsyncIterator[AgentHarness]:
    async def sleep(seconds: float) -> None:
        """No time passes."""

    config = GeminiConfig(api_key=SecretStr("test-key"), base_url=server.base_url)
    model = GeminiModel(name="g", config=config, environment={}, sleep=sleep, jitter=lambda: 0.5)
    yield AgentHarness(model)
    await model.aclose()


async def answers_to(harness: AgentHarness, *texts: str) -> list[Record]:
    return [(await answer_to(harness, text))[1] for text in texts]


@pytest.mark.parametrize(
    "cut",
    [
        Answer(Think("I count."), Say("one, two, th"), finish="MAX_TOKENS"),
        Answer(Think("I count."), Say("one, two, th"), then=Reset()),
    ],
    ids=["cut", "broken"],
)
async def test_a_cut_answer_goes_on(harness: AgentHarness, server: LoopbackGemini, cut: Answer) -> None:
    # complaint 64
    server.script(cut, Answer(Think("Three."), Say("ree, four")))
    (answer,) = await answers_to(harness, "count")
    assert answer.message.rendered == "one, two, three, four"
    assert harness.drafts.shown[-1][1:] == (1, "I count.\n\nThree.", "one, two, three, four")
    assert [each.refused for each in server.requests] == [None, None]


async def test_a_blocked_prompt_is_an_error_and_is_not_sent_again(
    harness: AgentHarness, server: LoopbackGemini
) -> None:
    # complaints 68, 69
    server.script(Blocked("PROHIBITED_CONTENT"), Answer(Say("fine")))
    blocked, fine = await answers_to(harness, "a wicked wish", "hello")
    source: Any = blocked.message.source
    assert "did not take your message: the request holds prohibited content" in blocked.message.rendered
    assert "(PROHIBITED_CONTENT). Please ask in other words. The model will" in blocked.message.rendered
    assert source.error == PROMPT_BLOCKED
    assert await harness.status(blocked.turn_id or "") is MessageStatus.ERROR
    assert fine.message.rendered == "fine"
    assert "a wicked wish" not in str(server.requests[1].body)


async def test_a_call_of_a_tool_that_is_not_there_gets_a_hint_and_a_wait_is_told(
    harness: AgentHarness, server: LoopbackGemini
) -> None:
    # complaints 61, 153
    server.script(
        overloaded(),
        Answer(Call("fly"), finish="UNEXPECTED_TOOL_CALL"),
        Answer(Say("I cannot fly.")),
    )
    (answer,) = await answers_to(harness, "fly!")
    assert answer.message.rendered == "I cannot fly."
    assert harness.drafts.notes == [("the provider is overloaded; asking again", 1.0)]
    assert "there are no tools now" in str(server.requests[2].body)
