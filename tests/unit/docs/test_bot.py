"""The tests of docs/how-to/test-your-bot.md."""

import asyncio
import runpy
from pathlib import Path

from kesoku.agent.limits import TurnLimits
from kesoku.errors import ModelRateLimited
from kesoku.llm.gemini import GeminiConfig, GeminiModel
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import Answer, Call, Say, Think
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.testing.office import Office
from kesoku.tools import Policy, Tool

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ROLL: Tool = runpy.run_path(str(EXAMPLES / "dice" / "dice.py"))["roll"]


async def test_the_bot_rolls_when_it_is_asked_to() -> None:
    model = ScriptedModel(reply(call("roll", count=2)), "There they are.")
    office = Office(model, tools=[ROLL])
    prompt = await office.say("roll two dice")
    async with office.at_work():
        answer = await office.answered(prompt)
    assert answer.message.rendered == "There they are."
    kinds = [record.kind for record in await office.turn(prompt)]
    assert kinds == ["user_prompt", "tool_call", "tool_result", "answer"]


async def test_gemini_is_offered_the_tool_and_reads_its_result() -> None:
    async with LoopbackGemini() as server:
        server.script(Answer(Think("Two dice."), Call("roll", {"count": 2})), Answer(Say("There they are.")))
        config = GeminiConfig.model_validate({"base_url": server.base_url, "api_key": server.key})
        model = GeminiModel(name="gemini", config=config, environment={})
        office = Office(model, tools=[ROLL])
        prompt = await office.say("roll two dice")
        async with office.at_work():
            answer = await office.answered(prompt)
        await model.aclose()
    assert answer.message.rendered == "There they are."
    first, second = server.requests
    assert first.body["tools"][0]["function_declarations"][0]["name"] == "roll"
    assert len(second.body["contents"][-1]["parts"][0]["function_response"]["response"]["output"]["dice"]) == 2


async def test_a_turn_that_takes_too_long_is_ended_with_words() -> None:
    model = ScriptedModel(Held())
    office = Office(model, limits=TurnLimits(seconds=60))
    held = model.lines[0]
    assert isinstance(held, Held)
    prompt = await office.say("take your time")
    async with office.at_work():
        await held.entered.wait()
        await office.clock.advance(61)
        answer = await office.answered(prompt)
    assert "60 s" in answer.message.rendered
    assert held.cancelled


async def test_a_second_model_answers_when_the_first_is_out_of_quota() -> None:
    tired = ScriptedModel(ModelRateLimited(model="first", retry_after=None, daily=True, message="quota"), name="first")
    office = Office(tired, ScriptedModel("I help out.", name="second"))
    prompt = await office.say("hello")
    async with office.at_work():
        assert (await office.answered(prompt)).message.rendered == "I help out."


async def test_what_a_person_forbids_does_not_run() -> None:
    office = Office(ScriptedModel(reply(call("roll")), "Then not."), tools=[ROLL], policies={"roll": Policy.ASK})
    office.approver.answer = "no"
    prompt = await office.say("roll")
    async with office.at_work():
        await office.answered(prompt)
    result = next(record for record in await office.turn(prompt) if record.kind == "tool_result")
    assert "said no" in result.message.rendered


async def test_a_new_message_stops_the_turn_before_it() -> None:
    held = Held()
    office = Office(ScriptedModel(held, "Gladly."))
    first = await office.say("count to a million")
    async with office.at_work():
        await held.entered.wait()
        second = await office.say("stop, and say hello")
        answer = await office.answered(second)
        assert await asyncio.wait_for(held.gone.wait(), 5)
    assert answer.message.rendered == "Gladly."
    assert await office.status(first) == "interrupted"
