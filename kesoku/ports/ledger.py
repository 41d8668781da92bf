"""What goes out and what people are asked, and small values beside it, as one transaction sees them."""

from collections.abc import Sequence
from typing import Any, Protocol

from kesoku.messages.lifecycle import Asked, Delivery, DeliveryState, Purpose, Serving
from kesoku.messages.record import Address


class DeliveryStore(Protocol):
    """The ledger of what goes out, one row a part."""

    def plan(self, parts: Sequence[Delivery]) -> list[Delivery]:
        """Store all parts of a message at once; parts that are there already stay as they are. Returns the stored."""
        ...

    def of(self, message_id: str, purpose: Purpose = Purpose.FINAL) -> list[Delivery]:
        """The parts of a message, in order."""
        ...

    def move(
        self, message_id: str, part: int, purpose: Purpose, to: DeliveryState, *, at: int, **changes: Any
    ) -> Delivery | None:
        """Compare-and-set along DELIVERY_TRANSITIONS. `changes`: attempts, next_attempt_at, platform_ids, error, ..."""
        ...

    def edit(self, delivery: Delivery) -> None:
        """Store a live message's new body and platform ids (N-18)."""
        ...

    def remove(self, message_id: str, purpose: Purpose) -> None:
        """Forget the rows of a live message that is gone."""
        ...

    def live(self, serving: Serving) -> list[Delivery]:
        """Live messages that are still shown."""
        ...

    def by_state(self, serving: Serving, state: DeliveryState) -> list[Delivery]:
        """Parts of final messages in one state, oldest first."""
        ...


class StateStore(Protocol):
    """Small durable values: cursors of adapters and hooks, approvals."""

    def get(self, scope: str, key: str) -> Any:
        """The JSON value, or None."""
        ...

    def set(self, scope: str, key: str, value: Any) -> None:
        """Store a JSON value; None deletes."""
        ...


class QuestionStore(Protocol):
    """Questions that wait for a person."""

    def add(self, asked: Asked) -> None:
        """Store a question."""
        ...

    def get(self, question_id: str) -> Asked | None:
        """The question, or None."""
        ...

    def open(self, address: Address) -> list[Asked]:
        """Unanswered questions of a channel, oldest first."""
        ...

    def answer(self, question_id: str, *, choice: str, by: str, at: int) -> bool:
        """Answer once; False if it was answered before (compare-and-set)."""
        ...
