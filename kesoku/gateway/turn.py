"""What a transaction does to the turn of a session: open it, end it, put it back, heal its calls.

A turn is named after the prompt that opened it; `TurnFacts.prompt_ids` are all prompts that it answers. Functions take
`mint`, a memoised `make.interrupted_result`, so that an operation that runs twice writes the same message.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from kesoku.gateway.status import Act, advance
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import ToolCall, ToolResult
from kesoku.messages.lifecycle import Fence, Lease
from kesoku.messages.message import Message
from kesoku.messages.record import Post, Record
from kesoku.ports import Transaction


class Mint(Protocol):
    """Makes the synthetic result of a call, and the call's next version; `ran` says that it may have begun."""

    def __call__(self, call: Message, /, *, ran: bool) -> tuple[ToolCall, ToolResult]:
        """The same ones when asked again."""
        ...


def running(tx: Transaction, session_id: str) -> Record | None:
    """The prompt whose turn runs in a session, or None if the session is free."""
    lease = tx.leases.get(session_id)
    if lease is None or lease.owner is None or lease.message_id is None:
        return None
    return tx.messages.get(lease.message_id)


def prompts(tx: Transaction, turn_id: str, status: MessageStatus = MessageStatus.PROCESSING) -> list[Record]:
    """The prompts of a turn that are in a status, in the order in which they joined."""
    found = (tx.messages.get(each) for each in _members(tx, turn_id))
    return [each for each in found if each is not None and each.status is status and turn_id in {each.id, each.turn_id}]


def end(tx: Transaction, turn_id: str, status: MessageStatus, act: Act) -> None:
    """Move the prompts of a turn to `status`; of those that joined only what still runs.

    Raises TransitionRefused where the prompt that opened it does not run.
    """
    advance(tx, turn_id, status, act)
    for each in _members(tx, turn_id):
        if each != turn_id:
            running = {MessageStatus.PROCESSING}
            tx.messages.move(each, status, running, actor=act.actor, reason=act.reason, at=act.at)


def _members(tx: Transaction, turn_id: str) -> tuple[str, ...]:
    """The ids of a turn's prompts. Its opener is one of them, whatever the note of the turn says."""
    facts = tx.steps.turn(turn_id)
    noted = facts.prompt_ids if facts else ()
    return noted if turn_id in noted else (turn_id, *noted)


def joins(prompt: Record, opener: Record) -> bool:
    """Whether a queued prompt goes into the turn of `opener` instead of waiting for its own (C-42).

    A steered prompt joins only a turn of its own channel: the answer goes there.
    """
    here = prompt.mode == "steer" and prompt.address == opener.address
    return (here or prompt.mode == "inject") and not prompt.is_damaged


def riders(tx: Transaction, opener: Record) -> list[Record]:
    """Queued prompts that go into the turn of `opener`; one that was put back with another turn waits for that one."""
    waiting = tx.messages.riders(opener.session_id)
    return [each for each in waiting if each.id != opener.id and joins(each, opener) and _is_free(tx, each, opener)]


def _is_free(tx: Transaction, rider: Record, opener: Record) -> bool:
    if rider.turn_id in {None, rider.id, opener.id}:
        return True
    other = tx.messages.get(rider.turn_id or "")
    return other is None or other.status is not MessageStatus.PENDING_AGENT


def enter(tx: Transaction, turn_id: str, queued: Iterable[Record], act: Act, *, round: int) -> list[Record]:  # noqa: A002
    """Take queued prompts into a turn; one that was in it before a crash keeps its round."""
    entered = []
    for each in queued:
        if each.turn_id != turn_id:
            tx.messages.place(each.id, turn_id=turn_id, round=round)
        entered.append(advance(tx, each.id, MessageStatus.PROCESSING, act))
    tx.steps.open(turn_id, [each.id for each in entered])
    return entered


def withdraw(tx: Transaction, message_id: str, act: Act) -> Record | None:
    """Interrupt a prompt that has not started; None if it has, or is not known (N-11).

    Nobody reads what was taken back before it was read, unless a crash put it back and something was done for it.
    """
    waiting = {MessageStatus.PENDING_AGENT}
    over = MessageStatus.INTERRUPTED
    gone = tx.messages.move(message_id, over, waiting, actor=act.actor, reason=act.reason, at=act.at)
    if gone is not None and not tx.steps.of(gone.turn_id or gone.id):
        branch = tx.branches.current(gone.session_id)
        tx.branches.select(replace(branch.without([gone.id]), at=act.at))
    return gone


def requeue(tx: Transaction, lease: Lease, act: Act) -> list[Record]:
    """Put the prompts of a leased turn back to pending_agent."""
    back = MessageStatus.PENDING_AGENT
    return [advance(tx, each.id, back, act) for each in prompts(tx, lease.message_id or "")]


def interrupt(tx: Transaction, session_id: str, act: Act, mint: Mint) -> list[Record]:
    """End the running turn (store rule 7): prompts and open calls interrupted, results stored, generation + 1.

    Calls that have a result keep their status (K-145). Returns what was interrupted; nothing if nothing runs.
    """
    lease = tx.leases.get(session_id)
    if lease is None or lease.owner is None:
        return []
    ended = [advance(tx, each.id, MessageStatus.INTERRUPTED, act) for each in prompts(tx, lease.message_id or "")]
    left = heal_all(tx, session_id, lease.message_id, act, mint)
    ended += [advance(tx, call.id, MessageStatus.INTERRUPTED, act) for call in left]
    tx.leases.depose(session_id, failed=False)
    return ended


def orphans(tx: Transaction, fence: Fence) -> list[Record]:
    """Open calls that were stored before this claim; those of the turn that runs now are not orphans (K-170).

    Nor are those that nobody has allowed, or somebody while nobody ran the turn: they never began.
    """
    lease = tx.leases.get(fence.session_id)
    calls = tx.messages.open_calls(fence.session_id)
    if not calls or lease is None or lease.message_id is None:
        return []
    moves = tx.events.of(lease.message_id)
    claimed = max((each.seq for each in moves if each.after is MessageStatus.PROCESSING), default=0)
    parked = max((each.at for each in moves if each.after is MessageStatus.PENDING_AGENT), default=0)
    old = (call for call in calls if tx.events.of(call.id)[0].seq < claimed)
    return [call for call in old if call.turn_id != lease.message_id or not _is_new(tx, call, parked)]


def _is_new(tx: Transaction, call: Record, parked: int) -> bool:
    asked = tx.questions.get(call.id)
    return asked is not None and (not asked.is_granted or (asked.answered_at or 0) >= parked)


def heal_all(tx: Transaction, session_id: str, turn_id: str | None, act: Act, mint: Mint) -> list[Record]:
    """Give the open calls of a turn with which nobody goes on their synthetic results; those calls."""
    calls = [each for each in tx.messages.open_calls(session_id) if each.turn_id == turn_id]
    for each in calls:
        heal(tx, each, act, mint)
    return calls


def heal(tx: Transaction, call: Record, act: Act, mint: Mint) -> Record:
    """Give an open call its synthetic result (K-167)."""
    asked = tx.questions.get(call.id)
    next_call, result = mint(call.message, ran=asked is None or asked.is_granted)
    return answer(tx, call, result, next_call, act)


def answer(tx: Transaction, call: Record, result: ToolResult, next_call: Message, act: Act) -> Record:
    """Store a result and the call's next version, in this order (R-5)."""
    post = Post(message=result, address=call.address, parent_id=call.id, turn_id=call.turn_id, round=call.round)
    stored = tx.messages.insert(post, session_id=call.session_id, at=act.at)
    tx.messages.rewrite(next_call, actor=act.actor, at=act.at)
    return stored
