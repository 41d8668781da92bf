"""How a turn is read from the store and written to it. Every write carries the fence (N-06)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from kesoku.agent.basis import Bases, Basis, notes
from kesoku.agent.budget import Budget
from kesoku.agent.compaction import End
from kesoku.agent.limits import TurnLimits
from kesoku.agent.metrics import turn_metrics
from kesoku.agent.past import past
from kesoku.agent.seam import joined
from kesoku.agent.think import Asked
from kesoku.agent.turn import Turn
from kesoku.errors import StoreError
from kesoku.history.codec import replay_state, reply_to_json
from kesoku.history.sources import SourcesCache, StepSources, encoded
from kesoku.messages import make
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.kinds import Answer, SystemNote, ToolCall, UserPrompt
from kesoku.messages.lifecycle import Claim, Step
from kesoku.messages.message import Message, same_content
from kesoku.messages.profile import profile_of
from kesoku.messages.recent import Recent
from kesoku.messages.record import Post, Record
from kesoku.messages.turn import CallBlock, Finish, Reply, TextBlock
from kesoku.ports import Clock, Drafts, Gateway, Store, Transaction
from kesoku.tools.patience import ATTEMPTS, RETRY_PAUSE, retry

T = TypeVar("T")

STOPPED = "The turn ended before this tool returned. It may have had effects; its output is lost."
"""The result of a call that a limit or a failure stopped."""
_UNTRUSTED = {Finish.BLOCKED, Finish.REFUSED, Finish.MALFORMED, Finish.GARBLED}
"""Replies whose calls, if there are any, are not to be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A step of a turn that is not stored yet."""

    turn: Turn
    """The turn before it."""
    step: Step
    posts: tuple[Post, ...]
    """Its thoughts and calls."""
    reply: Reply
    """What the model said, with our ids on the calls."""
    sources: StepSources
    later: Turn
    """The turn with the step, but without its thoughts and calls."""
    basis: Basis
    """What its request has in common with others."""


class Journal:
    """Reads turns and appends to them. Methods raise Deposed once the turn is no longer ours.

    A store that is away for a moment is waited for; then the operation is done again, which may be its second time.
    """

    def __init__(
        self, gateway: Gateway, store: Store, clock: Clock, drafts: Drafts, *, limits: TurnLimits, budget: Budget
    ) -> None:
        self._gateway, self._store, self._clock, self._records = gateway, store, clock, limits.history_records
        self._drafts, self._budget = drafts, budget
        self._sources, self._bases = SourcesCache(), Bases(limits)
        self._stored = Recent[str]()

    async def open(self, claim: Claim) -> Turn:
        """The turn of a claim, as far as it got before: calls that never ended have their synthetic result."""
        turn, broken = await self._read(lambda tx: self._opened(tx, claim))
        if broken:
            await self._retry("mend what was cut off", lambda: self._gateway.repair(claim.fence))
            turn, _ = await self._read(lambda tx: self._opened(tx, claim))
        return turn

    def _opened(self, tx: Transaction, claim: Claim) -> tuple[Turn, bool]:
        """The turn, and whether a call of its session is open."""
        prompt = claim.prompt
        branch = tx.branches.current(prompt.session_id)
        turn = Turn(
            fence=claim.fence,
            prompt=prompt,
            past=tuple(self._past(tx, prompt, branch)),
            branch=branch,
            records=(prompt,),
            steps=(),
            started_at=self._clock.now(),
            session_turns=tx.steps.count(prompt.session_id),
            spent_today=self._spent(tx),
            profile=profile_of(prompt, tx.messages),
        )
        if not claim.is_new:
            moves = (change.at for change in tx.events.of(prompt.id) if change.after is MessageStatus.PROCESSING)
            turn = replace(self._current(tx, turn), started_at=next(moves, turn.started_at))
        return turn, bool(tx.messages.open_calls(prompt.session_id))

    def _past(self, tx: Transaction, prompt: Record, branch: Branch) -> list[Record]:
        """What a turn looks back on. Behind its prompt stands the end of the turn that ran when it was asked."""
        turn_id = prompt.id
        found = past(tx, branch, n=prompt.session_n, records=self._records)
        return [record for record in found if record.turn_id != turn_id]

    async def read(self, turn: Turn) -> Turn:
        """The turn as it stands now."""
        return await self._read(lambda tx: self._current(tx, turn))

    def _current(self, tx: Transaction, turn: Turn) -> Turn:
        return replace(
            turn,
            records=tuple(tx.messages.turn(turn.id)),
            steps=tuple(tx.steps.of(turn.id)),
            spent_today=self._spent(tx),
        )

    def _spent(self, tx: Transaction) -> int:
        return 0 if self._budget.day is None else tx.steps.spent(self._budget.midnight(self._clock.now()))

    async def join(self, turn: Turn) -> Turn:
        """Take in the prompts that wait for the next step (C-42)."""
        riders, now = await self._read(lambda tx: (tx.messages.riders(turn.fence.session_id), self._current(tx, turn)))
        if not riders:
            return now
        joining = self._gateway.join
        await self._retry("take in more prompts", lambda: joining(turn.fence, turn.id, round=turn.next_step))
        return await self.read(turn)

    async def say(self, turn: Turn, note: SystemNote) -> Turn:
        """Tell the model something before the next step."""
        post = self._post(turn, note, turn.next_step)
        stored = await self._retry("store a note", lambda: self._gateway.post(post, fence=turn.fence))
        return replace(turn, records=(*turn.records, stored))

    async def rewrite(self, turn: Turn, prompt: UserPrompt) -> None:
        """Store a prompt's next version under its id (D-026)."""

        def operation(tx: Transaction) -> None:
            tx.leases.check(turn.fence)
            stored = next(record.message for record in turn.prompts if record.id == prompt.id)
            message = replace(prompt, version=stored.version + 1)
            now = tx.messages.get(prompt.id)
            if now is None or now.message != message or not same_content(now.message, message):
                tx.messages.rewrite(message, actor=turn.fence.owner, at=self._clock.now())

        await self._retry("store a prompt's next version", lambda: self._store.write(operation))

    def note(self, turn: Turn, asked: Asked, reply: Reply) -> Noted:
        """What the model was sent and what it said, to be stored."""
        reply, said = _messages(reply, cut=turn.can_go_on(reply), begun=turn.begun)
        sources, request = encoded(asked.request, turn.id, turn.next_step, self._sources.get(turn.fence.session_id))
        basis = self._bases.of(asked)
        step = Step(
            turn_id=turn.id,
            n=turn.next_step,
            request=FrozenDict({**request, "digest": asked.request.digest(), **notes(turn, asked, basis)}),
            reply=reply_to_json(reply),
            usage=reply.usage,
            at=self._clock.now(),
            model=asked.model,
            cost=self._budget.cost(asked.model, reply.usage),
            common=EMPTY if basis.digest in self._stored else FrozenDict(basis.body),
        )
        posts = tuple(self._post(turn, each, step.n) for each in said)
        later = replace(turn, steps=(*turn.steps, step))
        return Noted(turn=turn, step=step, posts=posts, reply=reply, sources=sources, later=later, basis=basis)

    async def step(self, turn: Turn, asked: Asked, reply: Reply) -> Turn:
        """Store what the model was sent and what it said; the turn with both."""
        return await self.keep(self.note(turn, asked, reply))

    async def keep(self, noted: Noted) -> Turn:
        """Store what is noted; the turn with it."""
        stored = await self._kept(noted, lambda: self._gateway.step(noted.turn.fence, noted.step, noted.posts))
        return replace(noted.later, records=(*noted.turn.records, *stored))

    async def answer(self, noted: Noted, end: End) -> None:
        """Store what is noted together with the end that it is (N-05)."""
        turn = noted.later
        metrics, post = turn_metrics(turn, now=self._clock.now()), self._post(turn, end.answer, len(turn.steps))
        finish = partial(self._gateway.finish, turn.fence, post, status=MessageStatus.PROCESSED, metrics=metrics)
        said = (*noted.posts, *self._said(turn, end))
        await self._kept(noted, lambda: finish(step=noted.step, said=said, choose=end.choose))

    def _said(self, turn: Turn, end: End) -> list[Post]:
        return [self._post(turn, each, max(1, len(turn.steps))) for each in end.said]

    async def _kept(self, noted: Noted, store: Callable[[], Awaitable[T]]) -> T:
        stored = await retry(
            "store what the model said",
            store,
            sleep=self._clock.sleep,
            attempts=ATTEMPTS,
            told=lambda error: self._excuse(noted.turn, noted.reply, error),
        )
        self._sources.put(noted.turn.fence.session_id, noted.sources)
        self._stored.add(noted.basis.digest)
        return stored

    def _excuse(self, turn: Turn, reply: Reply, error: StoreError) -> None:
        """Tell who watches why what they see does not go on."""
        step, text = turn.next_step, reply.text
        if turn.begun:
            step, text = step - 1, joined(turn.begun.text, text, running=True)
        note = f"{error}; trying again"
        thought = reply.thoughts
        self._drafts.publish(turn.id, turn.address, step=step, thought=thought, text=text, note=note, wait=RETRY_PAUSE)

    async def finish(self, turn: Turn, end: End, status: MessageStatus = MessageStatus.PROCESSED) -> None:
        """End the turn (N-05); calls that were stopped on the way are answered too."""
        await self._stop(turn)
        metrics = turn_metrics(turn, now=self._clock.now())
        post = self._post(turn, end.answer, max(1, len(turn.steps)))
        finish = partial(self._gateway.finish, turn.fence, post, status=status, metrics=metrics)
        said = self._said(turn, end)
        await self._retry("store an answer", lambda: finish(said=said, choose=end.choose))

    async def _stop(self, turn: Turn) -> None:
        """Answer the calls that are open; one that nobody allowed did not begin."""
        calls = turn.open_calls
        questions = await self._read(lambda tx: [tx.questions.get(each.id) for each in calls]) if calls else []
        for record, asked in zip(calls, questions, strict=True):
            why = STOPPED if asked is None or asked.is_granted else make.NOT_RUN
            call, result = make.respond(record.message, error=why, synthetic=True)  # type: ignore[arg-type]
            answered = partial(self._gateway.respond, turn.fence, record, result, call)
            await self._retry("store the end of a tool", answered)

    async def abandon(self, claim: Claim, answer: Answer) -> None:
        """End a turn that cannot be read in error."""
        post = Post(message=answer, address=claim.prompt.address, session_id=claim.prompt.session_id)
        finish = partial(self._gateway.finish, claim.fence, post, status=MessageStatus.ERROR, metrics={})
        await self._retry("store an answer", finish)

    async def _read(self, operation: Callable[[Transaction], T]) -> T:
        return await self._retry("read a turn", lambda: self._store.read(operation))

    async def _retry(self, what: str, operation: Callable[[], Awaitable[T]]) -> T:
        return await retry(what, operation, sleep=self._clock.sleep, attempts=ATTEMPTS)

    @staticmethod
    def _post(turn: Turn, message: Message, round_: int) -> Post:
        return Post(
            message=message,
            address=turn.address,
            session_id=turn.prompt.session_id,
            parent_id=turn.id,
            turn_id=turn.id,
            round=round_,
        )


def _messages(reply: Reply, *, cut: bool, begun: Reply | None) -> tuple[Reply, Sequence[Message]]:
    """The thoughts and calls of a reply as messages, in its order, and the reply with their ids on the calls.

    Text is interim beside a call or an attempt at one, and if it is `cut` and goes on (N-09); otherwise it is the
    answer, which ends the turn. Text beside calls stands there whole, with what was `begun` before.
    """
    said: list[Message] = []
    blocks: list[TextBlock | CallBlock] = []
    trusted = reply.finish not in _UNTRUSTED
    interim = cut or (trusted and bool(reply.calls)) or (reply.finish.is_unreadable and not begun)
    start = begun.text if begun and reply.calls and trusted else ""
    for block in reply.blocks:
        if isinstance(block, TextBlock):
            blocks.append(block)
            if block.thought:
                said += _thought(reply, block.text)
            elif interim:
                said += _thought(reply, joined(start, block.text), interim=True, cut=cut)
                start = ""
        elif trusted:
            call = _call(reply, block)
            said.append(call)
            blocks.append(replace(block, call_id=call.id))
    return replace(reply, blocks=tuple(blocks)), [*_thought(reply, start, interim=True), *said]


def _thought(reply: Reply, text: str, *, interim: bool = False, cut: bool = False) -> list[Message]:
    """Nothing for an empty text."""
    if not text.strip():
        return []
    return [make.thought(text, provider=reply.provider, model=reply.model, interim=interim, cut=cut)]


def _call(reply: Reply, block: CallBlock) -> ToolCall:
    return make.tool_call(
        block.name, block.arguments, provider=reply.provider, model=reply.model, replay_state=replay_state(block)
    )
