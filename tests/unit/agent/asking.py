"""A question and its answer, a tool that sees nothing new, and a model that is not there."""

from kesoku.errors import ModelUnavailable
from kesoku.messages.record import Record
from kesoku.testing.agent_harness import AgentHarness
from kesoku.tools.tool import Effect, tool

OFFLINE = ModelUnavailable(model="scripted", status=503, message="overloaded")


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "nothing new"


async def answer_to(harness: AgentHarness, text: str = "hello") -> tuple[Record, Record]:
    """The prompt as it stands after its turn, and its answer."""
    prompt = await harness.say(text)
    async with harness.at_work():
        answer = await harness.answered(prompt)
    return await harness.record(prompt), answer
