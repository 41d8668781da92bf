"""What waits for one chatbot, read from the store: the start of an outbox, and one message as it is picked up."""

from collections.abc import Sequence
from dataclasses import dataclass

from kesoku.adapter.ledger import waiting_since
from kesoku.adapter.route import RUNNING, answer_waits
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Delivery, DeliveryState, Serving
from kesoku.messages.record import Address, Record
from kesoku.ports import Transaction

_LOOK_BACK = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What an outbox begins with."""

    waiting: list[tuple[Record, int]]
    """With the times since when they wait."""
    live: list[Delivery]
    running: list[Record]
    """Prompts whose turns run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A message as it stands when it is picked up."""

    record: Record
    prompt: Record | None
    parts: tuple[Delivery, ...]
    since: int
    """When it began to wait."""
    spoken: bool
    """Whether it is held, and a person said something in the channel after it was stored."""


class Backlog:
    """Reads what concerns the addresses of one chatbot for which this process works. Its methods are operations."""

    def __init__(self, chatbot_id: str, serving: Serving) -> None:
        self._chatbot_id, self._serving = chatbot_id, serving

    def covers(self, address: Address) -> bool:
        """Whether what is for this address is delivered here."""
        return address.chatbot_id == self._chatbot_id and self._serving.covers(address)

    def snapshot(self, tx: Transaction) -> Snapshot:
        """All that waits, is live or runs."""
        held = tx.leases.held()
        prompts = [tx.messages.get(lease.message_id) for lease in held if lease.message_id]
        return Snapshot(
            waiting=[
                (each, waiting_since(tx, each))
                for each in tx.messages.waiting(self._serving)
                if self.covers(each.address)
            ],
            live=[each for each in tx.deliveries.live(self._serving) if self.covers(each.address)],
            running=[each for each in prompts if each and self.covers(each.address)],
        )

    def has_more(self, tx: Transaction) -> bool:
        """Whether a message waits that is neither held nor waits for another attempt, or the status of a turn that is
        over still stands there."""
        if any(
            _is_over(tx, each.message_id) for each in tx.deliveries.live(self._serving) if self.covers(each.address)
        ):
            return True
        pending = (each for each in tx.messages.waiting(self._serving) if each.status is MessageStatus.PENDING)
        parts = [tx.deliveries.of(each.id) for each in pending if self.covers(each.address)]
        return not all(any(part.state is DeliveryState.HELD or part.next_attempt_at for part in each) for each in parts)


def _is_over(tx: Transaction, turn_id: str) -> bool:
    """Whether a turn has ended and all its answers are out."""
    turn = tx.messages.turn(turn_id)
    runs = any(each.id == turn_id and each.status in RUNNING for each in turn)
    return not runs and not answer_waits(turn)


def pick(tx: Transaction, message_id: str) -> Waiting | None:
    """A message with all that its delivery depends on; None if it is not there."""
    record = tx.messages.get(message_id)
    if record is None:
        return None
    parts = tuple(tx.deliveries.of(message_id))
    held = any(part.state is DeliveryState.HELD for part in parts)
    return Waiting(
        record=record,
        prompt=tx.messages.get(record.turn_id) if record.turn_id else None,
        parts=parts,
        since=waiting_since(tx, record),
        spoken=held and _spoken(tx.messages.tail(record.session_id, _LOOK_BACK), record),
    )


def _spoken(tail: Sequence[Record], record: Record) -> bool:
    """Whether a person said something in the channel behind this record."""
    return any(each.seq > record.seq and each.address == record.address and each.kind == "user_prompt" for each in tail)
