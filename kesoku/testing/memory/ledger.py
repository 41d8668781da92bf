"""Deliveries, small state and questions in memory."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kesoku.messages.lifecycle import DELIVERY_TRANSITIONS, Asked, Delivery, DeliveryState, Purpose, Serving
from kesoku.messages.record import Address
from kesoku.testing.memory.table import Tables, conflict


class MemoryDeliveries:
    """`DeliveryStore` over a dict."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def plan(self, parts: Sequence[Delivery]) -> list[Delivery]:
        """See the port."""
        stored = []
        for each in parts:
            key = (each.message_id, each.purpose, each.part)
            stored.append(self._tables.deliveries.get(key) or self._tables.deliveries.put(key, each))
        return stored

    def of(self, message_id: str, purpose: Purpose = Purpose.FINAL) -> list[Delivery]:
        """See the port."""
        mine = [e for e in self._tables.deliveries.values() if (e.message_id, e.purpose) == (message_id, purpose)]
        return sorted(mine, key=lambda each: each.part)

    def move(
        self, message_id: str, part: int, purpose: Purpose, to: DeliveryState, *, at: int, **changes: Any
    ) -> Delivery | None:
        """See the port."""
        key = (message_id, purpose, part)
        stored = self._tables.deliveries.get(key)
        if stored is None or to not in DELIVERY_TRANSITIONS[stored.state]:
            return None
        if to is DeliveryState.SENDING and stored.first_sent_at is None:
            changes = {"first_sent_at": at, **changes}
        return self._tables.deliveries.put(key, replace(stored, state=to, **changes))

    def edit(self, delivery: Delivery) -> None:
        """See the port."""
        self._tables.deliveries.put((delivery.message_id, delivery.purpose, delivery.part), delivery)

    def remove(self, message_id: str, purpose: Purpose) -> None:
        """See the port."""
        for each in self.of(message_id, purpose):
            self._tables.deliveries.drop((message_id, purpose, each.part))

    def live(self, serving: Serving) -> list[Delivery]:
        """See the port."""
        return [e for e in self._tables.deliveries.values() if e.purpose is Purpose.LIVE and serving.covers(e.address)]

    def by_state(self, serving: Serving, state: DeliveryState) -> list[Delivery]:
        """See the port."""
        return [
            each
            for each in self._tables.deliveries.values()
            if each.purpose is Purpose.FINAL and each.state is state and serving.covers(each.address)
        ]


class MemoryState:
    """`StateStore` over a dict; values pass through JSON, as in the database."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self, scope: str, key: str) -> Any:
        """See the port."""
        stored = self._tables.state.get((scope, key))
        return None if stored is None else json.loads(stored)

    def set(self, scope: str, key: str, value: Any) -> None:
        """See the port."""
        if value is None:
            self._tables.state.drop((scope, key))
        else:
            self._tables.state.put((scope, key), json.dumps(value))


class MemoryQuestions:
    """`QuestionStore` over a dict."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, asked: Asked) -> None:
        """See the port."""
        if asked.question.id in self._tables.questions:
            raise conflict("one question an id", asked.question.id)
        self._tables.questions.put(asked.question.id, asked)

    def get(self, question_id: str) -> Asked | None:
        """See the port."""
        return self._tables.questions.get(question_id)

    def open(self, address: Address) -> list[Asked]:
        """See the port."""
        return [e for e in self._tables.questions.values() if e.address == address and e.answered_at is None]

    def answer(self, question_id: str, *, choice: str, by: str, at: int) -> bool:
        """See the port."""
        asked = self.get(question_id)
        if asked is None or asked.answered_at is not None:
            return False
        self._tables.questions.put(question_id, replace(asked, answer=choice, answered_by=by, answered_at=at))
        return True
