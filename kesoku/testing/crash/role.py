"""The roles `worker`, `host` and `follower`, and the table of all roles. None of them ends by itself."""

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
from kesoku.messages.turn import MediaBlock, TurnRequest
from kesoku.ports import Gateway
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.assistant import always
from kesoku.testing.crash.actor import Actor, ProcessSpec, Role
from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.poster import FILE_BYTES, poster
from kesoku.testing.crash.trace import Trace, Traces
from kesoku.testing.crash.watch import Side
from kesoku.tools import Toolbox, ToolContext

_PATIENCE = 60.0
"""Seconds in which a question is answered."""


async def worker(actor: Actor) -> None:
    """Claims and answers. It takes no serving lock, so several workers claim the same sessions."""
    bots = _served(actor.spec)
    serving = Serving(addresses=frozenset(Address(chatbot_id=bot, channel_id=EVERY_CHANNEL) for bot in bots))
    gateway = cast("Gateway", _Traced(actor.gateway, actor.trace))
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
    bot = actor.spec.part
    actor.presence.serve({Address(chatbot_id=bot, channel_id=EVERY_CHANNEL)})
    runner = AdapterRunner(
        manifest=actor.wiring.manifest(bot, actor.layout.journal(bot), actor.watch),
        chatbot_id=bot,
        store=actor.store,
        gateway=actor.gateway,
        clock=actor.clock,
        folder=actor.layout.folder,
        outbox=actor.wiring.outbox,
    )
    async with runner:
        await runner.supervisor


async def follower(actor: Actor) -> None:
    """Records every change that it is handed. Its replacement goes on behind the last one."""
    seen = [entry["cursor"] for name, entry in Traces(actor.layout.traces).news() if entry["op"] == "seen"]
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


class _Traced:
    """A gateway that records claims and acknowledged answers."""

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


def _served(spec: ProcessSpec) -> Sequence[Platform]:
    """The bots of a worker: all but one if the others have workers enough, so that a session which spans two of them
    is worked on by different processes."""
    bots, number = spec.plan.platforms, int(spec.part.rpartition("-")[2])
    enough = spec.plan.workers > 2 and len(bots) > 1
    return [bot for n, bot in enumerate(bots) if n != number] if enough else bots


def _loop(actor: Actor, gateway: Gateway) -> TurnLoop:
    staging = actor.wiring.staging(actor.layout.files)

    async def keep(call: Record, file: MediaBlock) -> Attachment:
        kept = await staging.copy(call.session_id, file, limit=FILE_BYTES)
        actor.watch.passing("Staging.copy", Side.AFTER)
        return kept

    def context(call: Record) -> ToolContext:
        return ToolContext(
            session_id=call.session_id,
            call_id=call.id,
            workspace=actor.layout.workspace,
            roots=(),
            environment=os.environ,
            secrets=frozenset(),
            now=lambda: datetime.fromtimestamp(actor.clock.now() / 1e6, UTC),
        )

    tools = Toolbox(actor.wiring.tools(actor.watch))
    return TurnLoop(
        gateway,
        actor.store,
        actor.clock,
        always(actor.wiring.model(actor.watch), request=TurnRequest(system="be kind", tools=tools.specs())),
        tools,
        approver=Approvals(actor.store, actor.clock),
        drafts=DraftBoard(),
        context=context,
        keep=keep,
        limits=TurnLimits(approval_seconds=_PATIENCE),
    )
