"""Questions that are over lose their buttons: the message that asked is drawn once more, without them.

Which questions are shown is noted in the state of the bot before they go out, and forgotten when they were drawn again;
so those that ended while the bot was down are seen to at its next start.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from kesoku.adapter.attempt import Failure, attempt, backoff, pause, stop, within
from kesoku.adapter.core import Core
from kesoku.adapter.pace import Pacer
from kesoku.adapter.part import decode, is_damaged
from kesoku.adapter.question import DEADLINE, is_late, is_open
from kesoku.adapter.route import waits
from kesoku.adapter.spi import ClosesQuestions
from kesoku.adapter.state import RESERVED, scope_of
from kesoku.errors import Refused, RetryLater
from kesoku.messages.lifecycle import Asked, Delivery
from kesoku.ports import Transaction

MOST = 100
"""Questions that are remembered over a restart, the latest ones."""
_KEY = f"{RESERVED}questions"
_LOOK = 5.0
"""Seconds after which an end is looked for that no commit tells, such as a deadline."""
_TRIES = 5
"""Failures of another kind than "not now" after which the buttons stay."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    """How often a question was drawn again in vain, and when it is due once more (monotonic)."""

    number: int = 0
    due: float = 0.0


class QuestionBoard:
    """The questions of one bot that are shown. It does nothing for an adapter that cannot draw them again."""

    def __init__(
        self,
        *,
        chatbot_id: str,
        adapter: Any,
        edits: bool,
        core: Core,
        pacer: Pacer,
    ) -> None:
        self._scope, self._adapter, self._pacer = scope_of(chatbot_id), adapter, pacer
        self._store, self._clock, self._policy = core.store, core.clock, core.delivery
        self._able = edits and isinstance(adapter, ClosesQuestions)
        self._shown: dict[str, _Try] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look after them."""
        if self._able:
            self._task = asyncio.create_task(self._watch())

    async def aclose(self) -> None:
        """Stop; the next one goes on."""
        if self._task:
            await stop(self._task)

    async def add(self, question_id: str) -> None:
        """A question is about to be shown."""
        if self._able:
            await self._note(question_id, shown=True)
            self.look(question_id)

    def look(self, question_id: str) -> None:
        """A question is still shown, as somebody noticed: draw it again if it is over."""
        if self._able:
            self._shown[question_id] = _Try()
            self._changed.set()

    async def _watch(self) -> None:
        undo = self._store.on_commit(lambda: self._changed.set() if self._shown else None)
        failures = 0
        try:
            await self._restore()
            while True:
                self._changed.clear()
                done = await attempt(self._round())
                failures = failures + 1 if isinstance(done, Failure) else 0
                if isinstance(done, Failure):
                    _log.error("questions that are over were not drawn again: %s", done)
                    await self._clock.sleep(pause(done.error, failures))
                elif self._shown:
                    await attempt(within(self._clock, _LOOK, self._changed.wait()))
                else:
                    await self._changed.wait()
        finally:
            undo()

    async def _restore(self) -> None:
        """Begin with the questions that were shown by whoever was here before."""
        failures = 0
        while isinstance(known := await attempt(self._store.read(self._known)), Failure):
            failures += 1
            await self._clock.sleep(pause(known.error, failures))
        self._shown |= dict.fromkeys(known, _Try())

    async def _round(self) -> None:
        """Draw those again that are over and due."""
        for question_id, asked, part in await self._store.read(self._over):
            tries = self._shown[question_id].number + 1
            wait = None if asked is None or part is None else await self._close(asked, part, tries)
            if wait is not None:
                self._shown[question_id] = _Try(number=tries, due=self._clock.monotonic() + wait)
                continue
            self._shown.pop(question_id, None)
            await self._note(question_id, shown=False)

    def _over(self, tx: Transaction) -> list[tuple[str, Asked | None, Delivery | None]]:
        """The questions that are over, and the part that shows each."""
        at, now = self._clock.now(), self._clock.monotonic()
        asked = {each: tx.questions.get(each) for each, last in self._shown.items() if last.due <= now}
        return [
            (each, found, None if found is None else _part(tx, found))
            for each, found in asked.items()
            if found is None or not (is_open(tx, found, at) or _waits(tx, found))
        ]

    async def _close(self, asked: Asked, part: Delivery, tries: int) -> float | None:
        """Seconds until it is to be tried again; None if it is done, or given up."""
        done = await attempt(within(self._clock, self._policy.send_timeout, self._draw(asked, part)))
        if not isinstance(done, Failure):
            return None
        _log.warning("question %s was not drawn again: %s", asked.question.id, done)
        if isinstance(done.error, RetryLater):
            return backoff(tries) if done.error.after is None else done.error.after
        return None if isinstance(done.error, Refused) or tries >= _TRIES else backoff(tries)

    async def _draw(self, asked: Asked, part: Delivery) -> None:
        by = asked.answered_by or (DEADLINE if is_late(asked, self._clock.now()) else "")
        drawn = self._adapter.closed(decode(part.body), asked.question, asked.answer or None, by)
        if drawn is not None:
            await self._pacer.slot(part.address)
            await self._adapter.edit(part.address, part.platform_ids[0], drawn)

    def _known(self, tx: Transaction) -> list[str]:
        stored = tx.state.get(self._scope, _KEY)
        return [str(each) for each in stored] if isinstance(stored, list) else []

    async def _note(self, question_id: str, *, shown: bool) -> None:
        """Remember that a question is shown, or is not any more."""

        def operation(tx: Transaction) -> None:
            before = self._known(tx)
            others = [each for each in before if each != question_id]
            after = [*others, question_id][-MOST:] if shown else others
            if after != before:
                tx.state.set(self._scope, _KEY, after or None)

        await self._store.write(operation)


def _waits(tx: Transaction, asked: Asked) -> bool:
    """Whether a question may still go out."""
    notice = tx.messages.get(str(asked.purpose.get("notice", "")))
    return notice is not None and waits(notice)


def _part(tx: Transaction, asked: Asked) -> Delivery | None:
    """The part that shows the choices: the last one that is out, if none has buttons."""
    parts = tx.deliveries.of(str(asked.purpose.get("notice", "")))
    out = [each for each in parts if each.platform_ids and not is_damaged(each)]
    return next((each for each in reversed(out) if decode(each.body).buttons), out[-1] if out else None)
