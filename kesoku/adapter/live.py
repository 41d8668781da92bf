"""Live statuses: the records of a running turn folded into one message that is edited in place (N-18, K-157, K-159).

The drawing of a turn is a pure function of its records, so it is built again after a restart; the ledger keeps which
message shows it, so that a message left over is edited or removed (complaint 94).
"""

import asyncio
import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kesoku.adapter.attempt import Failure, attempt, backoff, stop, within
from kesoku.adapter.core import Core
from kesoku.adapter.ledger import Ledger
from kesoku.adapter.manifest import Manifest
from kesoku.adapter.outgoing import Draft, Outgoing, Tick, TurnEnd
from kesoku.adapter.pace import Pacer
from kesoku.adapter.part import decode, encode, row
from kesoku.adapter.route import RUNNING, answer_waits
from kesoku.adapter.sender import SendContext, Sender, Withdrawn
from kesoku.adapter.spi import Deletes, Edits, Finds, Live
from kesoku.errors import Refused, RetryLater
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Delivery, DeliveryState, Purpose
from kesoku.messages.masked import masked_record
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address, Record
from kesoku.messages.visibility import Presentation
from kesoku.ports import Transaction
from kesoku.tools.patience import retry

_DRAWN = frozenset({Presentation.LIVE, Presentation.FOLDED})
_LONGEST = 60.0
"""Seconds between two tries at most: one of them takes an outage to be over."""
_PATIENCE = 3.0
"""Seconds that an edit under way has to end when its turn is over."""
_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Bar:
    turn_id: str
    address: Address
    state: Any = None
    row: Delivery | None = None
    shown: str = ""
    failures: int = 0
    refused: bool = False
    """It cannot be drawn any more."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    dirty: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class LiveBoard:
    """The live statuses of one adapter. Each is painted by a task of its own, at the platform's pace."""

    def __init__(
        self,
        *,
        adapter: Any,
        manifest: Manifest,
        core: Core,
        ledger: Ledger,
        sender: Sender,
        pacer: Pacer,
    ) -> None:
        self._adapter, self._manifest, self._ledger, self._sender, self._pacer = (
            adapter,
            manifest,
            ledger,
            sender,
            pacer,
        )
        self._store, self._clock, self._policy, self._mask = core.store, core.clock, core.delivery, core.mask
        self._drawer: Live = adapter
        self._bars: dict[str, _Bar] = {}
        self._making = asyncio.Lock()
        self._over = Recent[str]()

    def over(self, turn_id: str) -> bool:
        """Whether the live status of this turn was closed."""
        return turn_id in self._over

    async def fold(self, record: Record) -> None:
        """Take a record into the drawing of its turn."""
        await self._take(record.turn_id or record.id, record.address, record)

    async def draft(self, address: Address, draft: Draft) -> None:
        """Take a running reply into the drawing of its turn."""
        await self._take(draft.turn_id, address, draft)

    async def close(self, turn_id: str, outcome: str, answer: Record | None = None) -> None:
        """The turn is over: leave what the adapter wants to stay, or remove the message."""
        self._over.add(turn_id)
        async with self._making:
            bar = self._bars.pop(turn_id, None)
        if bar is None:
            return
        bar.closing.set()
        bar.dirty.set()
        if bar.task:
            # A first send that is cut off may still arrive, where nobody looks for it any more.
            patience = _PATIENCE if bar.row and bar.row.platform_ids else self._policy.send_timeout
            await attempt(within(self._clock, patience, _ended(bar.task)))
            await stop(bar.task)
        await self._leave(bar, TurnEnd(turn_id=turn_id, outcome=outcome, answer=answer))

    async def restore(self, rows: Iterable[Delivery]) -> None:
        """Take over the live statuses that an earlier process left; each is to be settled then."""
        for each in rows:
            await self._bar(each.message_id, each.address)

    async def settle(self, turn_id: str) -> None:
        """Go on with the live status of a turn that runs, or whose answer is not out yet; close that of another one."""
        turn = await self._store.read(lambda tx: tx.messages.turn(turn_id))
        status = next((record.status for record in turn if record.id == turn_id), MessageStatus.ERROR)
        answers = [record for record in turn if record.kind == "answer"]
        if status not in RUNNING and not answer_waits(turn):
            await self.close(turn_id, status.value, answers[-1] if answers else None)

    async def aclose(self) -> None:
        """Stop painting; the messages stay for the next process."""
        for bar in tuple(self._bars.values()):
            if bar.task:
                await stop(bar.task)

    async def _take(self, turn_id: str, address: Address, item: Record | Draft | Tick) -> None:
        bar = await self._bar(turn_id, address)
        if bar is not None:
            self._fold(bar, item)

    def _fold(self, bar: _Bar, item: Record | Draft | Tick) -> None:
        shown = masked_record(item, self._mask) if isinstance(item, Record) else item
        bar.state = self._drawer.fold(bar.state, shown)
        bar.dirty.set()

    async def _bar(self, turn_id: str, address: Address) -> _Bar | None:
        async with self._making:
            if turn_id in self._over:
                return None
            if turn_id not in self._bars:
                bar = await self._made(turn_id, address)
                self._bars[turn_id] = bar
                bar.task = asyncio.create_task(self._paint(bar))
            return self._bars[turn_id]

    async def _made(self, turn_id: str, address: Address) -> _Bar:
        def look(tx: Transaction) -> tuple[list[Record], list[Delivery]]:
            return tx.messages.turn(turn_id), tx.deliveries.of(turn_id, Purpose.LIVE)

        records, rows = await self._store.read(look)
        bar = _Bar(turn_id=turn_id, address=address, row=rows[0] if rows else None)
        if bar.row and bar.row.state is DeliveryState.SENT:
            bar.shown = bar.row.body
        for record in records:
            drawn = self._manifest.visibility.of(record.message) in _DRAWN and record.kind not in {
                "user_prompt",
                "answer",
            }
            if drawn and record.status is MessageStatus.DELIVERED:
                self._fold(bar, record)
        return bar

    async def _paint(self, bar: _Bar) -> None:
        while not bar.closing.is_set() and not bar.refused:
            waited = await attempt(within(self._clock, self._policy.tick, bar.dirty.wait()))
            bar.dirty.clear()
            drawn = await attempt(self._draw(bar, tick=isinstance(waited, Failure)))
            await attempt(within(self._clock, self._rest(bar, drawn), bar.closing.wait()))

    def _rest(self, bar: _Bar, drawn: Failure | None) -> float:
        if not isinstance(drawn, Failure):
            bar.failures = 0
            return self._policy.live_every
        if isinstance(drawn.error, Withdrawn):
            return 0.0
        bar.dirty.set()
        bar.failures, bar.refused = bar.failures + 1, isinstance(drawn.error, Refused)
        _log.warning("the live status of turn %s was not drawn: %s", bar.turn_id, drawn)
        return _pause(drawn, bar.failures)

    async def _draw(self, bar: _Bar, *, tick: bool) -> None:
        if tick:
            bar.state = self._drawer.fold(bar.state, Tick(now=self._clock.now() / 1e6))
        await self._pacer.slot(bar.address)
        if bar.closing.is_set():
            return
        drawing = self._drawer.draw(bar.state, self._clock.now() / 1e6)
        if encode(drawing) == bar.shown or not drawing.says:
            return
        if bar.row is None or not bar.row.platform_ids:
            await self._first(bar, drawing)
        else:
            await self._edit(bar, bar.row, drawing)

    async def _first(self, bar: _Bar, drawing: Outgoing) -> None:
        planned = row(drawing, message_id=bar.turn_id, address=bar.address, part=0, purpose=Purpose.LIVE)
        (bar.row,) = await self._ledger.plan([bar.row or planned])
        bar.row, _ = await self._sender.carry(SendContext(withdrawn=bar.closing.is_set), bar.row)
        if not bar.row.platform_ids:
            raise Refused(reason=bar.row.error or "not sent")
        bar.shown = bar.row.body
        bar.dirty.set()

    async def _edit(self, bar: _Bar, shown: Delivery, drawing: Outgoing) -> None:
        edits: Edits = self._adapter
        call = edits.edit(bar.address, shown.platform_ids[0], drawing)
        await within(self._clock, self._policy.send_timeout, call)
        bar.shown = encode(drawing)
        edited = replace(shown, body=bar.shown, hash=hashlib.sha256(bar.shown.encode()).hexdigest())
        await self._ledger.edit(edited, shown=shown)
        bar.row = edited

    async def _leave(self, bar: _Bar, end: TurnEnd) -> None:
        for each in await retry("close a live status", lambda: self._rows(bar), sleep=self._clock.sleep):
            if await self._gone(bar, each, end):
                await retry("forget a live status", partial(self._ledger.forget, each), sleep=self._clock.sleep)

    async def _gone(self, bar: _Bar, each: Delivery, end: TurnEnd) -> bool:
        """Go on until a live message is gone; False where that is refused, which the next process tries again."""
        tries = 0
        while isinstance(done := await attempt(self._finish(bar, each, end)), Failure):
            tries += 1
            _log.warning("the live status of turn %s was not closed: %s", bar.turn_id, done)
            if isinstance(done.error, Refused):
                return False
            await self._clock.sleep(_pause(done, tries))
        return True

    async def _rows(self, bar: _Bar) -> list[Delivery]:
        return await self._store.read(lambda tx: tx.deliveries.of(bar.turn_id, Purpose.LIVE))

    async def _finish(self, bar: _Bar, each: Delivery, end: TurnEnd) -> None:
        ids = each.platform_ids or await self._lost(each)
        last = self._drawer.close(bar.state, end)
        if not ids or (last is not None and encode(last) == bar.shown):
            return
        await self._pacer.slot(bar.address)
        if last is not None:
            edits: Edits = self._adapter
            await within(self._clock, self._policy.send_timeout, edits.edit(bar.address, ids[0], last))
        elif self._manifest.capabilities.deletes:
            deletes: Deletes = self._adapter
            await within(self._clock, self._policy.send_timeout, deletes.delete(bar.address, ids[0]))

    async def _lost(self, each: Delivery) -> tuple[str, ...]:
        """The ids of a live message whose sending was cut off, if the platform can be asked."""
        if each.first_sent_at is None or not self._manifest.capabilities.find:
            return ()
        finds: Finds = self._adapter
        found = await finds.find(each.address, decode(each.body), each.send_key, each.first_sent_at / 1e6)
        free = await self._ledger.first_free(each.address, found)
        return free.platform_ids if free else ()


def _pause(failed: Failure, tries: int) -> float:
    """Seconds until the next try: those that the platform named, else more from time to time."""
    after = failed.error.after if isinstance(failed.error, RetryLater) else None
    return backoff(tries, longest=_LONGEST) if after is None else after


async def _ended(task: "asyncio.Task[None]") -> None:
    await asyncio.wait({task})
