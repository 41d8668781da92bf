"""Pre-step hooks: code of others that may rewrite a prompt or add context before each step (D-027, D-041, D-017).

    async def remember(context: StepContext) -> Sequence[UserPrompt | SystemNote]:
        prompt = context.prompts[-1]
        return [make.hook_note(look_up(prompt.rendered), hook="remember")] if context.step == 1 else []

A returned UserPrompt is the next version of one of `context.prompts`, made with its `update`; a returned SystemNote is
context for the model that nobody else sees. A hook that raises, hangs or returns something else costs its own
contribution and nothing more. After a crash a hook may be called again for the same step, unless it had added a note.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kesoku import plugins
from kesoku.agent.journal import Journal
from kesoku.agent.turn import Turn
from kesoku.errors import Deposed, PluginError
from kesoku.messages.kinds import SystemNote, UserPrompt
from kesoku.messages.record import Address
from kesoku.messages.source import HookSource
from kesoku.tools.patience import within

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What a hook may know. Everything in it is frozen."""

    session_id: str
    turn_id: str
    address: Address
    step: int
    """The number of the step that comes, from 1."""
    prompts: tuple[UserPrompt, ...]
    """What was asked in this turn, the messages themselves: the opening prompt first, then those that joined."""


Hook = Callable[[StepContext], Awaitable[Sequence[UserPrompt | SystemNote]]]


class Hooks:
    """Calls hooks in the order of their names, each one within `seconds`."""

    def __init__(self, journal: Journal, hooks: Mapping[str, Hook], *, seconds: float) -> None:
        self._journal, self._hooks, self._seconds = journal, dict(sorted(hooks.items())), seconds

    async def before(self, turn: Turn) -> Turn:
        """Let every hook contribute to the next step; the turn as it stands then."""
        for name, hook in self._hooks.items():
            if _has_spoken(turn, name):
                continue
            # gather hands over whatever a foreign hook raises, and lets our own cancellation through
            (failure,) = await asyncio.gather(self._one(turn, name, hook), return_exceptions=True)
            if isinstance(failure, Deposed):
                raise failure
            if failure is not None:
                _log.warning("hook %s was left out of turn %s: %r", name, turn.id, failure, exc_info=failure)
            turn = await self._journal.read(turn)
        return turn

    async def _one(self, turn: Turn, name: str, hook: Hook) -> None:
        given = await within(_given(hook, _context(turn)), self._seconds, grace=0.5)
        known = {record.id for record in turn.prompts}
        for message in given:
            match message:
                case SystemNote():
                    await self._journal.say(turn, replace(message, source=HookSource(hook=name)))
                case UserPrompt(id=prompt_id) if prompt_id in known:
                    await self._journal.rewrite(turn, message)
                case _:
                    raise TypeError(f"hook {name} returned {message}, which is neither a note nor one of its prompts")


async def _given(hook: Hook, context: StepContext) -> Sequence[UserPrompt | SystemNote]:
    return await hook(context)


def installed(report: Callable[[PluginError], None] | None = None) -> dict[str, Hook]:
    """Every hook of the group `kesoku.hooks` that loads; the others go to `report`, or are logged."""
    complain = report or plugins.log_failure
    hooks: dict[str, Hook] = {}
    for name, found in plugins.load(plugins.HOOKS, complain).items():
        if inspect.iscoroutinefunction(found):
            hooks[name] = found
        else:
            complain(plugins.unfit(plugins.HOOKS, name, "it must be a coroutine function of a StepContext"))
    return hooks


def _context(turn: Turn) -> StepContext:
    prompts: Any = tuple(record.message for record in turn.prompts)
    return StepContext(
        session_id=turn.prompt.session_id,
        turn_id=turn.id,
        address=turn.address,
        step=turn.next_step,
        prompts=prompts,
    )


def _has_spoken(turn: Turn, name: str) -> bool:
    """Whether a note of this hook for the coming step is stored already, from before a crash."""
    return any(
        record.round == turn.next_step and record.message.source == HookSource(hook=name) for record in turn.records
    )
