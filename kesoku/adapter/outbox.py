"""The outbox of one adapter: a snapshot of what waits, then the event log, one lane a channel (rules 9 and 12)."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn

from kesoku.adapter.attempt import STEADY, Failure, attempt, pause, stop, within
from kesoku.adapter.backlog import Backlog, Snapshot, Waiting, pick
from kesoku.adapter.closing import QuestionBoard
from kesoku.adapter.composer import Composer
from kesoku.adapter.core import Core
from kesoku.adapter.feed import DraftFeed
from kesoku.adapter.health import Health
from kesoku.adapter.lane import Lane, Lanes
from kesoku.adapter.ledger import Ledger
from kesoku.adapter.live import LiveBoard
from kesoku.adapter.manifest import Manifest
from kesoku.adapter.outgoing import Draft, Receipt
from kesoku.adapter.pace import Pacer
from kesoku.adapter.part import is_damaged
from kesoku.adapter.planner import Planner
from kesoku.adapter.route import WAITING, Route, route, visible_draft, waits
from kesoku.adapter.sender import SendContext, Sender, Stale, Withdrawn
from kesoku.adapter.spi import HearsDelivered, HearsInterrupted
from kesoku.adapter.state import StoreState
from kesoku.adapter.typist import Typist
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, ChangeKind, Serving
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address, Record
from kesoku.ports import Transaction
from kesoku.tools.patience import retry

_DAMAGED = "a part of it can no longer be read: its row in the database is damaged"
_log = logging.getLogger(__name__)


class Outbox:
    """Delivers what waits for one chatbot, once each and in order a channel, until it is cancelled.

    `serving` says which addresses of the chatbot this process works for; `health` is shared with the inbox.
    """

    def __init__(
        self,
        *,
        chatbot_id: str,
        adapter: Any,
        manifest: Manifest,
        serving: Serving,
        health: Health,
        core: Core,
    ) -> None:
        store, clock, policy, capabilities = core.store, core.clock, core.delivery, manifest.capabilities
        pacer, ledger = Pacer(clock, capabilities.pace), Ledger(store, clock)
        self._chatbot_id, self._adapter, self._manifest = chatbot_id, adapter, manifest
        self._backlog = Backlog(chatbot_id, serving)
        self._gateway, self._drafts, self._store, self._clock = core.gateway, core.drafts, store, clock
        self._policy, self._ledger = policy, ledger
        self._planner = Planner(
            adapter=adapter,
            composer=Composer(adapter=adapter, capabilities=capabilities, roots=core.roots, staging=core.staging),
            ledger=ledger,
            store=store,
            state=StoreState(store, chatbot_id),
            clock=clock,
            policy=policy,
        )
        self._sender = Sender(
            adapter=adapter,
            capabilities=capabilities,
            ledger=ledger,
            clock=clock,
            pacer=pacer,
            health=health,
            policy=policy,
        )
        self._lanes = Lanes(self._handle, clock)
        self._typist = Typist(adapter, clock, policy) if capabilities.typing else None
        self._live = (
            LiveBoard(
                adapter=adapter,
                manifest=manifest,
                store=store,
                ledger=ledger,
                sender=self._sender,
                clock=clock,
                pacer=pacer,
                policy=policy,
            )
            if capabilities.live
            else None
        )
        self._feed = DraftFeed(self._live or adapter, clock, self._caught_up) if capabilities.drafts else None
        self._questions = QuestionBoard(
            chatbot_id=chatbot_id,
            adapter=adapter,
            edits=capabilities.edits,
            store=store,
            clock=clock,
            pacer=pacer,
            policy=policy,
        )
        self._pulse = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._interrupted = Recent[str]()
        """Turns of which nothing that waits for another attempt is sent any more."""

    async def run(self) -> None:
        """Deliver until cancelled. What is under way then is resumed by the next run, by the rules of the ledger.

        A failing store ends only one reading of the log; the next one begins with a new snapshot.
        """
        unwatch = self._drafts.watch(self._on_draft, self._on_clear) if self._feed else None
        self._sender.open()
        self._questions.start()
        failures = 0
        try:
            while True:
                began = self._clock.monotonic()
                failed = await attempt(self._serve())
                failures = 1 if self._clock.monotonic() - began > STEADY else failures + 1
                _log.error("the outbox of %s reads the log again: %s", self._chatbot_id, failed)
                await self._clock.sleep(pause(failed.error, failures))
        finally:
            if unwatch:
                unwatch()
            await self._aclose()

    async def _serve(self) -> NoReturn:
        async with self._gateway.listen(self._mine) as changes:
            await self._begin(await self._store.read(self._backlog.snapshot))
            while True:
                self._follow(await anext(changes))

    def spoke(self, address: Address) -> None:
        """A person said something at this address: what is held there may go out (the inbox calls this)."""
        self._lanes.spoke(address)

    def noticed(self, question_id: str) -> None:
        """Somebody pressed a button of a question that is over (the inbox calls this): it should not be there."""
        self._questions.look(question_id)

    async def idle(self) -> None:
        """Wait until nothing is under way, for tests and an orderly end."""
        while self._tasks or len(self._lanes):
            await self._lanes.idle()
            if self._tasks:
                await asyncio.wait(set(self._tasks))

    async def drained(self) -> None:
        """Wait until every message stored so far is out, and the statuses of turns that are over are gone.

        What is held, or waits for another attempt, does not count.
        """
        while True:
            pulse = self._pulse
            if not await self._store.read(self._backlog.has_more):
                break
            await pulse.wait()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def _mine(self, change: Change) -> bool:
        return self._backlog.covers(change.record.address)

    async def _begin(self, snapshot: Snapshot) -> None:
        if self._live:
            restored = await attempt(self._live.restore(snapshot.live))
            if isinstance(restored, Failure):
                _log.error("live statuses were not restored: %s", restored)
            for each in snapshot.live:  # beside what waits: a platform in trouble must not hold all of it up
                self._spawn(self._live.settle(each.message_id))
        for prompt in snapshot.running:
            self._typing(prompt)
        stale: dict[Address, list[Record]] = {}
        for record, since in snapshot.waiting:
            if self._sender.stale(record, since):
                stale.setdefault(record.address, []).append(record)
            else:
                self._lanes.put(record.address, record.id)
        for records in stale.values():
            held = await attempt(self._planner.hold(records))
            if isinstance(held, Failure):
                _log.error("old messages for %s were not held: %s", records[0].address, held)

    def _follow(self, change: Change) -> None:
        record = change.record
        if change.kind is ChangeKind.INSERTED and record.status in WAITING:
            self._lanes.put(record.address, record.id)
        elif change.kind is ChangeKind.MOVED and change.after is MessageStatus.PROCESSING:
            self._typing(record)
        elif change.kind is ChangeKind.MOVED and change.before is MessageStatus.PROCESSING:
            if change.after is MessageStatus.INTERRUPTED:
                self._interrupted.add(_turn(record))
            self._spawn(self._over(record, change.after or record.status))

    def _typing(self, prompt: Record) -> None:
        if self._typist and prompt.status is MessageStatus.PROCESSING:
            self._spawn(self._typist.begin(prompt.address, _turn(prompt)))

    async def _over(self, prompt: Record, outcome: MessageStatus) -> None:
        """A turn ended, or was taken back and will run again."""
        turn_id = _turn(prompt)
        await self._quiet(prompt.address, turn_id, for_good=outcome is not MessageStatus.PENDING_AGENT)
        if outcome is MessageStatus.PENDING_AGENT:
            return
        if self._live and not await self._answered_later(turn_id):
            await self._live.close(turn_id, outcome.value)
        if (
            outcome is MessageStatus.INTERRUPTED
            and turn_id == prompt.id
            and isinstance(self._adapter, HearsInterrupted)
        ):
            await self._hook(self._adapter.interrupted(turn_id, prompt.address))

    async def _answered_later(self, turn_id: str) -> bool:
        turn = await self._read(lambda tx: tx.messages.turn(turn_id))
        return any(record.kind == "answer" and record.status in WAITING for record in turn)

    async def _quiet(self, address: Address, turn_id: str, *, for_good: bool = True) -> None:
        """Typing and drafts of a turn end before its answer is sent."""
        if self._typist:
            await self._typist.end(address, turn_id)
        if self._feed and for_good:
            await self._feed.end(turn_id)

    async def _caught_up(self, turn_id: str) -> None:
        """Wait until nothing that a turn said waits any more."""
        while True:
            pulse = self._pulse
            turn = await self._store.read(lambda tx: tx.messages.turn(turn_id))
            if not any(waits(record) for record in turn):
                return
            await pulse.wait()

    async def _handle(self, lane: Lane, message_id: str) -> None:
        await self._show(lane, message_id)
        self._pulse.set()
        self._pulse = asyncio.Event()

    async def _show(self, lane: Lane, message_id: str) -> None:
        waiting = await self._store.read(lambda tx: pick(tx, message_id))
        if waiting is None:
            return
        record = waiting.record
        over = bool(record.turn_id and self._live and self._live.over(record.turn_id))
        turn = waiting.prompt.status if waiting.prompt else None
        course = route(record, turn=turn, over=over, visibility=self._manifest.visibility)
        if course is not Route.LEAVE and record.kind == "answer":
            await self._quiet(record.address, record.turn_id or record.id)
        match course:
            case Route.SILENT:
                await self._delivered(await self._ledger.close(record, MessageStatus.DELIVERED, "hidden here"), ())
            case Route.FOLD:
                await self._fold(record)
            case Route.WITHDRAW:
                await self._ledger.close(record, MessageStatus.ERROR, "the turn that asks this is over")
            case Route.SEND:
                await self._send(lane, waiting)
        if record.kind == "answer" and self._live and record.turn_id:
            outcome = turn or MessageStatus.PROCESSED
            self._spawn(self._live.close(record.turn_id, outcome.value, record))

    async def _read(self, operation: Callable[[Transaction], list[Any]]) -> list[Any]:
        """For what comes behind a change that is stored: nobody would come back to it."""
        return await retry("read the store", lambda: self._store.read(operation), sleep=self._clock.sleep)

    async def _fold(self, record: Record) -> None:
        if self._live:
            folded = await attempt(self._live.fold(record))
            if isinstance(folded, Failure):
                _log.warning("message %s was not folded: %s", record.id, folded)
        await self._delivered(await self._ledger.close(record, MessageStatus.DELIVERED, "folded"), ())

    async def _send(self, lane: Lane, waiting: Waiting) -> None:
        record = waiting.record
        if waiting.spoken:
            lane.spoke.set()
        delivered = await self._carried(lane, waiting)
        if delivered and (question := getattr(record.message.content, "question", None)):
            await self._questions.add(question.id)
        if delivered and isinstance(self._adapter, HearsDelivered):
            parts = await self._read(lambda tx: tx.deliveries.of(record.id))
            await self._delivered(delivered, [Receipt(platform_ids=each.platform_ids) for each in parts])

    async def _carried(self, lane: Lane, waiting: Waiting) -> Record | None:
        record = waiting.record
        ends = record.status is MessageStatus.RESPONDED or getattr(record.message.content, "question", None)
        context = SendContext(
            record=record,
            since=waiting.since,
            spoke=lane.spoke,
            withdrawn=lambda: bool(ends) and record.turn_id in self._interrupted,
        )
        try:
            self._sender.check(context)
            if any(map(is_damaged, waiting.parts)):
                await self._lose(record)
                return None
            parts = list(waiting.parts) or await self._planner.plan(record, waiting.prompt, lane.spoke)
            return None if parts is None else await self._sender.deliver(context, record, parts)
        except Stale:
            await self._planner.hold([record])
        except Withdrawn:
            await self._show(lane, record.id)
        return None

    async def _lose(self, record: Record) -> None:
        """End a message of which nobody knows any more what was to be sent; the person learns that it is missing."""
        _log.error("message %s for %s was not delivered: %s", record.id, record.address, _DAMAGED)
        if await self._ledger.close(record, MessageStatus.ERROR, _DAMAGED) and record.kind == "answer":
            notice = make.notice(f"⚠️ My answer was not sent: {_DAMAGED}. Please ask me again.", reason="reply")
            await self._gateway.post(record.beside(notice))

    async def _delivered(self, record: Record | None, receipts: Sequence[Receipt]) -> None:
        """The hook runs once: only the move that won returns the record (K-154)."""
        if record and isinstance(self._adapter, HearsDelivered):
            await self._hook(self._adapter.delivered(record, receipts))

    async def _hook(self, call: Coroutine[Any, Any, None]) -> None:
        result = await attempt(within(self._clock, self._policy.send_timeout, call))
        if isinstance(result, Failure):
            _log.warning("a hook of the adapter %s failed: %s", self._chatbot_id, result)

    def _on_draft(self, address: Address, draft: Draft) -> None:
        shown = visible_draft(draft, self._manifest.visibility)
        if shown and self._feed and self._backlog.covers(address):
            self._feed.put(address, shown)

    def _on_clear(self, turn_id: str) -> None:
        if self._feed:
            self._feed.clear(turn_id)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            result = await attempt(work)
            if isinstance(result, Failure):
                _log.error("%s: %s", self._chatbot_id, result, exc_info=result.error)

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Cancelled before its first step, a task leaves its work unawaited.
        task.add_done_callback(lambda _: work.close())

    async def _aclose(self) -> None:
        await self._sender.drain()
        await self._lanes.aclose()
        for task in tuple(self._tasks):
            await stop(task)
        for each in (self._feed, self._live, self._typist, self._questions):
            if each:
                await each.aclose()


def _turn(prompt: Record) -> str:
    return prompt.turn_id or prompt.id
