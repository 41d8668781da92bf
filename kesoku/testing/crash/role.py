"""What each process of the crash kit does for its life; none of them ends by itself."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from kesoku.adapter.drafts import DraftBoard
from kesoku.adapter.question import Approvals
from kesoku.agent.dispatcher import Dispatcher
from kesoku.agent.limits import TurnLimits
from kesoku.agent.loop import TurnLoop
from kesoku.agent.worker import Worker
from kesoku.messages.content import Attachment
from kesoku.messages.lifecycle import Claim, Fence, Serving
from kesoku.messages.record import EVERY_CHANNEL, Address, Post, Record
from kesoku.messages.turn import MediaBlock
from kesoku.ports import Gateway
from kesoku.testing.crash.actor import Actor, Birth, Role
from kesoku.testing.crash.people import FILE_BYTES, poster
from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.trace import Trace, Traces
from kesoku.testing.crash.watch import When
from kesoku.testing.station import Station
from kesoku.tools import Toolbox, ToolContext

_PATIENCE = 60.0
"""Seconds in which a question is answered."""


async def worker(actor: Actor) -> None:
    """Claims and answers. It takes no serving lock, so several workers claim the same sessions."""
    bots = _served(actor.birth)
    serving = Serving(addresses=frozenset(Address(chatbot_id=bot, channel_id=EVERY_CHANNEL) for bot in bots))
    gateway = cast("Gateway", _Telling(actor.gateway, actor.trace))
    work = Worker(_loop(actor, gateway), DraftBoard())

    async def told(claim: Claim) -> None:
        facts = {"turn": claim.prompt.id, "session": claim.fence.session_id, "generation": claim.fence.generation}
        actor.trace.write("working", **facts)
        try:
            await work(claim)
        finally:
            actor.trace.write("worked", **facts)

    await Dispatcher(gateway, serving, told, actor.clock, owner=actor.presence.owner).run()


async def host(actor: Actor) -> None:
    """Runs the adapter of the bot that it is named after, as the one process that serves it."""
    bot = actor.birth.part
    actor.presence.serve({Address(chatbot_id=bot, channel_id=EVERY_CHANNEL)})
    station = Station(
        manifest=actor.wiring.manifest(bot, actor.scene.journal(bot), actor.watch),
        chatbot_id=bot,
        store=actor.store,
        gateway=actor.gateway,
        clock=actor.clock,
        folder=actor.scene.folder,
        outbox=actor.wiring.outbox,
    )
    async with station:
        await station.supervisor


async def follower(actor: Actor) -> None:
    """Tells every change that it is handed. What it told last is where its next life goes on."""
    seen = [entry["cursor"] for name, entry in Traces(actor.scene.traces).news() if entry["op"] == "seen"]
    cursor = max(seen, default=0)
    actor.trace.write("following", cursor=cursor)
    async with actor.gateway.listen(lambda _: True, cursor=cursor) as changes:
        async for change in changes:
            facts = {"kind": change.kind, "before": change.before, "after": change.after}
            actor.trace.write("seen", cursor=changes.cursor, seq=change.seq, message=change.record.id, **facts)


ROLES: Mapping[Role, Callable[[Actor], Awaitable[None]]] = {
    Role.WORKER: worker,
    Role.HOST: host,
    Role.POSTER: poster,
    Role.FOLLOWER: follower,
}


class _Telling:
    """A gateway that tells of what it acknowledged."""

    def __init__(self, gateway: Gateway, trace: Trace) -> None:
        self._gateway, self._trace = gateway, trace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    async def claims(self, owner: str, serving: Serving, *, most: int) -> list[Claim]:
        claims = await self._gateway.claims(owner, serving, most=most)
        for claim in claims:
            fence = claim.fence
            self._trace.write("claimed", prompt=claim.prompt.id, session=fence.session_id, generation=fence.generation)
        return claims

    async def finish(self, fence: Fence, answer: Post, **facts: Any) -> Record:
        record = await self._gateway.finish(fence, answer, **facts)
        self._trace.write("answered", turn=record.turn_id, answer=record.id)
        return record


def _served(birth: Birth) -> Sequence[Platform]:
    """The bots of a worker: all but one if the others have workers enough, so that a session which spans two of them
    is worked on by different processes."""
    bots, number = birth.plan.platforms, int(birth.part.rpartition("-")[2])
    enough = birth.plan.workers > 2 and len(bots) > 1
    return [bot for n, bot in enumerate(bots) if n != number] if enough else bots


def _loop(actor: Actor, gateway: Gateway) -> TurnLoop:
    staging = actor.wiring.staging(actor.scene.files)

    async def keep(call: Record, file: MediaBlock) -> Attachment:
        kept = await staging.copy(call.session_id, file, limit=FILE_BYTES)
        actor.watch.passing("Staging.copy", When.AFTER)
        return kept

    def context(call: Record) -> ToolContext:
        return ToolContext(
            session_id=call.session_id,
            call_id=call.id,
            workspace=actor.scene.workspace,
            roots=(),
            environment=os.environ,
            secrets=frozenset(),
            now=lambda: datetime.fromtimestamp(actor.clock.now() / 1e6, UTC),
        )

    return TurnLoop(
        gateway,
        actor.store,
        actor.clock,
        [actor.wiring.model(actor.watch)],
        Toolbox(actor.wiring.tools(actor.watch)),
        approver=Approvals(actor.store, actor.clock),
        drafts=DraftBoard(),
        context=context,
        keep=keep,
        system="be kind",
        limits=TurnLimits(approval_seconds=_PATIENCE),
    )
