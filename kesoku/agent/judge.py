"""What a reply, a batch of results, or the state of a turn means for what comes next. Pure; speaks in signals."""

from kesoku.agent import signal
from kesoku.agent.limits import TurnLimits
from kesoku.agent.turn import Turn
from kesoku.messages.record import Record
from kesoku.messages.turn import Finish, Reply

_MALFORMED_RETRIES = 2
_EMPTY_RETRIES = 1
_SHOWN = 1_000
"""Characters of a result in a summary."""


def judge_reply(turn: Turn, reply: Reply) -> None:
    """Return if the reply can be acted upon: it has calls, or it is an answer. Raises Again or Ended.

    Each kind of emptiness is told apart, and none of them ends as a success (complaints 61, 63, 65, 68, 69).
    """
    if reply.calls:
        return
    if reply.finish is Finish.BLOCKED:
        raise signal.Blocked(detail=reply.detail)
    if reply.finish is Finish.MALFORMED:
        if turn.nudges("malformed") < _MALFORMED_RETRIES:
            raise signal.MalformedCall(detail=reply.detail)
        raise signal.Unreadable(detail=reply.detail)
    if not reply.text.strip():
        _judge_empty(turn, reply)


def _judge_empty(turn: Turn, reply: Reply) -> None:
    if reply.finish is Finish.CUT:
        if turn.nudges("cut") < _EMPTY_RETRIES:
            raise signal.CutReply
        raise signal.NoRoom(detail=reply.detail)
    if turn.nudges("empty") < _EMPTY_RETRIES:
        raise signal.EmptyReply
    raise signal.NoAnswer(detail=reply.detail)


def judge_calls(turn: Turn, limits: TurnLimits) -> None:
    """Look at the last step's results. Raises Stuck or RepeatedCall when the model goes in circles."""
    step = len(turn.steps)
    for call in turn.calls_of(step):
        tool, times = call.message.content.tool, turn.repeats(call, until=step)
        if times >= limits.stuck_after:
            raise signal.Stuck(tool=tool, times=times, result=_shown(turn.result(call)), done=turn.done())
        if turn.repeats(call, until=step - 1) < limits.told_after <= times:
            raise signal.RepeatedCall(tool=tool, times=times)


def _shown(result: Record | None) -> str:
    text = "" if result is None else result.message.rendered
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def judge_limits(turn: Turn, limits: TurnLimits) -> None:
    """Raises LimitReached if no further step is allowed."""
    if len(turn.steps) >= limits.steps:
        raise signal.LimitReached(limit=f"{limits.steps} steps", done=turn.done())
    if limits.tokens is not None and turn.usage.total >= limits.tokens:
        raise signal.LimitReached(limit=f"{limits.tokens:,} tokens ({turn.usage.total:,} used)", done=turn.done())


def answer_text(reply: Reply) -> str:
    """The text of a final answer; one that was cut says so (complaint 64)."""
    if reply.finish is not Finish.CUT:
        return reply.text
    fence = "\n```" if reply.text.count("```") % 2 else ""
    reason = f": {reply.detail}" if reply.detail else ""
    return f"{reply.text}{fence}\n\n*[The answer was cut here{reason}.]*"
