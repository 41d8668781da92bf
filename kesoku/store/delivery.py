"""The delivery ledger in SQL."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import and_, delete, select, update

from kesoku.messages.lifecycle import DELIVERY_TRANSITIONS, Delivery, DeliveryState, Purpose, Serving
from kesoku.messages.record import Address
from kesoku.store.cell import int_or, int_or_none, member_or
from kesoku.store.columns import equals
from kesoku.store.engine import Link, Row, plain
from kesoku.store.mapping import UNREADABLE, from_json, to_json
from kesoku.store.serving import Served
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import deliveries

_d = deliveries.c
_DELIVERY = (
    _d.seq,
    _d.message_id,
    _d.part,
    _d.purpose,
    _d.chatbot_id,
    _d.channel_id,
    _d.body,
    _d.hash,
    _d.send_key,
    _d.state,
    _d.attempts,
    _d.first_sent_at,
    _d.next_attempt_at,
    _d.platform_ids,
    _d.error,
)
_MOVABLE = ("state", "attempts", "first_sent_at", "next_attempt_at", "platform_ids", "error", "body", "hash")

_key = and_(_d.message_id == param("key_id"), _d.purpose == param("key_purpose"), _d.part == param("key_part"))
PLAN = Statement(
    insert_into(deliveries, "seq").on_conflict_do_nothing(index_elements=["message_id", "purpose", "part"]), bulky=True
)
OF = {
    purpose: Statement(
        select(*_DELIVERY).where(_d.message_id == param("message_id"), equals(_d.purpose, purpose)).order_by(_d.part)
    )
    for purpose in Purpose
}
GET = Statement(select(*_DELIVERY).where(_key))
STORE = Statement(update(deliveries).where(_key).values({name: param(name) for name in _MOVABLE}), bulky=True)
REMOVE = {
    purpose: Statement(delete(deliveries).where(_d.message_id == param("message_id"), equals(_d.purpose, purpose)))
    for purpose in Purpose
}
LIVE = Served(lambda here: select(*_DELIVERY).where(here, equals(_d.purpose, Purpose.LIVE)), deliveries)


def _in_state(state: DeliveryState) -> Served:
    final = equals(_d.purpose, Purpose.FINAL)
    return Served(lambda here: select(*_DELIVERY).where(here, equals(_d.state, state), final), deliveries)


BY_STATE = {state: _in_state(state) for state in DeliveryState}


class SqlDeliveryStore:
    """See `kesoku.ports.store.DeliveryStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def plan(self, parts: Sequence[Delivery]) -> list[Delivery]:
        """Store parts that are not there yet; returns the stored ones in the order given."""
        for part in parts:
            self._link.change(PLAN, **_row_of(part))
        stored = [self._get(part.message_id, part.purpose, part.part) for part in parts]
        return [part for part in stored if part is not None]

    def of(self, message_id: str, purpose: Purpose = Purpose.FINAL) -> list[Delivery]:
        """The parts of a message."""
        return [_delivery_of(row) for row in self._link.rows(OF[purpose], message_id=message_id)]

    def move(
        self, message_id: str, part: int, purpose: Purpose, to: DeliveryState, *, at: int, **changes: Any
    ) -> Delivery | None:
        """Compare-and-set of one part; the first move to sending also notes its time."""
        stored = self._get(message_id, purpose, part)
        if stored is None or to not in DELIVERY_TRANSITIONS[stored.state]:
            return None
        if to is DeliveryState.SENDING and stored.first_sent_at is None:
            changes.setdefault("first_sent_at", at)
        _only_movable(changes)
        moved = replace(stored, state=to, **changes)
        self.edit(moved)
        return moved

    def edit(self, delivery: Delivery) -> None:
        """Store everything about a part that may change."""
        row = _row_of(delivery)
        key = {"key_id": delivery.message_id, "key_purpose": delivery.purpose.value, "key_part": delivery.part}
        self._link.change(STORE, **key, **{name: row[name] for name in _MOVABLE})

    def remove(self, message_id: str, purpose: Purpose) -> None:
        """Forget rows."""
        self._link.change(REMOVE[purpose], message_id=message_id)

    def live(self, serving: Serving) -> list[Delivery]:
        """Live messages that are shown."""
        return [_delivery_of(row) for row in LIVE.rows(self._link, serving)]

    def by_state(self, serving: Serving, state: DeliveryState) -> list[Delivery]:
        """Parts of final messages in one state. Indexed for those of `OPEN_STATES`."""
        return [_delivery_of(row) for row in BY_STATE[state].rows(self._link, serving)]

    def _get(self, message_id: str, purpose: Purpose, part: int) -> Delivery | None:
        row = self._link.row(GET, key_id=message_id, key_purpose=purpose.value, key_part=part)
        return None if row is None else _delivery_of(row)


def _ids(cell: str | bytes) -> tuple[str, ...]:
    """What the platform called a part; nothing where that cannot be read any more."""
    try:
        return tuple(str(each) for each in from_json(cell))
    except UNREADABLE:
        return ()


def _only_movable(changes: dict[str, Any]) -> None:
    unknown = sorted(changes.keys() - set(_MOVABLE))
    if unknown:
        raise TypeError(f"a move of a delivery cannot change {', '.join(unknown)}")


def _row_of(part: Delivery) -> dict[str, Any]:
    return {
        "message_id": part.message_id,
        "purpose": part.purpose.value,
        "part": part.part,
        "chatbot_id": part.address.chatbot_id,
        "channel_id": part.address.channel_id,
        "body": part.body,
        "hash": part.hash,
        "send_key": part.send_key,
        "state": part.state.value,
        "attempts": part.attempts,
        "first_sent_at": part.first_sent_at,
        "next_attempt_at": part.next_attempt_at,
        "platform_ids": to_json(part.platform_ids),
        "error": part.error,
    }


def _delivery_of(row: Row) -> Delivery:
    _, id_, part, purpose, bot, channel, body, hash_, key, state, attempts, first, following, ids, error = row
    return Delivery(
        message_id=plain(id_),
        part=int_or(part, -1),
        purpose=member_or(Purpose, purpose, Purpose.FINAL),
        address=Address(chatbot_id=plain(bot), channel_id=plain(channel)),
        body=plain(body),
        hash=plain(hash_),
        send_key=plain(key),
        state=member_or(DeliveryState, state, DeliveryState.AMBIGUOUS),
        attempts=int_or(attempts) % 2**31,
        first_sent_at=int_or_none(first),
        next_attempt_at=int_or_none(following),
        platform_ids=_ids(ids),
        error=plain(error),
    )
