"""The gateway over any store: each method is one transaction that may run twice (kesoku/ports/gateway.py)."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from kesoku.errors import AlreadyAnswered, Deposed
from kesoku.gateway import turn
from kesoku.gateway.admission import home, own_turn, stored
from kesoku.gateway.choosing import go_on, select
from kesoku.gateway.claiming import Claiming
from kesoku.gateway.crash import charged
from kesoku.gateway.intake import Intake
from kesoku.gateway.policy import LEASE, STRANDED, BusyPolicy, FloodBounds
from kesoku.gateway.status import Act, advance, refuse_forbidden
from kesoku.gateway.subscription import LogSubscription
from kesoku.gateway.tail import Tail
from kesoku.gateway.watch import LeaseWatch, Liveness
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.kinds import Answer, Notice, ToolResult
from kesoku.messages.lifecycle import Change, Claim, Fence, Interruption, Selected, Serving, Step
from kesoku.messages.message import Message
from kesoku.messages.record import Post, Record
from kesoku.ports import Choose, Clock, Store, Subscription, Transaction


class StoreGateway:
    """The lifecycle of messages over a store. `poll` seconds bound what a lost wake-up costs a listener."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        policy: BusyPolicy,
        presence: Liveness,
        *,
        bounds: FloodBounds | None = None,
        poll: float = 1.0,
    ) -> None:
        self._store, self._clock, self._policy = store, clock, policy
        self._watch = LeaseWatch(clock, presence)
        self._bounds = bounds or FloodBounds()
        self._poll, self._tail = poll, Tail(store)

    async def accept(
        self,
        posts: Sequence[Post],
        *,
        catch_up: bool = False,
        cursor: tuple[str, str, Any] | None = None,
    ) -> list[Record]:
        """Take in prompts from a platform, with the adapter's cursor, in one commit."""
        intake = self._intake(catch_up=catch_up)

        def operation(tx: Transaction) -> list[Record]:
            if cursor is not None:
                tx.state.set(*cursor)
            return [intake.take(tx, post) for post in posts]

        return await self._store.write(operation)

    async def post(self, post: Post, *, fence: Fence | None = None) -> Record:
        """Store one message; a known one is returned as it is stored."""
        at = self._clock.now()

        def operation(tx: Transaction) -> Record:
            if fence is not None:
                tx.leases.check(fence)
            return stored(tx, post, at) or _insert(tx, post, at, fence)

        return await self._store.write(operation)

    async def step(self, fence: Fence, step: Step, posts: Sequence[Post]) -> list[Record]:
        """Store one reply of the model."""
        at = self._clock.now()

        def operation(tx: Transaction) -> list[Record]:
            tx.leases.check(fence)
            return _say(tx, fence, step, posts, at)

        return await self._store.write(operation)

    async def respond(self, fence: Fence, call: Record, result: ToolResult, next_call: Message) -> Record:
        """Store a result with its call's next version; a replacement supersedes the earlier result (C-03).

        Raises:
            AlreadyAnswered: the call has another result, and `next_call` was not made from that version.
        """
        at = self._clock.now()

        def operation(tx: Transaction) -> Record:
            tx.leases.check(fence)
            now = tx.messages.get(call.id) or call
            answered = now.message.content.response_id
            if answered == result.id:
                return tx.messages.get(answered) or call
            if answered is not None:
                if next_call.version != now.message.version + 1:
                    raise AlreadyAnswered(call_id=call.id, response_id=answered)
                tx.messages.supersede(answered, by=result.id)
            return turn.answer(tx, now, result, next_call, Act(actor=fence.owner, at=at))

        return await self._store.write(operation)

    async def finish(
        self,
        fence: Fence,
        answer: Post,
        *,
        status: MessageStatus,
        metrics: dict[str, Any],
        step: Step | None = None,
        said: Sequence[Post] = (),
        choose: Choose | None = None,
    ) -> Record:
        """End a turn. Finishing again with the same answer returns what is stored (N-05)."""
        act = Act(actor=fence.owner, reason="finish", at=self._clock.now())

        def operation(tx: Transaction) -> Record:
            try:
                turn_id = tx.leases.check(fence).message_id or ""
            except Deposed:
                if (known := stored(tx, answer, act.at)) is None:
                    raise
                return known
            if step is not None:
                _note(tx, step)
            for each in said:
                _insert(tx, each, act.at, fence)
            turn.end(tx, turn_id, status, act)
            if metrics:
                tx.steps.set_metrics(turn_id, metrics)
            placed = replace(answer, turn_id=turn_id, parent_id=answer.parent_id or turn_id)
            record = _insert(tx, placed, act.at, fence)
            if choose is not None:
                go_on(tx, record.session_id, choose, act)
            tx.leases.release(fence)
            measured = metrics and answer.message.kind == "answer" and answer.message.source.kind == "model"
            return replace(record, facts=FrozenDict(turn_metrics=metrics)) if measured else record

        return await self._store.write(operation)

    async def move(
        self, message_id: str, to: MessageStatus, *, actor: str, reason: str = "", fence: Fence | None = None
    ) -> Record:
        """Move a status along TRANSITIONS."""
        act = Act(actor=actor, reason=reason, at=self._clock.now())

        def operation(tx: Transaction) -> Record:
            if fence is not None:
                tx.leases.check(fence)
            refuse_forbidden(tx, message_id, to)
            return advance(tx, message_id, to, act)

        return await self._store.write(operation)

    async def withdraw(self, message_id: str, *, by: str) -> bool:
        """Interrupt a prompt that has not started."""
        act = Act(actor=by, reason="cancelled", at=self._clock.now())
        return await self._store.write(lambda tx: turn.withdraw(tx, message_id, act) is not None)

    async def claim(self, owner: str, serving: Serving) -> Claim | None:
        """The next prompt that this process may run, now in processing."""
        return next(iter(await self.claims(owner, serving, most=1)), None)

    async def claims(self, owner: str, serving: Serving, *, most: int) -> list[Claim]:
        """The next prompts that this process may run, now in processing, in one commit."""
        now, excuse, mint = self._clock.now(), cache(_excuse), cache(make.interrupted_result)
        claiming = Claiming(owner=owner, serving=serving, at=now, excuse=excuse, mint=mint, most=most)
        return await self._store.write(claiming.claims)

    async def join(self, fence: Fence, turn_id: str, *, round: int) -> list[Record]:  # noqa: A002
        """Take what waits for the next step into the running turn (D-X04)."""
        act = Act(actor=fence.owner, reason="join", at=self._clock.now())

        def operation(tx: Transaction) -> list[Record]:
            tx.leases.check(fence)
            opener = tx.messages.get(turn_id)
            riders = turn.riders(tx, opener) if opener else []
            return turn.enter(tx, turn_id, riders, act, round=round) if riders else []

        return await self._store.write(operation)

    async def renew(self, owner: str) -> frozenset[Fence]:
        """Extend the leases of this process by 30 s from now."""
        until = self._clock.now() + LEASE
        return frozenset(await self._store.write(lambda tx: tx.leases.renew(owner, until=until)))

    async def release(self, fence: Fence, *, requeue: bool) -> None:
        """Give a session back; nothing happens if it is no longer ours."""
        act = Act(actor=fence.owner, reason="released", at=self._clock.now())

        def operation(tx: Transaction) -> None:
            try:
                lease = tx.leases.check(fence)
            except Deposed:
                return
            if requeue:
                turn.requeue(tx, lease, act)
            tx.leases.release(fence)

        await self._store.write(operation)

    async def interrupt(
        self,
        session_id: str,
        *,
        by: str,
        reason: str,
        post: Post | None = None,
        queued: bool = False,
        only: str | None = None,
    ) -> Interruption:
        """End the running turn, and store the prompt that takes its place."""
        act, mint = Act(actor=by, reason=reason, at=self._clock.now()), cache(make.interrupted_result)

        def operation(tx: Transaction) -> Interruption:
            known = None if post is None else stored(tx, post, act.at)
            if known is not None:
                return Interruption(session_id=session_id, interrupted=(), posted=known)
            active = turn.running(tx, session_id)
            meant = only is None or (active is not None and active.id == only)
            ended = tuple(turn.interrupt(tx, session_id, act, mint)) if meant else ()
            waiting = [each for each in tx.messages.queued(session_id) if queued or each.id == only]
            withdrawn = tuple(gone for each in waiting if (gone := turn.withdraw(tx, each.id, act)) is not None)
            posted = None
            if post is not None:
                placed = replace(post, session_id=post.session_id or session_id)
                posted = _insert(tx, placed, act.at, superseded_turn=active.id if active else None)
            return Interruption(session_id=session_id, interrupted=ended, withdrawn=withdrawn, posted=posted)

        return await self._store.write(operation)

    async def select(
        self, session_id: str, choose: Choose, *, by: str, reason: str, posts: Sequence[Post] = ()
    ) -> Selected:
        """Choose what the model reads of a session, and go on from there."""
        act, mint = Act(actor=by, reason=reason, at=self._clock.now()), cache(make.interrupted_result)
        return await self._store.write(lambda tx: select(tx, session_id, choose, act, mint, posts))

    async def repair(self, fence: Fence) -> list[Record]:
        """Give every call that an earlier turn left open a synthetic result."""
        act, mint = Act(actor=fence.owner, reason="repair", at=self._clock.now()), cache(make.interrupted_result)

        def operation(tx: Transaction) -> list[Record]:
            tx.leases.check(fence)
            return [turn.heal(tx, call, act, mint) for call in turn.orphans(tx, fence)]

        return await self._store.write(operation)

    async def recover(self) -> int:
        """Take back leases that ran out, leases of the dead, and stranded rows (C-32)."""
        act = Act(actor="recovery", reason="recovered", at=self._clock.now())
        before = act.at - STRANDED
        held, stranded = await self._store.read(lambda tx: (tx.leases.held(), tx.leases.stranded(before=before)))
        lost = self._watch.lost(held)

        def operation(tx: Transaction) -> int:
            count = 0
            for lease, counts in charged(tx.leases.held(), lost):
                count += len(turn.requeue(tx, lease, act))
                tx.leases.depose(lease.session_id, failed=counts)
            for record in tx.leases.stranded(before=before):
                advance(tx, record.id, MessageStatus.PENDING_AGENT, act)
                count += 1
            return count

        return await self._store.write(operation) if stranded or lost else 0

    @asynccontextmanager
    async def listen(
        self, accepts: Callable[[Change], bool], *, cursor: int | None = None
    ) -> AsyncIterator[Subscription]:
        """Follow the event log from `cursor`, by default from now; so does a cursor that the log never had."""
        head = await self._store.read(lambda tx: tx.events.head())
        start = head if cursor is None else min(cursor, head)
        subscription = LogSubscription(self._tail, accepts, cursor=start, poll=self._poll)
        forget = self._store.on_commit(subscription.wake)
        try:
            yield subscription
        finally:
            forget()

    def _intake(self, *, catch_up: bool) -> Intake:
        return Intake(
            policy=self._policy,
            bounds=self._bounds,
            at=self._clock.now(),
            catch_up=catch_up,
            say=cache(_reply),
            mint=cache(make.interrupted_result),
        )


def _insert(
    tx: Transaction, post: Post, at: int, fence: Fence | None = None, *, superseded_turn: str | None = None
) -> Record:
    session_id = home(tx, post, at) if fence is None else post.session_id or fence.session_id
    return tx.messages.insert(own_turn(post), session_id=session_id, at=at, superseded_turn=superseded_turn)


def _note(tx: Transaction, step: Step) -> None:
    if step.common:
        tx.requests.put(step.request["basis"], step.common)
    tx.steps.add(step)


def _say(tx: Transaction, fence: Fence, step: Step, posts: Sequence[Post], at: int) -> list[Record]:
    _note(tx, step)
    return [_insert(tx, post, at, fence) for post in posts]


def _reply(_about: str, text: str) -> Notice:
    return make.notice(text, reason="reply")


def _excuse(_about: str, text: str) -> Answer:
    return make.error_answer(text)
