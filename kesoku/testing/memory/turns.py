"""Sessions, leases and turns in memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from kesoku.errors import Deposed
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.lifecycle import Expense, Fence, Lease, Serving, Session, Step, TurnFacts
from kesoku.messages.record import Address, Record
from kesoku.testing.memory.messages import MemoryMessages
from kesoku.testing.memory.table import Tables, conflict


class MemorySessions:
    """`SessionStore` over dicts."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self, session_id: str) -> Session | None:
        """See the port."""
        return self._tables.sessions.get(session_id)

    def bound(self, address: Address) -> Session | None:
        """See the port."""
        session_id = self._tables.bindings.get(address)
        return self.get(session_id) if session_id else None

    def create(self, *, session_id: str | None = None, title: str = "", at: int) -> Session:
        """See the port."""
        session = Session(id=session_id or str(uuid4()), owner=str(uuid4()), title=title, created_at=at)
        if session.id in self._tables.sessions:
            raise conflict("one session an id", session.id)
        return self._tables.sessions.put(session.id, session)

    def bind(self, address: Address, session_id: str) -> None:
        """See the port."""
        self._tables.bindings.drop(address)
        self._tables.bindings.put(address, session_id)

    def end(self, session_id: str, *, at: int) -> None:
        """See the port."""
        session = self.get(session_id)
        if session is not None and session.ended_at is None:
            self._tables.sessions.put(session_id, replace(session, ended_at=at))

    def channels(self) -> list[tuple[Address, Session]]:
        """See the port."""
        bound = ((address, self.bound(address)) for address in self._tables.bindings)
        live = [(address, session) for address, session in bound if session and session.ended_at is None]
        return sorted(live, key=lambda each: (each[0].chatbot_id, each[0].channel_id))

    def recent(self, limit: int) -> list[tuple[Session, Address | None]]:
        """See the port."""
        bound = {self._tables.bindings[address]: address for address in self._tables.bindings}
        used = sorted(self._tables.sessions.values(), key=self._last_used, reverse=True)
        return [(session, bound.get(session.id)) for session in used[:limit]]

    def _last_used(self, session: Session) -> tuple[int, int]:
        last = self._tables.places.get((session.id, session.last_n))
        return (self._tables.messages[last].seq if last else 0, session.created_at)


class MemoryLeases:
    """`LeaseStore` over a dict."""

    def __init__(self, tables: Tables, messages: MemoryMessages) -> None:
        self._tables, self._messages = tables, messages

    def get(self, session_id: str) -> Lease | None:
        """See the port."""
        return self._tables.leases.get(session_id)

    def next(self, serving: Serving) -> Record | None:
        """See the port."""
        busy = {lease.session_id for lease in self.held()}
        for prompt in self._messages.all_queued():
            if prompt.mode != "inject" and prompt.session_id not in busy and serving.covers(prompt.address):
                return prompt
        return None

    def take(self, prompt: Record, *, owner: str, at: int, until: int) -> Fence:
        """See the port."""
        old = self.get(prompt.session_id)
        if old is not None and old.owner is not None:
            raise conflict("one running turn a session", prompt.id)
        lease = Lease(
            session_id=prompt.session_id,
            message_id=prompt.id,
            owner=owner,
            generation=(old.generation if old else 0) + 1,
            failures=self._failures(prompt.id),
            claimed_at=at,
            until=until,
        )
        self._tables.leases.put(prompt.session_id, lease)
        return Fence(session_id=prompt.session_id, owner=owner, generation=lease.generation)

    def check(self, fence: Fence) -> Lease:
        """See the port."""
        lease = self.get(fence.session_id)
        if lease is None or (lease.owner, lease.generation) != (fence.owner, fence.generation):
            raise Deposed(session_id=fence.session_id, generation=fence.generation)
        return lease

    def renew(self, owner: str, *, until: int) -> list[Fence]:
        """See the port."""
        mine = [lease for lease in self.held() if lease.owner == owner]
        for lease in mine:
            self._tables.leases.put(lease.session_id, replace(lease, until=until))
        return [Fence(session_id=each.session_id, owner=owner, generation=each.generation) for each in mine]

    def release(self, fence: Fence) -> None:
        """See the port."""
        lease = self.get(fence.session_id)
        if lease is not None and (lease.owner, lease.generation) == (fence.owner, fence.generation):
            self._tables.leases.put(fence.session_id, replace(lease, owner=None, until=0))

    def depose(self, session_id: str, *, failed: bool) -> Lease:
        """See the port."""
        old = self.get(session_id) or Lease(session_id=session_id, message_id=None, owner=None, generation=0)
        facts = self._tables.turns.get(old.message_id or "")
        if failed and facts is not None:
            self._tables.turns.put(facts.turn_id, replace(facts, failures=facts.failures + 1))
        failures = self._failures(old.message_id)
        deposed = replace(old, owner=None, until=0, generation=old.generation + 1, failures=failures)
        return self._tables.leases.put(session_id, deposed)

    def held(self) -> list[Lease]:
        """See the port."""
        return [lease for lease in self._tables.leases.values() if lease.owner is not None]

    def worst(self, owner: str) -> int | None:
        """See the port."""
        return max((lease.failures for lease in self.held() if lease.owner == owner), default=None)

    def _failures(self, turn_id: str | None) -> int:
        facts = self._tables.turns.get(turn_id or "")
        return facts.failures if facts else 0

    def stranded(self, *, before: int) -> list[Record]:
        """See the port."""
        owned = {lease.session_id for lease in self.held()}
        processing = MessageStatus.PROCESSING
        since: dict[str, int] = {}
        for event in self._tables.events.values():
            if event.after is processing:
                since[event.record.id] = event.at
        return [
            each
            for each in self._tables.messages.values()
            if each.status is processing and each.session_id not in owned and since[each.id] < before
        ]


class MemorySteps:
    """`StepStore` over dicts."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def open(self, turn_id: str, prompt_ids: Sequence[str]) -> TurnFacts:
        """See the port."""
        facts = self.turn(turn_id) or TurnFacts(turn_id=turn_id, prompt_ids=())
        known = dict.fromkeys((*facts.prompt_ids, *prompt_ids))
        return self._tables.turns.put(turn_id, replace(facts, prompt_ids=tuple(known)))

    def turn(self, turn_id: str) -> TurnFacts | None:
        """See the port."""
        return self._tables.turns.get(turn_id)

    def add(self, step: Step) -> None:
        """See the port."""
        known = self._tables.steps.get((step.turn_id, step.n))
        if known not in {None, step}:
            raise conflict("one step a number", step.turn_id)
        if known is None:
            self._tables.steps.put((step.turn_id, step.n), replace(step, common=EMPTY))

    def of(self, turn_id: str) -> list[Step]:
        """See the port."""
        mine = [step for step in self._tables.steps.values() if step.turn_id == turn_id]
        return sorted(mine, key=lambda step: step.n)

    def set_metrics(self, turn_id: str, metrics: dict[str, Any]) -> None:
        """See the port."""
        facts = self.turn(turn_id) or TurnFacts(turn_id=turn_id, prompt_ids=())
        self._tables.turns.put(turn_id, replace(facts, metrics=FrozenDict(metrics)))

    def count(self, session_id: str) -> int:
        """See the port."""
        done = (self._tables.messages.get(each.turn_id) for each in self._tables.turns.values() if each.metrics)
        return sum(prompt is not None and prompt.session_id == session_id for prompt in done)

    def spent(self, since: int) -> int:
        """See the port."""
        return sum(step.cost or 0 for step in self._tables.steps.values() if step.at >= since)

    def expense(self, session_id: str) -> Expense:
        """See the port."""
        prompts = {step.turn_id: self._tables.messages.get(step.turn_id) for step in self._tables.steps.values()}
        mine = {turn_id for turn_id, prompt in prompts.items() if prompt and prompt.session_id == session_id}
        return Expense.of(step for step in self._tables.steps.values() if step.turn_id in mine)
