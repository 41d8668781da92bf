"""Questions to people, durable: put as a notice, answered once by someone who may, over processes and restarts."""

import asyncio
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

from kesoku.adapter.access import ADMINS
from kesoku.adapter.attempt import attempt, within
from kesoku.adapter.event import Pressed
from kesoku.adapter.route import RUNNING
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.lifecycle import ALWAYS, Asked
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Clock, Store, Transaction

DEADLINE = "deadline"
"""Who answered when nobody did."""
EARLIER = "earlier"
"""Who answered when the tool was always allowed by an earlier answer."""
_LOOK = 1.0
"""Seconds after which an answer is looked for that nobody announced."""
_YES = ("yes", "y", "allow", "approve", "ok")
_NO = ("no", "n", "deny", "refuse")


def match_answer(text: str, choices: Sequence[str]) -> str | None:
    """The choice that a text names: its number, its label, y or n, or the one initial that fits. None if none.

    The whole text must be the answer; a sentence that contains one is no answer.
    """
    said = _plain(text)
    labels = {_plain(choice): choice for choice in choices}
    if said in labels:
        return labels[said]
    if said.isdecimal():
        number = int(said) if len(said) < 4 else 0
        return choices[number - 1] if 0 < number <= len(choices) else None
    for words in (_YES, _NO):
        if said in words:
            return next((labels[word] for word in words if word in labels), None)
    initials = [choice for choice in choices if len(said) == 1 and _plain(choice).startswith(said)]
    return initials[0] if len(initials) == 1 else None


def match_press(event: Pressed, choices: Sequence[str]) -> str | None:
    """The choice that was pressed; None if the question does not have it."""
    if event.index is None:
        return event.value if event.value in choices else None
    return choices[event.index] if 0 <= event.index < len(choices) else None


def is_late(asked: Asked, at: int) -> bool:
    """Whether the time for an answer has passed."""
    deadline = asked.question.deadline
    return deadline is not None and at / 1e6 >= deadline


def is_open(tx: Transaction, asked: Asked, at: int) -> bool:
    """Whether an answer still counts: not answered, in time, and its turn still runs."""
    if asked.answer is not None or is_late(asked, at):
        return False
    prompt = tx.messages.get(asked.turn_id)
    return prompt is None or prompt.status in RUNNING


def open_questions(tx: Transaction, address: Address, at: int) -> list[Asked]:
    """The questions of a channel that can be answered now, the oldest first."""
    return [asked for asked in tx.questions.open(address) if is_open(tx, asked, at)]


class Approvals:
    """Asks people whether a tool may run. Implements the port Approver; one question at a time in a channel.

    The question is a row and a notice, stored in one commit; whoever answers it, in whatever process, ends the wait.
    A question that is asked again under its id, after a restart, waits on or returns the answer. `patience` seconds
    stand in for a missing deadline.
    """

    def __init__(self, store: Store, clock: Clock, *, patience: float = 600.0) -> None:
        self._store, self._clock, self._patience = store, clock, patience
        self._turns: WeakValueDictionary[Address, asyncio.Lock] = WeakValueDictionary()

    async def ask(self, question: Question, *, call: Record, admins_only: bool) -> str | None:
        """The choice of someone who may answer; None when the deadline passed, which means no (complaint 165)."""
        if question.deadline is None:
            question = replace(question, deadline=self._clock.now() / 1e6 + self._patience)
        lock = self._turns.setdefault(call.address, asyncio.Lock())
        async with lock:
            if ALWAYS in question.choices and await self._is_remembered(question, call):
                await self.waive(question, ALWAYS, by=EARLIER)
                return ALWAYS
            asked = await self._put(question, call, who=(ADMINS,) if admins_only else ())
            choice = await self._answer(asked, question.deadline or 0.0)
            if choice == ALWAYS:
                await self._remember(call, question)
        return choice

    async def waive(self, question: Question, choice: str, *, by: str) -> None:
        """Answer a question that was put before a restart, and of which nobody waits for an answer any more.

        Otherwise a crash in its call would find the question open, and the call would run twice.
        """

        def is_put(tx: Transaction) -> bool:
            asked = tx.questions.get(question.id)
            return asked is not None and asked.answer is None

        if await self._store.read(is_put):
            at = self._clock.now()
            await self._store.write(lambda tx: tx.questions.answer(question.id, choice=choice, by=by, at=at))

    async def _is_remembered(self, question: Question, call: Record) -> bool:
        """Whether the tool is always allowed. That came too late for a call that was refused before."""

        def operation(tx: Transaction) -> bool:
            asked = tx.questions.get(question.id)
            is_answered = asked is not None and asked.answer is not None
            return not is_answered and bool(tx.state.get(_scope(call), call.message.content.tool))

        return await self._store.read(operation)

    async def _remember(self, call: Record, question: Question) -> None:
        fact = {"question": question.id}
        await self._store.write(lambda tx: tx.state.set(_scope(call), call.message.content.tool, fact))

    async def _put(self, question: Question, call: Record, who: tuple[str, ...]) -> Asked:
        notice = make.notice(question.text, reason="reply", question=question)
        turn_id = call.turn_id or call.parent_id or call.id
        purpose = FrozenDict({"call": call.id, "tool": call.message.content.tool, "notice": notice.id})
        asked = Asked(question=question, turn_id=turn_id, address=call.address, purpose=purpose, who=who)
        post = Post(
            message=notice, address=call.address, session_id=call.session_id, turn_id=turn_id, parent_id=call.id
        )

        def operation(tx: Transaction) -> Asked:
            known = tx.questions.get(question.id)
            if known is None:
                tx.questions.add(asked)
                tx.messages.insert(replace(post, round=call.round), session_id=call.session_id, at=self._clock.now())
            return known or asked

        return await self._store.write(operation)

    async def _answer(self, asked: Asked, latest: float) -> str | None:
        """Wait until the deadline of the question, but no longer than until `latest` would be now: neither a clock that
        is set back meanwhile nor one that was set back since the question was put makes the wait longer."""
        changed = asyncio.Event()
        undo = self._store.on_commit(changed.set)
        question_id, deadline = asked.question.id, asked.question.deadline or 0.0
        end = self._clock.monotonic() + latest - self._clock.now() / 1e6
        try:
            while True:
                changed.clear()
                now = await self._store.read(lambda tx: tx.questions.get(question_id))
                if now is None or now.answer is not None:
                    return (now.answer if now else None) or None
                left = min(deadline - self._clock.now() / 1e6, end - self._clock.monotonic())
                if left <= 0:
                    await self._expire(question_id)
                else:
                    await attempt(within(self._clock, min(left, _LOOK), changed.wait()))
        finally:
            undo()

    async def _expire(self, question_id: str) -> None:
        """Answer with nothing, unless someone was faster."""
        at = self._clock.now()
        await self._store.write(lambda tx: tx.questions.answer(question_id, choice="", by=DEADLINE, at=at))


def _scope(call: Record) -> str:
    return f"approvals:{call.session_id}"


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold().rstrip(".)!")
