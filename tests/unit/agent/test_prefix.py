"""The requests of a turn begin alike, whatever comes in between, so that a provider's cache is hit (D-X12)."""

import asyncio
from contextlib import suppress

from kesoku.agent.limits import TurnLimits
from kesoku.gateway import Busy, BusyPolicy
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.tools.tool import Effect, tool


@tool(effect=Effect.READ)
async def look() -> str:
    """Look."""
    return "x" * 100


async def test_a_restart_and_a_flood_move_nothing() -> None:
    held = Held()
    model = ScriptedModel(*["fine"] * 6, reply(call("look")), held, "done")
    policy = BusyPolicy(busy=Busy.QUEUE)
    harness = AgentHarness(model, tools=[look], policy=policy, limits=TurnLimits(history_records=8, history_tokens=20))
    for n in range(6):
        async with harness.at_work():
            await harness.answered(await harness.say(f"question {n}"))
    dispatcher = harness.dispatcher("first", gateway=harness.process())
    running = asyncio.create_task(dispatcher.run())
    prompt = await harness.say("go")
    await held.entered.wait()
    for n in range(20):
        await harness.say(f"later {n}")
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    model.lines += ["late"] * 20
    async with harness.at_work("second"):
        await harness.answered(prompt)
    begun, before, after = model.requests[6:9]
    assert before.turns[: len(begun.turns)] == begun.turns
    assert after.turns == before.turns
