"""What the model would read now: the same selection, limits and compiler as a turn has, without a turn."""

from dataclasses import dataclass

from kesoku.agent.limits import TurnLimits
from kesoku.agent.past import past
from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.messages.branch import Branch
from kesoku.messages.lifecycle import Session
from kesoku.messages.record import Record
from kesoku.messages.turn import CompiledRequest, TurnRequest
from kesoku.ports import ChatModel, Transaction

_NEXT = "next"
"""Stands for the turn that comes: no message has this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A session as the model sees it."""

    branch: Branch
    records: tuple[Record, ...]
    """What is looked at, by seq; the request leaves out what people alone see."""
    request: CompiledRequest
    tokens: int
    """An estimate for the whole request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Looks at sessions with the eyes of `model`, which turns ask first."""

    model: ChatModel
    request: TurnRequest
    limits: TurnLimits

    def view(self, tx: Transaction, session: Session) -> View:
        """The request of the next step: of the turn that runs, or of one that begins now."""
        branch = tx.branches.current(session.id)
        lease = tx.leases.get(session.id)
        running = lease.message_id if lease is not None and lease.owner is not None else None
        records = past(tx, branch, n=session.last_n + 1, records=self.limits.history_records)
        if running is not None:
            records = _with(records, tx.messages.turn(running))
        request = compile_turns(
            records,
            tx.steps.of(running) if running else (),
            self.request,
            limits=CompileLimits.of(branch, tool_output=self.limits.tool_output, tokens=self.limits.history_tokens),
            provider=self.model.provider,
            active_turn=running or _NEXT,
        )
        return View(branch=branch, records=records, request=request, tokens=self.model.count(request))


def _with(records: tuple[Record, ...], turn: list[Record]) -> tuple[Record, ...]:
    known = {record.id: record for record in (*records, *turn)}
    return tuple(sorted(known.values(), key=lambda record: record.seq))
