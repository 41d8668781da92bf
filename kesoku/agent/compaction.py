"""The end of a turn that was asked for a summary: what stands for the past from now on (R-6, K-029).

Nothing is deleted. The summary is a message of its own (D-030); the session goes on with a branch that reads it in the
place of what it covers, and the last turns word for word. A long result in them is cut where it is read, and stays the
same message (D-029). Whoever takes the compaction back reads everything again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from kesoku.agent.turn import Turn
from kesoku.history.block import is_nudge
from kesoku.history.order import placed
from kesoku.history.weight import tokens_of, tokens_of_data
from kesoku.messages import make
from kesoku.messages.branch import Branch
from kesoku.messages.kinds import Answer, Notice, Summary
from kesoku.messages.record import Record
from kesoku.ports import Choose, Transaction
from kesoku.render import counted

TAIL = 2
"""So many of the last turns stay as they are."""
LONG_RESULT, CUT_RESULT = 4096, 1024
"""Bytes: a result in the tail that is longer than the first is read only up to the second."""
DONE = "🔄 Conversation history has been automatically compacted"
_READ = {"user_prompt", "system_note", "tool_call", "tool_result", "answer", "summary"}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a turn ends: its last message, what is stored before it, and what the session goes on with."""

    answer: Answer | Notice
    said: tuple[Summary, ...] = ()
    choose: Choose | None = None


def compacted(turn: Turn, text: str) -> End:
    """The end of a compaction whose summary the model has written."""
    tail = _tail(turn)
    kept = {each.id for each in tail}
    covered = [each for each in turn.past if each.kind in _READ and each.id not in kept and not _stays(turn, each)]
    summary = make.summary(text, covered=(each.id for each in covered))
    begin = min((each.session_n for each in tail), default=turn.prompt.session_n)
    cuts = {each.id: CUT_RESULT for each in tail if _is_long(each)}
    before = sum(tokens_of_data(each.message.content.to_dict()) for each in covered)
    asked = [each.id for each in turn.records if each.id == turn.id or is_nudge(each)]
    told = (
        f"{DONE}: a summary of {tokens_of(text):,} tokens stands for {counted(len(covered), 'message')} of about "
        f"{before:,} tokens. Nothing is deleted; /compact undo takes it back."
    )

    def choose(_: Transaction, branch: Branch, last: int) -> Branch:
        return branch.compacting(last, tail=begin, summary=summary.id, asked=asked, cuts=cuts)

    return End(answer=make.notice(told, reason="reply"), said=(summary,), choose=choose)


def _stays(turn: Turn, record: Record) -> bool:
    return (record.turn_id or record.id) in turn.branch.pinned


def _tail(turn: Turn) -> Sequence[Record]:
    """The records of the last turns that were answered, and of what stands behind the first of them."""
    order = placed(turn.past)
    turns = [[each.record for each in run] for _, run in groupby(order, key=attrgetter("turn_id"))]
    answered = [run for run in turns if any(each.kind == "answer" for each in run)]
    if len(answered) <= TAIL:
        return []
    begin = min(each.session_n for each in answered[-TAIL])
    return [each for each in turn.past if each.session_n >= begin and each.kind != "summary"]


def _is_long(record: Record) -> bool:
    return record.kind == "tool_result" and len(record.message.rendered.encode("utf-8", "replace")) > LONG_RESULT
