"""The ledger of what goes out: every step of a part is committed before the outbox goes on (store rule 9)."""

from collections.abc import Awaitable, Sequence, Set
from dataclasses import replace
from typing import Any

from kesoku.adapter.outgoing import Receipt
from kesoku.errors import DeliveryConflict
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Delivery, DeliveryState, Purpose, Serving
from kesoku.messages.record import Address, Record
from kesoku.messages.status import sources_of
from kesoku.ports import Clock, Store, Transaction
from kesoku.tools.patience import retry

ACTOR = "outbox"
_SENT_AGAIN = 1.0
"""Seconds until a receipt that the store did not take is stored again; nobody else has it."""


def waiting_since(tx: Transaction, record: Record) -> int:
    """When an outgoing message began to wait, in microseconds: at its creation, which an import may date back."""
    log = tx.events.of(record.id)
    created = round(record.message.created_at * 1e6)
    return min(created, log[0].at) if log else created


class Rewritten(Exception):
    """A message says something else than what was rendered."""


class Ledger:
    """Writes delivery rows and, with the last of them, the status of the message. One transaction a method."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def plan(self, parts: Sequence[Delivery], *, of: Record | None = None) -> list[Delivery]:
        """Store all parts at once; those that are there already stay as they are.

        Raises Rewritten: `of`, the message that they say, has a next version by now.
        """

        def operation(tx: Transaction) -> list[Delivery]:
            now = None if of is None else tx.messages.get(of.id)
            if of is not None and now is not None and now.message.version != of.message.version:
                raise Rewritten
            return tx.deliveries.plan(parts)

        return await self._store.write(operation)

    async def move(self, part: Delivery, to: DeliveryState, **changes: Any) -> Delivery:
        """The part in its next state. Raises DeliveryConflict if it is not where it was read.

        A store that is away is waited for: whoever goes on in doubt would spend the one blind retry on it.
        """
        first = iter([True])

        def write() -> Awaitable[Delivery]:
            again = not next(first, False)
            return self._store.write(lambda tx: self._moved(tx, part, to, changes, again=again))

        return await retry("note a step of a delivery", write, sleep=self._clock.sleep, pause=_SENT_AGAIN)

    async def sent(self, part: Delivery, receipt: Receipt, *, closes: Record | None) -> tuple[Delivery, Record | None]:
        """The platform took it; `closes` is the record that is delivered with this part, moved in the same commit.

        Returns the part and the delivered record, None if the record stays as it was. A store that is full or locked is
        waited for: whoever forgot the receipt would send once more.
        """

        def operation(tx: Transaction) -> tuple[Delivery, Record | None]:
            for known in tx.deliveries.of(part.message_id, part.purpose):
                # Noted by an earlier try whose outcome was not seen.
                if known.part == part.part and known.platform_ids == receipt.platform_ids != ():
                    return known, closes and tx.messages.get(closes.id)
            after = self._moved(tx, part, DeliveryState.SENT, {"platform_ids": receipt.platform_ids})
            if part.purpose is Purpose.FINAL:
                tx.messages.add_keys(part.address.chatbot_id, receipt.platform_ids, part.message_id)
            if closes is None:
                return after, None
            return after, self._closed(tx, closes, MessageStatus.DELIVERED, "sent")

        return await retry(
            "note what was sent", lambda: self._store.write(operation), sleep=self._clock.sleep, pause=_SENT_AGAIN
        )

    async def first_free(self, address: Address, found: Sequence[Receipt]) -> Receipt | None:
        """The first of these messages on the platform that is no other part and no live status of ours."""

        def operation(tx: Transaction) -> Receipt | None:
            shown = tx.deliveries.live(Serving(addresses=frozenset({address})))
            taken = {each for live in shown for each in live.platform_ids}
            return next((each for each in found if _is_free(tx, address, each, taken)), None)

        return await self._store.read(operation)

    async def close(self, record: Record, to: MessageStatus, reason: str) -> Record | None:
        """Move the message itself; None if it was moved before, or cannot get there (a thought that was refused)."""
        return await self._store.write(lambda tx: self._closed(tx, record, to, reason))

    async def edit(self, live: Delivery, *, shown: Delivery) -> None:
        """Store what a live message shows in the place of what it has `shown`, unless somebody overwrote that: its
        words may have been redacted."""

        def operation(tx: Transaction) -> None:
            if any(each.hash == shown.hash for each in tx.deliveries.of(live.message_id, live.purpose)):
                tx.deliveries.edit(live)

        await self._store.write(operation)

    async def forget(self, live: Delivery) -> None:
        """A live message is gone."""
        await self._store.write(lambda tx: tx.deliveries.remove(live.message_id, live.purpose))

    def _moved(
        self, tx: Transaction, part: Delivery, to: DeliveryState, changes: dict[str, Any], *, again: bool = False
    ) -> Delivery:
        """`again`: an earlier try, whose outcome was not seen, may have moved it already."""
        done = replace(part, state=to, **changes)
        if again and done in tx.deliveries.of(part.message_id, part.purpose):
            return done
        after = tx.deliveries.move(part.message_id, part.part, part.purpose, to, at=self._clock.now(), **changes)
        if after is None:
            raise DeliveryConflict(message_id=part.message_id, part=part.part, state=part.state, to=to)
        return after

    def _closed(self, tx: Transaction, record: Record, to: MessageStatus, reason: str) -> Record | None:
        return tx.messages.move(record.id, to, sources_of(to), actor=ACTOR, reason=reason, at=self._clock.now())


def _is_free(tx: Transaction, address: Address, found: Receipt, taken: Set[str]) -> bool:
    ids = found.platform_ids
    return bool(ids) and taken.isdisjoint(ids) and tx.messages.find(address.chatbot_id, ids) is None
