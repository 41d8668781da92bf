"""The outbox of one adapter: a snapshot of what waits, then the event log, one lane a channel (rules 9 and 12)."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, NoReturn

from kesoku.adapter.attempt import STEADY, Failure, attempt, pause, stop
from kesoku.adapter.backlog import Backlog, Snapshot
from kesoku.adapter.closing import QuestionBoard
from kesoku.adapter.composer import Composer
from kesoku.adapter.core import Core
from kesoku.adapter.feed import DraftFeed
from kesoku.adapter.health import Health
from kesoku.adapter.hearing import Hearing
from kesoku.adapter.lane import Lane, Lanes
from kesoku.adapter.ledger import Ledger
from kesoku.adapter.live import LiveBoard
from kesoku.adapter.manifest import Manifest
from kesoku.adapter.outgoing import Draft
from kesoku.adapter.pace import Pacer
from kesoku.adapter.planner import Planner
from kesoku.adapter.route import WAITING, answer_waits, visible_draft, waits
from kesoku.adapter.sender import Sender
from kesoku.adapter.showing import Showing
from kesoku.adapter.state import StoreState
from kesoku.adapter.typist import Typist
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, ChangeKind, Serving
from kesoku.messages.record import Address, Record
from kesoku.tools.patience import retry

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
        can, clock, ledger = manifest.capabilities, core.clock, Ledger(core.store, core.clock)
        pacer = Pacer(clock, can.pace)
        composer = Composer(adapter=adapter, capabilities=can, roots=core.roots, staging=core.staging, mask=core.mask)
        self._chatbot_id, self._visibility = chatbot_id, manifest.visibility
        self._backlog = Backlog(chatbot_id, serving)
        self._gateway, self._drafts, self._store, self._clock = core.gateway, core.drafts, core.store, clock
        self._planner = Planner(
            adapter=adapter, composer=composer, ledger=ledger, state=StoreState(core.store, chatbot_id), core=core
        )
        self._sender = Sender(adapter=adapter, capabilities=can, ledger=ledger, pacer=pacer, health=health, core=core)
        self._lanes = Lanes(self._handle, clock)
        self._typist = Typist(adapter, clock, core.delivery) if can.typing else None
        live = LiveBoard(adapter=adapter, manifest=manifest, ledger=ledger, sender=self._sender, pacer=pacer, core=core)
        self._live = live if can.live else None
        self._feed = DraftFeed(self._live or adapter, clock, self._caught_up) if can.drafts else None
        self._questions = QuestionBoard(chatbot_id=chatbot_id, adapter=adapter, edits=can.edits, pacer=pacer, core=core)
        self._hearing = Hearing(chatbot_id=chatbot_id, adapter=adapter, core=core)
        self._showing = Showing(
            core=core,
            visibility=manifest.visibility,
            ledger=ledger,
            planner=self._planner,
            sender=self._sender,
            live=self._live,
            questions=self._questions,
            hearing=self._hearing,
            quiet=self._quiet,
            spawn=self._spawn,
        )
        self._pulse = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

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
                self._showing.interrupted(_turn(record))
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
        if outcome is MessageStatus.INTERRUPTED and turn_id == prompt.id:
            await self._hearing.interrupted(turn_id, prompt.address)

    async def _answered_later(self, turn_id: str) -> bool:
        """Whether its answer waits. Nobody would come back to the end of a turn, if the store failed now."""
        turn = await retry(
            "read the store",
            lambda: self._store.read(lambda tx: tx.messages.turn(turn_id)),
            sleep=self._clock.sleep,
        )
        return answer_waits(turn)

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
        await self._showing.show(lane, message_id)
        self._beat()

    def _on_draft(self, address: Address, draft: Draft) -> None:
        shown = visible_draft(draft, self._visibility)
        if shown and self._feed and self._backlog.covers(address):
            self._feed.put(address, shown)

    def _on_clear(self, turn_id: str) -> None:
        if self._feed:
            self._feed.clear(turn_id)

    def _beat(self) -> None:
        """Something was done: whoever waits may look again."""
        self._pulse.set()
        self._pulse = asyncio.Event()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            result = await attempt(work)
            if isinstance(result, Failure):
                _log.error("%s: %s", self._chatbot_id, result, exc_info=result.error)
            self._beat()

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
