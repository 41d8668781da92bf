"""The turn loop: think, act, think again, answer. No state of its own: what happened is in the log."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kesoku.agent.act import Actor, Keep
from kesoku.agent.assistant import Assistant, Assistants
from kesoku.agent.budget import Budget
from kesoku.agent.compaction import End, compacted
from kesoku.agent.hook import Hook, Hooks
from kesoku.agent.journal import Journal, Noted
from kesoku.agent.judge import answer_text, cut_text, judge_calls, judge_limits, judge_reply
from kesoku.agent.limits import TurnLimits
from kesoku.agent.signal import Again, Ended, LimitReached
from kesoku.agent.think import Asked, Thinker
from kesoku.agent.turn import Turn
from kesoku.history.block import is_compaction
from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import Answer
from kesoku.messages.lifecycle import Claim
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import CompiledRequest, Reply
from kesoku.ports import Approver, ChatModel, Clock, Drafts, Gateway, Store
from kesoku.tools.context import ToolContext
from kesoku.tools.patience import Late, within
from kesoku.tools.registry import Toolbox

MACHINERY = "kesoku"
"""Provider and model of an answer that the loop itself gives."""


def everywhere(_: Address) -> bool:
    """The careful choice for `admins_only`."""
    return True


class TurnLoop:
    """Runs claimed prompts to their answers. Cancel the task to interrupt it: then nothing more is written."""

    def __init__(
        self,
        gateway: Gateway,
        store: Store,
        clock: Clock,
        assistants: Assistants,
        tools: Toolbox,
        *,
        approver: Approver,
        drafts: Drafts,
        context: Callable[[Record], ToolContext],
        keep: Keep,
        hooks: Mapping[str, Hook] | None = None,
        limits: TurnLimits | None = None,
        budget: Budget | None = None,
        admins_only: Callable[[Address], bool] = everywhere,
    ) -> None:
        self._clock, self._limits, self._budget = clock, limits or TurnLimits(), budget or Budget()
        self._assistants = assistants
        self._journal = Journal(gateway, store, clock, drafts, limits=self._limits, budget=self._budget)
        self._hooks = Hooks(self._journal, hooks or {}, seconds=self._limits.hook_seconds)
        self._thinker = Thinker(drafts)
        self._actor = Actor(
            gateway,
            clock,
            tools,
            approver,
            context=context,
            keep=keep,
            admins_only=admins_only,
            approval_seconds=self._limits.approval_seconds,
        )

    async def run(self, claim: Claim) -> None:
        """Work on a prompt until its answer is stored, from the last stored step on. Raises ModelError, Deposed."""
        turn = await self._journal.open(claim)
        try:
            await within(self._run(turn), self._limits.seconds, grace=None, sleep=self._clock.sleep)
        except Late:
            turn = await self._journal.read(turn)
            limit = LimitReached(limit=f"{self._limits.seconds:g} s", done=turn.done())
            await self._end(turn, limit)

    async def fail(self, claim: Claim, answer: Answer) -> None:
        """End a turn with an error (K-147), or with as much of its answer as was begun."""
        turn = await self._journal.open(replace(claim, is_new=False))
        if turn.begun:
            answer = _as_far_as(turn.begun, answer.content.text.removeprefix(make.ERROR))
        await self._journal.finish(turn, End(answer=answer), MessageStatus.ERROR)

    async def abandon(self, claim: Claim, answer: Answer) -> None:
        """The same without a look at what the turn did; its open calls are healed by the next turn (K-167)."""
        await self._journal.abandon(claim, answer)

    async def _run(self, turn: Turn) -> None:
        joined = True  # a claim takes in what waits
        while True:
            try:
                if not turn.has_news:
                    noted = await self._think(turn if joined else await self._journal.join(turn))
                    if end := _last_words(noted):
                        return await self._journal.answer(noted, end)
                    turn = await self._journal.keep(noted)
                joined = False
                if turn.begun:  # what was said meanwhile decides how the answer goes on
                    turn = await self._journal.join(turn)
                reply = turn.last_reply
                judge_reply(turn, reply)
                if not reply.calls:
                    return await self._journal.finish(turn, _end(turn, reply))
                turn = await self._act(turn)
                judge_calls(turn, self._limits)
            except Again as signal:
                turn = await self._journal.say(turn, signal.note)
            except Ended as signal:
                return await self._end(turn, signal)

    async def _end(self, turn: Turn, signal: Ended) -> None:
        """End a turn without a further step; an answer that was begun stands as far as it got."""
        if turn.begun:
            await self._journal.finish(turn, End(answer=_as_far_as(turn.begun, signal.reason)))
            return
        answer = make.answer(signal.text, provider=MACHINERY, model=MACHINERY)
        if signal.error:
            answer = make.error_answer(signal.text, error=signal.error)
        await self._journal.finish(turn, End(answer=answer), MessageStatus.ERROR)

    async def _think(self, turn: Turn) -> Noted:
        """One step of the model."""
        judge_limits(turn, self._limits)
        turn = await self._hooks.before(turn)
        asked, reply = await self._thinker.think(turn, self._who(turn).models, lambda model: self._asked(turn, model))
        return self._journal.note(turn, asked, reply)

    async def _act(self, turn: Turn) -> Turn:
        """The calls of the last step, run and stored."""
        await self._actor.act(turn, turn.open_calls)
        return await self._journal.read(turn)

    def _who(self, turn: Turn) -> Assistant:
        return self._assistants(turn.address, turn.profile)

    def _asked(self, turn: Turn, model: ChatModel) -> Asked:
        """The next step within the budget, kept short if need be. Raises LimitReached."""
        request = self._compiled(turn, model)
        allowance = self._budget.allow(turn, model, request)
        if allowance is None:
            return Asked(model=model.name, request=request, provider=model.provider)
        options = {**request.options, "max_output_tokens": allowance.tokens}
        request = replace(request, options=options)
        return Asked(model=model.name, request=request, provider=model.provider, bound=allowance.bound)

    def _compiled(self, turn: Turn, model: ChatModel) -> CompiledRequest:
        """The request for the next step; after a cut reply with less thinking, which eats the same budget."""
        request = self._who(turn).request
        if is_compaction(turn.prompt):  # it writes, and does nothing
            request = replace(request, tools=())
        if turn.nudges("cut") or turn.begun:
            request = replace(request, options={**request.options, "thinking": "low"})
        return compile_turns(
            (*turn.past, *turn.records),
            turn.steps,
            request,
            limits=CompileLimits.of(
                turn.branch, tool_output=self._limits.tool_output, tokens=self._limits.history_tokens
            ),
            provider=model.provider,
            active_turn=turn.id,
        )


def _last_words(noted: Noted) -> End | None:
    """The end, if the reply is one and nothing else is to be done: then both are stored in one commit."""
    turn, reply = noted.later, noted.reply
    if reply.calls or noted.turn.can_go_on(reply) or turn.open_calls:
        return None
    try:
        judge_reply(turn, reply)
    except (Again, Ended):
        return None
    return _end(turn, reply)


def _end(turn: Turn, reply: Reply) -> End:
    text = answer_text(turn, reply)
    if is_compaction(turn.prompt):
        return compacted(turn, text)
    return End(answer=make.answer(text, provider=reply.provider, model=reply.model))


def _as_far_as(begun: Reply, why: str) -> Answer:
    return make.answer(cut_text(begun.text, why), provider=begun.provider, model=begun.model)
