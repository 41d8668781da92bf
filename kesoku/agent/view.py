"""What the model would read now: the same selection, limits and compiler as a turn has, without a turn."""

from dataclasses import dataclass

from kesoku.agent.assistant import Assistant, Assistants
from kesoku.agent.limits import TurnLimits
from kesoku.agent.past import past
from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.messages.branch import Branch
from kesoku.messages.lifecycle import Session
from kesoku.messages.profile import profile_at, profile_of
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import CompiledRequest
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
    model: ChatModel
    """Which model would read it."""
    tokens: int
    """Its estimate for the whole request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Looks at sessions with the eyes of who answers there."""

    assistants: Assistants
    limits: TurnLimits

    def assistant(self, tx: Transaction, session: Session | None, here: Address) -> Assistant:
        """Who answers the turn that runs in a session; if none runs, what is said next in the channel `here`."""
        running = _running(tx, session) if session else None
        opener = tx.messages.get(running) if running else None
        if opener is not None:
            return self.assistants(opener.address, profile_of(opener, tx.messages))
        return self.assistants(here, profile_at(here, tx.messages))

    def view(self, tx: Transaction, session: Session, here: Address) -> View:
        """The request of the next step: of the turn that runs, or of one that begins now in the channel `here`."""
        who = self.assistant(tx, session, here)
        branch = tx.branches.current(session.id)
        running = _running(tx, session)
        records = past(tx, branch, n=session.last_n + 1, records=self.limits.history_records)
        if running is not None:
            records = _with(records, tx.messages.turn(running))
        request = compile_turns(
            records,
            tx.steps.of(running) if running else (),
            who.request,
            limits=CompileLimits.of(branch, tool_output=self.limits.tool_output, tokens=self.limits.history_tokens),
            provider=who.model.provider,
            active_turn=running or _NEXT,
        )
        tokens = who.model.count(request)
        return View(branch=branch, records=records, request=request, model=who.model, tokens=tokens)


def _running(tx: Transaction, session: Session) -> str | None:
    """The id of the prompt whose turn runs."""
    lease = tx.leases.get(session.id)
    return lease.message_id if lease is not None and lease.owner is not None else None


def _with(records: tuple[Record, ...], turn: list[Record]) -> tuple[Record, ...]:
    known = {record.id: record for record in (*records, *turn)}
    return tuple(sorted(known.values(), key=lambda record: record.seq))
