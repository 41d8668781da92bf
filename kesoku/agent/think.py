"""One reply of the model, streamed to those who watch; the next model when one is not available (complaint 75)."""

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing

from kesoku.agent.turn import Turn
from kesoku.errors import ModelError, ModelRateLimited, ModelStreamBroken
from kesoku.messages.turn import CompiledRequest, Delta, Reply, Retry
from kesoku.ports import ChatModel, Drafts

_log = logging.getLogger(__name__)

Compile = Callable[[ChatModel], CompiledRequest]
"""The request as this very model gets it: signatures go to their own provider only."""


class Thinker:
    """Asks the first of `models`, and the next one when it cannot answer now and nothing was shown yet."""

    def __init__(self, models: Sequence[ChatModel], drafts: Drafts) -> None:
        *self._first, self._last = models
        self._drafts = drafts

    async def think(self, turn: Turn, compile_for: Compile) -> tuple[CompiledRequest, Reply]:
        """The request that was answered, and the reply. Raises the last model's ModelError."""
        for model in self._first:
            request = compile_for(model)
            draft = _Draft(turn, self._drafts)
            try:
                return request, await _stream(model, request, draft)
            except ModelError as error:
                if draft.shown or not (error.retryable or isinstance(error, ModelRateLimited)):
                    raise
                _log.warning("turn %s goes on with the next model: %s", turn.id, error)
        request = compile_for(self._last)
        return request, await _stream(self._last, request, _Draft(turn, self._drafts))


class _Draft:
    """The running reply of one step, as far as people see it."""

    def __init__(self, turn: Turn, drafts: Drafts) -> None:
        self._turn, self._drafts = turn, drafts
        self._thought = self._text = ""

    @property
    def shown(self) -> bool:
        """Whether anyone may have seen a part of it."""
        return bool(self._thought or self._text)

    def restart(self, why: str) -> None:
        """What was shown is void; say why the model is asked again."""
        self._thought = self._text = ""
        self._publish(note=why)

    def add(self, delta: Delta) -> None:
        """Show one more piece."""
        if delta.thought:
            self._thought += delta.text
        else:
            self._text += delta.text
        self._publish()

    def _publish(self, note: str = "") -> None:
        turn = self._turn
        self._drafts.publish(
            turn.id, turn.address, step=turn.next_step, thought=self._thought, text=self._text, note=note
        )


async def _stream(model: ChatModel, request: CompiledRequest, draft: _Draft) -> Reply:
    reply = None
    async with aclosing(model.stream(request)) as stream:
        async for item in stream:
            match item:
                case Reply():
                    reply = item
                case Retry():
                    draft.restart(item.reason)
                case Delta():
                    draft.add(item)
    if reply is None:
        raise ModelStreamBroken(model=model.name, reason="it ended without a reply")
    return reply
