"""From records to committed parts: rendered once, fitted to a quota, or held because they waited too long."""

import asyncio
import logging
from collections.abc import Sequence

from kesoku.adapter.attempt import Failure, attempt
from kesoku.adapter.composer import Composer
from kesoku.adapter.core import Core
from kesoku.adapter.ledger import Ledger, Rewritten
from kesoku.adapter.outgoing import Outgoing
from kesoku.adapter.part import rows
from kesoku.adapter.sender import Withdrawn
from kesoku.adapter.spi import Adapter, Plans, State
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Delivery, DeliveryState
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Transaction
from kesoku.render import duration

_TOLD_AGAIN = 3600.0
_log = logging.getLogger(__name__)


class Planner:
    """Commits every part of a message before the first one is sent; a retry never renders again (store rule 9)."""

    def __init__(
        self,
        *,
        adapter: Adapter,
        composer: Composer,
        ledger: Ledger,
        core: Core,
        state: State,
    ) -> None:
        self._adapter, self._composer, self._ledger, self._state = adapter, composer, ledger, state
        self._store, self._clock, self._policy = core.store, core.clock, core.delivery
        self._told: dict[Address, float] = {}

    async def plan(self, record: Record, prompt: Record | None, spoke: asyncio.Event) -> list[Delivery] | None:
        """The planned parts. None if the record cannot be rendered: it is in `error` then, with the reason.

        Raises Withdrawn: the message has a next version by now.
        """
        composed = await attempt(self._composer.compose(record, prompt))
        if isinstance(composed, Failure):
            _log.error("message %s was not rendered: %s", record.id, composed, exc_info=composed.error)
            await self._ledger.close(record, MessageStatus.ERROR, f"it could not be rendered ({composed})")
            return None
        parts = await self._fitted(record.address, composed, spoke)
        try:
            return await self._ledger.plan(rows(parts, message_id=record.id, address=record.address), of=record)
        except Rewritten:
            raise Withdrawn from None

    async def hold(self, records: Sequence[Record]) -> None:
        """Hold messages of one channel that waited longer than `max_age`, and say so there once (complaint 20)."""
        address, now = records[0].address, self._clock.monotonic()
        planned: list[Delivery] = []
        for record in records:
            composed = await attempt(self._composer.compose(record, None))
            if not isinstance(composed, Failure):
                planned += rows(composed, message_id=record.id, address=address)
        notice = make.notice(self._notice(len(records)), reason="reply")
        silent = now - self._told.get(address, -_TOLD_AGAIN) < _TOLD_AGAIN

        def operation(tx: Transaction) -> bool:
            fresh = [self._held(tx, part) for part in tx.deliveries.plan(planned)]
            if any(fresh) and not silent:
                post = Post(message=notice, address=address)
                tx.messages.insert(post, session_id=records[0].session_id, at=self._clock.now())
            return any(fresh)

        if await self._store.write(operation):
            self._told[address] = now

    def _held(self, tx: Transaction, part: Delivery) -> bool:
        if part.state is not DeliveryState.PLANNED:
            return False
        reason = f"it waited longer than {duration(self._policy.max_age)}"
        now = self._clock.now()
        return bool(
            tx.deliveries.move(part.message_id, part.part, part.purpose, DeliveryState.HELD, at=now, error=reason)
        )

    def _notice(self, count: int) -> str:
        what = "An older message of mine was" if count == 1 else f"{count} older messages of mine were"
        return f"⏸️ {what} held back, after waiting for more than {duration(self._policy.max_age)}. Ask me again."

    async def _fitted(
        self, address: Address, parts: tuple[Outgoing, ...], spoke: asyncio.Event
    ) -> tuple[Outgoing, ...]:
        """The parts that the adapter's quota allows; until it allows any, wait for the person's next message."""
        if not isinstance(self._adapter, Plans):
            return parts
        while True:
            spoke.clear()
            state = await self._state.get(f"plan:{address.channel_id}")
            fitted = self._adapter.plan(address, parts, state)
            if fitted is not None:
                return fitted
            await spoke.wait()
