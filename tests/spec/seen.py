"""A program for a pseudo-terminal: the real terminal adapter over a real gateway, with a scripted model and tool."""

import asyncio
import json
import sys
from pathlib import Path

from kesoku.messages import make
from kesoku.messages.record import Address, Post
from kesoku.testing.model import ScriptedModel, call, reply, thought
from kesoku.testing.office import Office
from kesoku.testing.station import Station
from kesoku.tools.tool import Effect, tool
from kesoku_cli.manifest import MANIFEST


async def main(folder: Path) -> None:
    @tool(effect=Effect.READ)
    async def look(where: str) -> str:
        """Look, while notices come in."""
        await station.notice("cli", "S-notice", reason="status")
        await station.notice("cli", "R-notice", reason="reply")
        return "T-result"

    model = ScriptedModel(
        reply(thought("T-thought"), call("look", where="T-call")),
        "T-answer\n\n[file: plot.txt]",
        "W-answer",
        reply(),
        "N-answer",
        "C-answer",
    )
    office = Office(model, tools=[look])
    station = Station(manifest=MANIFEST, store=office.store, gateway=office.gateway, clock=office.clock, folder=folder)
    (station.workspace / "plot.txt").write_text("data")
    async with station, office.at_work():
        later = asyncio.create_task(_later(office))
        await station.supervisor
        later.cancel()
    records = await office.events()
    statuses = {change.record.message.rendered: change.record.status for change in records}
    (folder / "statuses.json").write_text(json.dumps(statuses))


async def _later(office: Office) -> None:
    """When the first turn is over a job ends, when that is answered something fails, and at last a schedule asks."""
    here = Address(chatbot_id="cli", channel_id="cli")
    async with office.gateway.listen(lambda change: change.after == "delivered", cursor=0) as changes:
        async for change in changes:
            if change.record.message.rendered.startswith("T-answer"):
                await office.gateway.accept([Post(message=make.wakeup("job_1", "W-output"), address=here)])
            if change.record.message.rendered == "W-answer":
                error = make.error_answer("E-error")
                await office.gateway.post(Post(message=error, address=here))
            if change.record.message.rendered == "N-answer":
                await office.gateway.accept([Post(message=make.cron_prompt("C-schedule"), address=here)])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
