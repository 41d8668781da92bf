"""What becomes of an outgoing record: one pure decision, taken when it is picked up (C-28, C-30, K-158, K-161)."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from kesoku.adapter.outgoing import Draft
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.visibility import Presentation, Visibility

WAITING = frozenset({MessageStatus.PENDING, MessageStatus.RESPONDED})
RUNNING = frozenset({MessageStatus.PENDING_AGENT, MessageStatus.PROCESSING})
_SHOWABLE = frozenset({"answer", "notice", "thought", "tool_call", "tool_result"})


def waits(record: Record) -> bool:
    """Whether the outbox still has to do something about a record."""
    return record.status in WAITING and record.kind in _SHOWABLE


def answer_waits(turn: Iterable[Record]) -> bool:
    """Whether an answer of a turn is not out yet."""
    return any(record.kind == "answer" and record.status in WAITING for record in turn)


class Route(StrEnum):
    """Where a record goes."""

    LEAVE = "leave"
    """Nothing is to be done: it was handled, is not for people, or belongs to an interrupted turn."""
    SILENT = "silent"
    """Delivered without showing anything."""
    FOLD = "fold"
    """Into the live status of its turn."""
    SEND = "send"
    """As a message of its own."""
    WITHDRAW = "withdraw"
    """A question of a turn that is over: nobody may be asked any more."""


def route(record: Record, *, turn: MessageStatus | None, over: bool, visibility: Visibility) -> Route:
    """Decide. `turn` is the status of the prompt that opened the record's turn, None without a turn; `over` says that
    the live status of that turn was closed already.

    What an interrupted turn left behind in `responded` stays there: it was not shown and says so (K-246).
    """
    if not waits(record):
        return Route.LEAVE
    if turn is MessageStatus.INTERRUPTED and record.status is MessageStatus.RESPONDED:
        return Route.LEAVE
    if turn is not None and turn not in RUNNING and getattr(record.message.content, "question", None):
        return Route.WITHDRAW
    return _presented(record, turn=turn, over=over, presentation=visibility.of(record.message))


def _presented(record: Record, *, turn: MessageStatus | None, over: bool, presentation: Presentation) -> Route:
    if presentation is Presentation.HIDDEN:
        return Route.SILENT
    if presentation is Presentation.SHOWN or record.kind == "answer":
        return Route.SEND
    if turn in RUNNING and not over:
        return Route.FOLD
    # Nobody would remove a live status any more. A status notice is a plain message then (C-28).
    return Route.SEND if record.kind == "notice" else Route.SILENT


def visible_draft(draft: Draft, visibility: Visibility) -> Draft | None:
    """The draft without what this platform hides; None if nothing is left (complaint 79)."""
    thought = "" if visibility.thought is Presentation.HIDDEN else draft.thought
    text = "" if visibility.assistant_text is Presentation.HIDDEN else draft.text
    if not thought and not text and not draft.note:
        return None
    return replace(draft, thought=thought, text=text)
