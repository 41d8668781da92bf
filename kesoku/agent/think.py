"""One reply of the model, streamed to those who watch; the next model when one is not available (complaint 75), or
too dear."""

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from kesoku.agent.seam import joined
from kesoku.agent.signal import LimitReached
from kesoku.agent.turn import Turn
from kesoku.errors import (
    ModelRateLimited,
    ModelReferenceRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.history.block import is_compaction
from kesoku.messages.turn import CompiledRequest, Delta, Reply, Retry
from kesoku.ports import ChatModel, Drafts

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One step as it is asked for: of which model, by its configured name, and which budget keeps it short, if any."""

    model: str
    request: CompiledRequest
    provider: str = ""
    """Whose signatures are in it."""
    bound: str = ""


Compile = Callable[[ChatModel], Asked]
"""The request as this very model gets it: signatures go to their own provider only. May raise Ended."""


_PASSING = (ModelRateLimited, ModelUnavailable, ModelTimeout, ModelStreamBroken, ModelReferenceRefused)
"""What another model may well survive. Whatever somebody has to put right is told instead: a key, a model's name, the
access, a request that is refused or too long."""


class Thinker:
    """Asks the first of some models, and the next one when it cannot answer now and no word of an answer was shown
    yet, or when the budget could not pay for it."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts

    async def think(self, turn: Turn, models: Sequence[ChatModel], compile_for: Compile) -> tuple[Asked, Reply]:
        """What was asked and answered, and the reply. Raises the last model's ModelError or LimitReached."""
        draft, why = _Draft(turn, self._drafts), ""
        for model in models[:-1]:
            try:
                return await _ask(model, compile_for, draft, why)
            except LimitReached:  # a cheaper one may be within it
                why = f"{model.name} is beyond the budget"
            except _PASSING as error:
                if draft.answers:
                    raise
                _log.warning("turn %s goes on with the next model: %s", turn.id, error)
                why = f"{model.name} cannot answer now"
        return await _ask(models[-1], compile_for, draft, why)


class _Draft:
    """The running reply of one step, as far as people see it.

    A step that goes on with a cut reply is shown as one with it, under the number of the step that began. A summary is
    for the model, and no answer.
    """

    def __init__(self, turn: Turn, drafts: Drafts) -> None:
        self._turn, self._drafts, self._begun = turn, drafts, turn.begun
        self._is_shown = not is_compaction(turn.prompt)
        self._thought = self._text = self._seen = ""

    @property
    def answers(self) -> bool:
        """Whether anyone may have seen a part of the answer."""
        return bool(self._text or self._seen)

    def restart(self, why: str, wait: float | None = None) -> None:
        """What was said is void; say why the model is asked again, and in how many seconds.

        An answer stays until another takes its place.
        """
        self._seen = self._answer
        self._thought = self._text = ""
        self._publish(why, wait)

    @property
    def _answer(self) -> str:
        """The answer so far; the one that was seen, as long as it is only said once more."""
        return self._seen if self._seen.startswith(self._text) else self._text

    def add(self, delta: Delta) -> None:
        """Show one more piece."""
        if delta.thought:
            self._thought += delta.text
        elif self._is_shown:
            self._text += delta.text
        self._publish()

    def _publish(self, note: str = "", wait: float | None = None) -> None:
        turn, step, thought, text = self._turn, self._turn.next_step, self._thought, self._answer
        if self._begun:
            step, text = step - 1, joined(self._begun.text, text, running=True)
            thought = "\n\n".join(filter(None, (self._begun.thoughts, thought)))
        self._drafts.publish(turn.id, turn.address, step=step, thought=thought, text=text, note=note, wait=wait)


async def _ask(model: ChatModel, compile_for: Compile, draft: _Draft, why: str) -> tuple[Asked, Reply]:
    """Ask one model; say `why` it is this one, if there is a reason."""
    asked = compile_for(model)
    if why:
        draft.restart(f"{why}; asking {model.name}")
    return asked, await _stream(model, asked.request, draft)


async def _stream(model: ChatModel, request: CompiledRequest, draft: _Draft) -> Reply:
    reply = None
    async with aclosing(model.stream(request)) as stream:
        async for item in stream:
            match item:
                case Reply():
                    reply = item
                case Retry():
                    draft.restart(item.reason, item.wait)
                case Delta():
                    draft.add(item)
    if reply is None:
        raise ModelStreamBroken(model=model.name, reason="it ended without a reply")
    return reply
