"""One message of a lane: sent, folded into the live status, hidden, or taken back, as its route says."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from kesoku.adapter.attempt import Failure, attempt
from kesoku.adapter.backlog import Waiting, pick
from kesoku.adapter.closing import QuestionBoard
from kesoku.adapter.core import Core
from kesoku.adapter.hearing import Hearing
from kesoku.adapter.lane import Lane
from kesoku.adapter.ledger import Ledger
from kesoku.adapter.live import LiveBoard
from kesoku.adapter.outgoing import Receipt
from kesoku.adapter.part import is_damaged
from kesoku.adapter.planner import Planner
from kesoku.adapter.route import Route, route
from kesoku.adapter.sender import SendContext, Sender, Stale, Withdrawn
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address, Record
from kesoku.messages.visibility import Visibility
from kesoku.tools.patience import retry

_DAMAGED = "a part of it can no longer be read: its row in the database is damaged"
_log = logging.getLogger(__name__)


class Showing:
    """Shows the messages of one bot. `quiet` ends typing and drafts of a turn before its answer is sent; `spawn` runs
    what nobody waits for."""

    def __init__(
        self,
        *,
        core: Core,
        visibility: Visibility,
        ledger: Ledger,
        planner: Planner,
        sender: Sender,
        live: LiveBoard | None,
        questions: QuestionBoard,
        hearing: Hearing,
        quiet: Callable[[Address, str], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._store, self._clock, self._gateway, self._visibility = core.store, core.clock, core.gateway, visibility
        self._ledger, self._planner, self._sender = ledger, planner, sender
        self._live, self._questions, self._hearing = live, questions, hearing
        self._quiet, self._spawn = quiet, spawn
        self._interrupted = Recent[str]()

    def interrupted(self, turn_id: str) -> None:
        """Nothing of a turn that waits for another attempt is sent any more."""
        self._interrupted.add(turn_id)

    async def show(self, lane: Lane, message_id: str) -> None:
        """Do what is to be done about a message that waits; nothing if it does not wait any more."""
        waiting = await self._store.read(lambda tx: pick(tx, message_id))
        if waiting is None:
            return
        record = waiting.record
        over = bool(record.turn_id and self._live and self._live.over(record.turn_id))
        turn = waiting.prompt.status if waiting.prompt else None
        course = route(record, turn=turn, over=over, visibility=self._visibility)
        if course is not Route.LEAVE and record.kind == "answer":
            await self._quiet(record.address, record.turn_id or record.id)
        match course:
            case Route.SILENT:
                hidden = await self._ledger.close(record, MessageStatus.DELIVERED, "hidden here")
                await self._hearing.delivered(hidden, ())
            case Route.FOLD:
                await self._fold(record)
            case Route.WITHDRAW:
                await self._ledger.close(record, MessageStatus.ERROR, "the turn that asks this is over")
            case Route.SEND:
                await self._send(lane, waiting)
        if record.kind == "answer" and self._live and record.turn_id:
            outcome = turn or MessageStatus.PROCESSED
            self._spawn(self._live.close(record.turn_id, outcome.value, record))

    async def _fold(self, record: Record) -> None:
        if self._live:
            folded = await attempt(self._live.fold(record))
            if isinstance(folded, Failure):
                _log.warning("message %s was not folded: %s", record.id, folded)
        await self._hearing.delivered(await self._ledger.close(record, MessageStatus.DELIVERED, "folded"), ())

    async def _send(self, lane: Lane, waiting: Waiting) -> None:
        record = waiting.record
        if waiting.spoken:
            lane.spoke.set()
        if question := getattr(record.message.content, "question", None):
            await self._questions.add(question.id)
        delivered = await self._carried(lane, waiting)
        if delivered and self._hearing.delivery:
            await self._hearing.delivered(delivered, await self._receipts(record))

    async def _receipts(self, record: Record) -> list[Receipt]:
        """Of what is out: nobody would come back to it, if the store failed now."""
        parts = await retry(
            "read the store",
            lambda: self._store.read(lambda tx: tx.deliveries.of(record.id)),
            sleep=self._clock.sleep,
        )
        return [Receipt(platform_ids=each.platform_ids) for each in parts]

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
            await self.show(lane, record.id)
        return None

    async def _lose(self, record: Record) -> None:
        """End a message of which nobody knows any more what was to be sent; the person learns that it is missing."""
        _log.error("message %s for %s was not delivered: %s", record.id, record.address, _DAMAGED)
        if await self._ledger.close(record, MessageStatus.ERROR, _DAMAGED) and record.kind == "answer":
            notice = make.notice(f"⚠️ My answer was not sent: {_DAMAGED}. Please ask me again.", reason="reply")
            await self._gateway.post(record.beside(notice))
