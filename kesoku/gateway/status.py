"""Moving a status: one compare-and-set, and the rules that the table alone does not show (K-132)."""

from dataclasses import dataclass

from kesoku.errors import TransitionRefused, UnknownMessage
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.status import sources_of
from kesoku.ports import Transaction

_OUTGOING = frozenset({MessageStatus.RESPONDED, MessageStatus.DELIVERED})

_UNSEEN = frozenset({"system_prompt", "system_note", "summary"})
"""Kinds that rest in responded: they are for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who changes something, why and when; what the event log says about it."""

    actor: str
    reason: str = ""
    at: int


def advance(tx: Transaction, message_id: str, to: MessageStatus, act: Act) -> Record:
    """Move a record to `to`; the same status again is a no-op (K-133).

    Raises:
        UnknownMessage: no such id.
        TransitionRefused: the diagram has no such step.
    """
    moved = tx.messages.move(message_id, to, sources_of(to), actor=act.actor, reason=act.reason, at=act.at)
    if moved is not None:
        return moved
    stored = tx.messages.get(message_id)
    if stored is None:
        raise UnknownMessage(message_id=message_id)
    if stored.status is to:
        return stored
    raise TransitionRefused(message_id=message_id, current=stored.status, to=to)


def refuse_forbidden(tx: Transaction, message_id: str, to: MessageStatus) -> None:
    """Refuse what only the machinery may do: put a prompt back, interrupt what is said and done, or show what is not
    for people.

    Raises:
        TransitionRefused: processing to pending_agent outside of recovery; responded and delivered to interrupted for
            anything but a tool call without a result; responded to delivered for what nobody is shown (K-051, K-059).
    """
    stored = tx.messages.get(message_id)
    if stored is None or stored.status is to:
        return
    back = to is MessageStatus.PENDING_AGENT
    undone = to is MessageStatus.INTERRUPTED and stored.status in _OUTGOING and not _is_open_call(stored)
    shown = to is MessageStatus.DELIVERED and stored.kind in _UNSEEN
    if back or undone or shown:
        raise TransitionRefused(message_id=message_id, current=stored.status, to=to)


def _is_open_call(record: Record) -> bool:
    return record.kind == "tool_call" and record.message.content.response_id is None
