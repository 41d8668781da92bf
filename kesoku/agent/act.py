"""The tool calls of one step: all at once, each result stored the moment it is there."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kesoku.agent.turn import Turn
from kesoku.messages import make
from kesoku.messages.content import Attachment, Question
from kesoku.messages.freeze import thaw
from kesoku.messages.lifecycle import ALWAYS, GRANTS, NO, YES
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import MediaBlock
from kesoku.ports import Approver, Clock, Gateway
from kesoku.render.mask import Mask
from kesoku.tools.context import ToolContext
from kesoku.tools.patience import ATTEMPTS, retry
from kesoku.tools.registry import Policy, Toolbox
from kesoku.tools.runner import Outcome
from kesoku.tools.runner import call as run_call

Keep = Callable[[Record, MediaBlock], Awaitable[Attachment]]
"""Copies a file that a call returned, for what the model has seen must stay as it was; never raises for the file."""

_SHOWN = 1_000
"""Characters of the arguments in a question."""


class Actor:
    """Runs calls. `context` makes what a tool may know, `keep` copies the files that it returns; `admins_only` says
    where only admins approve (N-17)."""

    def __init__(
        self,
        gateway: Gateway,
        clock: Clock,
        tools: Toolbox,
        approver: Approver,
        *,
        context: Callable[[Record], ToolContext],
        keep: Keep,
        admins_only: Callable[[Address], bool],
        approval_seconds: float,
    ) -> None:
        self._gateway, self._clock = gateway, clock
        self._tools, self._approver = tools, approver
        self._context, self._keep = context, keep
        self._admins_only, self._approval_seconds = admins_only, approval_seconds

    async def act(self, turn: Turn, calls: Sequence[Record]) -> None:
        """Run the calls concurrently and store their results. The first failure to store stops the others."""
        try:
            async with asyncio.TaskGroup() as group:
                for call in calls:
                    group.create_task(self._one(turn, call))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _one(self, turn: Turn, call: Record) -> None:
        message: Any = call.message
        refusal = await self._refusal(call)
        if refusal is not None:
            answered, result = make.respond(message, error=refusal)
        else:
            outcome = await self._run(call)
            files = [await self._keep(call, each) for each in outcome.media]
            answered, result = _respond(message, outcome, files)
        await retry(
            "store the result of a tool",
            lambda: self._gateway.respond(turn.fence, call, result, answered),
            sleep=self._clock.sleep,
            attempts=ATTEMPTS,
        )

    async def _run(self, call: Record) -> Outcome:
        content = call.message.content
        return await run_call(self._tools, content.tool, thaw(content.arguments), self._context(call))

    async def _refusal(self, call: Record) -> str | None:
        """Why a call does not run, in words for the model; None if it runs. An unknown tool is the runner's to tell."""
        tool: str = call.message.content.tool
        policy = self._tools.policy(tool) if tool in self._tools else Policy.ALLOW
        if policy is Policy.DENY:
            return f"{tool} was not run: it is switched off here. Do without it."
        return None if policy is Policy.ALLOW else await self._ask(call)

    async def _ask(self, call: Record) -> str | None:
        tool: str = call.message.content.tool
        question = Question(
            id=call.id,
            text=f"May I run `{tool}`?\n{self._arguments(call)}",
            choices=(YES, NO, ALWAYS),
            deadline=self._clock.now() / 1_000_000 + self._approval_seconds,
        )
        choice = await retry(
            "ask a person",
            lambda: self._approver.ask(question, call=call, admins_only=self._admins_only(call.address)),
            sleep=self._clock.sleep,
            attempts=ATTEMPTS,
        )
        if choice in GRANTS:
            return None
        if choice is None:
            return f"{tool} was not run: nobody approved it in time. Say what you wanted to do, and do without it."
        return f"{tool} was not run: the person said no. Do not try it again; ask what to do, or do without it."

    def _arguments(self, call: Record) -> str:
        """The beginning of what a call is given, without secrets that are known."""
        given = Mask(self._context(call).secrets).value(thaw(call.message.content.arguments))
        text = json.dumps(given, ensure_ascii=False, indent=2)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def _respond(call: Any, outcome: Outcome, files: Sequence[Attachment]) -> tuple[Any, Any]:
    return make.respond(call, outcome.output, error=outcome.error, summary=outcome.summary, attachments=tuple(files))
