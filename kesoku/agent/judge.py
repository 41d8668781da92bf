"""What a reply, a batch of results, or the state of a turn means for what comes next. Pure; speaks in signals."""

from kesoku.agent import signal
from kesoku.agent.limits import TurnLimits
from kesoku.agent.seam import closed, joined
from kesoku.agent.turn import Turn
from kesoku.messages.record import Record
from kesoku.messages.turn import Finish, Reply

_MALFORMED_RETRIES = 2
_EMPTY_RETRIES = 1
_STOPPED = {Finish.STOP: "the model did not go on", Finish.BLOCKED: "the provider withheld the rest"}
"""Why an answer ends that was begun, before what the provider says of it."""
_SHOWN = 1_000
"""Characters of a result in a summary."""


def judge_reply(turn: Turn, reply: Reply) -> None:
    """Return if the reply can be acted upon: it has calls, or it is an answer. Raises Again or Ended.

    Each kind of emptiness is told apart, and none of them ends as a success (complaints 61, 63, 65, 68, 69). An answer
    that is cut is continued once; whatever comes then ends the turn with what there is (complaint 64).
    """
    if reply.finish is Finish.REFUSED:  # even of an answer that was begun: the turn is not to be sent again
        raise signal.PromptRefused(reply, again=turn.follows_refusal)
    if reply.calls or turn.before(len(turn.steps)):
        return
    if turn.begun:
        raise signal.CutAnswer(text=reply.text, joined=turn.is_joined(turn.next_step))
    if reply.finish is Finish.BLOCKED:
        raise signal.AnswerWithheld(reply)
    if reply.finish.is_unreadable:
        if turn.nudges("malformed") < _MALFORMED_RETRIES:
            raise signal.UnreadableReply(reply)
        raise signal.Unreadable(reply)
    if not reply.text.strip():
        _judge_empty(turn, reply)


def _judge_empty(turn: Turn, reply: Reply) -> None:
    if reply.finish is Finish.CUT:
        if turn.nudges("cut") < _EMPTY_RETRIES:
            raise signal.CutReply
        raise signal.NoRoom(reply, bound=turn.bound)
    if turn.nudges("empty") < _EMPTY_RETRIES:
        raise signal.EmptyReply
    raise signal.NoAnswer(reply)


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
    """Raises LimitReached if no further step is allowed; what steps cost is for the Budget."""
    if len(turn.steps) >= limits.steps:
        raise signal.LimitReached(limit=f"{limits.steps} steps", done=turn.done())


def answer_text(turn: Turn, reply: Reply) -> str:
    """The text of a final answer, with the part that was begun before it.

    One that is not whole says so, and why; a budget may have kept it short (complaint 64).
    """
    begun = turn.before(len(turn.steps))
    text = "" if reply.finish is Finish.BLOCKED else reply.text
    whole = text if begun is None else joined(begun.text, text)
    if reply.finish is Finish.STOP and text.strip():
        detail = reply.detail or ""  # of a whole answer: what the provider sent beside it, such as a picture
        return f"{closed(whole)}\n\n*[{detail[0].upper()}{detail[1:]}.]*" if detail else whole
    why = (_STOPPED.get(reply.finish), reply.detail, turn.bound)
    return cut_text(whole, "; ".join(filter(None, why)))


def cut_text(text: str, why: str) -> str:
    """The part of an answer that there is, marked as cut."""
    return f"{closed(text)}\n\n*[The answer was cut here{why and ': '}{why.removesuffix('.')}.]*"
