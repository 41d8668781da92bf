"""The requests of a turn begin alike, whatever comes in between, so that a provider's cache is hit (D-X12)."""

import asyncio
from contextlib import suppress

from kesoku.agent.limits import TurnLimits
from kesoku.gateway import Busy, BusyPolicy
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.testing.office import Office
from kesoku.tools.tool import Effect, tool


@tool(effect=Effect.READ)
async def look() -> str:
    """Look."""
    return "x" * 100


async def test_a_restart_and_a_flood_move_nothing() -> None:
    held = Held()
    model = ScriptedModel(*["fine"] * 6, reply(call("look")), held, "done")
    policy = BusyPolicy(busy=Busy.QUEUE)
    office = Office(model, tools=[look], policy=policy, limits=TurnLimits(history_records=8, history_tokens=20))
    for n in range(6):
        async with office.at_work():
            await office.answered(await office.say(f"question {n}"))
    dispatcher = office.dispatcher("first", gateway=office.process())
    running = asyncio.create_task(dispatcher.run())
    prompt = await office.say("go")
    await held.entered.wait()
    for n in range(20):
        await office.say(f"later {n}")
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    model.lines += ["late"] * 20
    async with office.at_work("second"):
        await office.answered(prompt)
    begun, before, after = model.requests[6:9]
    assert before.turns[: len(begun.turns)] == begun.turns
    assert after.turns == before.turns
