"""A tool that kills its process, beside an innocent turn; everything is real but the model."""

import asyncio
import signal
import sys
from pathlib import Path

from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Address
from kesoku.store import SqlStore
from kesoku.testing.gateway_harness import GatewayHarness

LIVES = """
import asyncio, os, signal, sys
from contextlib import suppress
from pathlib import Path
from kesoku.gateway import BusyPolicy, Presence, StoreGateway
from kesoku.messages.enums import MessageStatus as S
from kesoku.store import SqlStore
from kesoku.testing.model import ScriptedModel, call, reply
from kesoku.testing.agent_harness import AgentHarness
from kesoku.tools.tool import Effect, tool

folder, prompts = Path(sys.argv[1]), sys.argv[2:]
beside = asyncio.Event()

@tool(effect=Effect.READ)
async def explode() -> None:
    "Kill the process: twice when the innocent turn runs beside, then whether it does or not."
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2 if deaths >= 2 else None):
            await beside.wait()
    os.kill(os.getpid(), signal.SIGKILL)

@tool(effect=Effect.READ)
async def think() -> str:
    "Take longer than the neighbour needs."
    beside.set()
    if deaths < 2:
        await asyncio.Event().wait()
    return "a thought"

def line(request):
    said = str(request.turns)
    if "poison" in said:
        return reply(call("explode"))
    return reply("the answer" if "a thought" in said else call("think"))

async def life():
    with Presence(folder / "run") as presence:
        async with await SqlStore.open(folder / "kesoku.db") as store:
            harness = AgentHarness(ScriptedModel(*[line] * 20), tools=[explode, think], store=store)
            gateway = StoreGateway(store, harness.clock, BusyPolicy(), presence)
            work = asyncio.create_task(harness.dispatcher(presence.owner, gateway=gateway).run())
            for prompt in prompts:
                await harness.until(prompt, S.PROCESSED, S.ERROR)
            work.cancel()
            await asyncio.wait([work])

for deaths in range(9):
    child = os.fork()
    if not child:
        asyncio.run(life())
        os._exit(0)
    end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(end)
    if end == 0:
        break
"""


async def test_a_tool_that_kills_its_process_ends_alone(tmp_path: Path) -> None:
    # I12
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        bench = GatewayHarness(store)
        poison = await bench.say("poison")
        innocent = await bench.say("question", at=Address(chatbot_id="discord", channel_id="next door"))
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", LIVES, str(tmp_path), poison.id, innocent.id, stdout=asyncio.subprocess.PIPE
        )
        ends, _ = await child.communicate()
        assert [int(end) for end in ends.split()] == [-signal.SIGKILL] * 3 + [0]
        assert [await bench.status(each) for each in (poison, innocent)] == [S.ERROR, S.PROCESSED]
        (apology,) = [each for each in await bench.session(poison) if each.kind == "answer"]
        assert "I broke down 3 times" in apology.message.rendered
        (answer,) = [each for each in await bench.session(innocent) if each.kind == "answer"]
        assert answer.message.rendered == "the answer"
        lease = await store.read(lambda tx: tx.leases.get(innocent.session_id))
        assert lease is not None
        assert lease.failures == 2, "it ran beside the poison, and was suspected"
