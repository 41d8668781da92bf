"""A program for a pseudo-terminal: the real terminal adapter over a real gateway, with a scripted model and tool."""

import asyncio
import json
import sys
from pathlib import Path

from kesoku.messages import make
from kesoku.messages.record import Address, Post
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import ScriptedModel, call, reply, thought
from kesoku.tools.tool import Effect, tool
from kesoku_cli.manifest import MANIFEST


async def main(folder: Path) -> None:
    @tool(effect=Effect.READ)
    async def look(where: str) -> str:
        """Look, while notices come in."""
        await runner.notice("cli", "S-notice", reason="status")
        await runner.notice("cli", "R-notice", reason="reply")
        return "T-result"

    model = ScriptedModel(
        reply(thought("T-thought"), call("look", where="T-call")),
        "T-answer\n\n[file: plot.txt]",
        "W-answer",
        reply(),
        "N-answer",
        "C-answer",
    )
    harness = AgentHarness(model, tools=[look])
    runner = AdapterRunner(
        manifest=MANIFEST, store=harness.store, gateway=harness.gateway, clock=harness.clock, folder=folder
    )
    (runner.workspace / "plot.txt").write_text("data")
    async with runner, harness.at_work():
        later = asyncio.create_task(_later(harness))
        await runner.supervisor
        later.cancel()
    records = await harness.events()
    statuses = {change.record.message.rendered: change.record.status for change in records}
    (folder / "statuses.json").write_text(json.dumps(statuses))


async def _later(harness: AgentHarness) -> None:
    """When the first turn is over a job ends, when that is answered something fails, and at last a schedule asks."""
    here = Address(chatbot_id="cli", channel_id="cli")
    async with harness.gateway.listen(lambda change: change.after == "delivered", cursor=0) as changes:
        async for change in changes:
            if change.record.message.rendered.startswith("T-answer"):
                await harness.gateway.accept([Post(message=make.wakeup("job_1", "W-output"), address=here)])
            if change.record.message.rendered == "W-answer":
                error = make.error_answer("E-error")
                await harness.gateway.post(Post(message=error, address=here))
            if change.record.message.rendered == "N-answer":
                await harness.gateway.accept([Post(message=make.cron_prompt("C-schedule"), address=here)])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
