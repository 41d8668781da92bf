"""An agent at work: dispatcher, worker and loop over a store, a virtual clock and a scripted model."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from kesoku.adapter.staging import Staging
from kesoku.agent.assistant import Assistants
from kesoku.agent.budget import Budget
from kesoku.agent.dispatcher import Dispatcher, DispatchLimits
from kesoku.agent.hook import Hook
from kesoku.agent.limits import TurnLimits
from kesoku.agent.loop import TurnLoop
from kesoku.agent.replay import Replay, replay
from kesoku.agent.worker import Worker
from kesoku.errors import StoreError
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.turn import MediaBlock, TurnRequest
from kesoku.ports import ChatModel, Store, Transaction
from kesoku.testing.assistant import always
from kesoku.testing.clock import VirtualClock
from kesoku.testing.fakes import RecordingDrafts, ScriptedApprover
from kesoku.testing.gateway_harness import EVERYTHING, GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.waiting import PATIENCE
from kesoku.tools.context import ToolContext
from kesoku.tools.registry import Policy, Toolbox
from kesoku.tools.tool import Tool

FILE_BYTES = 1_000
"""Size of one file that is kept."""


class AgentHarness(GatewayHarness):
    """A bench with an agent. Several `at_work` at once are several processes over one store."""

    def __init__(
        self,
        *models: ChatModel,
        tools: Iterable[Tool] = (),
        policies: Mapping[str, Policy] | None = None,
        hooks: Mapping[str, Hook] | None = None,
        limits: TurnLimits | None = None,
        budget: Budget | None = None,
        dispatch: DispatchLimits | None = None,
        policy: BusyPolicy | None = None,
        secrets: Sequence[str] = (),
        store: Store | None = None,
        staging: Staging | None = None,
        clock: VirtualClock | None = None,
        poll: float = 1.0,
        replays: bool = True,
        assistants: Assistants | None = None,
    ) -> None:
        """Without `staging`, files that tools return stay where they are. `replays`: at the end of work every request
        must come out of the log as it was sent. `assistants`: who answers, instead of `models` everywhere."""
        super().__init__(store or MemoryStore(rerun=True), policy=policy, clock=clock, poll=poll)
        self.tools = Toolbox(tools, policies)
        self.hooks, self.limits, self.dispatch, self.secrets = hooks, limits, dispatch, secrets
        self.budget, self.staging, self.replays = budget, staging, replays
        request = TurnRequest(system="be kind", tools=self.tools.specs())
        self.assistants = assistants or always(*models, request=request)
        self._replayed: dict[str, int] = {}
        self.drafts, self.approver = RecordingDrafts(), ScriptedApprover()

    def loop(self, gateway: StoreGateway | None = None) -> TurnLoop:
        """A turn loop, of this process or of the one behind `gateway`."""
        return TurnLoop(
            gateway or self.gateway,
            self.store,
            self.clock,
            self.assistants,
            self.tools,
            approver=self.approver,
            drafts=self.drafts,
            context=self._context,
            keep=self._keep,
            hooks=self.hooks,
            limits=self.limits,
            budget=self.budget,
        )

    def dispatcher(self, owner: str = "w1", *, gateway: StoreGateway | None = None) -> Dispatcher:
        """A dispatcher with its worker."""
        worker = Worker(self.loop(gateway), self.drafts, secrets=self.secrets)
        return Dispatcher(gateway or self.gateway, EVERYTHING, worker, self.clock, owner=owner, limits=self.dispatch)

    @asynccontextmanager
    async def at_work(self, owner: str = "w1") -> AsyncIterator[Dispatcher]:
        """A running dispatcher; at the end it is stopped and must drain by itself."""
        dispatcher = self.dispatcher(owner, gateway=self.process())
        task = asyncio.create_task(dispatcher.run())
        try:
            yield dispatcher
            dispatcher.stop()
            async with asyncio.timeout(PATIENCE):
                await task
            if self.replays:
                with suppress(StoreError):  # a store that is gone for good cannot be asked
                    await self.check_replays()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def check_replays(self, *, again: bool = False) -> None:
        """Raise unless every request that was ever sent here can be made again from the log, byte for byte (D-051).

        What was found right once is left out, unless everything is looked at `again`.
        """
        changes = await self.events()
        turns = list(dict.fromkeys(each.record.turn_id for each in changes if each.record.turn_id))
        seen = {} if again else self._replayed

        def operation(tx: Transaction) -> dict[str, list[Replay]]:
            taken = {turn_id: len(tx.steps.of(turn_id)) for turn_id in turns}
            return {turn_id: replay(tx, turn_id) for turn_id, steps in taken.items() if steps > seen.get(turn_id, 0)}

        for turn_id, found in (await self.store.read(operation)).items():
            if wrong := [each.step.n for each in found if not each.is_same]:
                raise AssertionError(f"steps {wrong} of turn {turn_id} cannot be compiled again as they were sent")
            self._replayed[turn_id] = len(found)

    async def until(self, record: Record | str, *statuses: MessageStatus) -> Record:
        """The record, once it stands in one of `statuses`."""
        message_id = record if isinstance(record, str) else record.id
        async with asyncio.timeout(PATIENCE), self.gateway.listen(lambda _: True, cursor=0) as changes:
            async for change in changes:
                if change.record.id == message_id and change.record.status in statuses:
                    return change.record
        raise AssertionError("the log ended")

    async def answered(self, record: Record) -> Record:
        """The answer to a prompt, once its turn is over."""
        await self.until(record, MessageStatus.PROCESSED, MessageStatus.ERROR)
        return next(each for each in await self.turn(record) if each.kind == "answer")

    async def turn(self, record: Record | str) -> list[Record]:
        """Everything that belongs to the turn of a prompt."""
        turn_id = record if isinstance(record, str) else record.id
        return await self.store.read(lambda tx: tx.messages.turn(turn_id))

    async def _keep(self, call: Record, file: MediaBlock) -> Attachment:
        if self.staging is None:
            return Attachment(name=file.name, path=file.path, mime_type=file.mime_type)
        return await self.staging.copy(call.session_id, file, limit=FILE_BYTES)

    def _context(self, call: Record) -> ToolContext:
        return ToolContext(
            session_id=call.session_id,
            call_id=call.id,
            workspace=Path("/"),
            roots=(),
            environment={},
            secrets=frozenset(self.secrets),
            now=lambda: datetime.fromtimestamp(self.clock.now() / 1_000_000, UTC),
        )
