"""Turns and their steps in SQL: facts, no state."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import case, func, literal_column, select, update

from kesoku.errors import StoreConflict
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Expense, Step, TurnFacts
from kesoku.messages.turn import Usage
from kesoku.store.cell import int_or, int_or_none
from kesoku.store.engine import Link, Row, plain
from kesoku.store.mapping import UNREADABLE, from_json, mapping_of, to_json
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import messages, steps, turns

_t, _s = turns.c, steps.c
_USAGE = tuple(each.name for each in fields(Usage))

GET = Statement(select(_t.prompt_ids, _t.metrics, _t.failures).where(_t.turn_id == param("turn_id")))
OPEN = Statement(
    insert_into(turns, "metrics", "failures")
    .values(session_id=select(messages.c.session_id).where(messages.c.id == param("turn_id")).scalar_subquery())
    .on_conflict_do_nothing(index_elements=["turn_id"])
)
EXTEND = Statement(update(turns).where(_t.turn_id == param("id")).values(prompt_ids=param("prompt_ids")))
MEASURE = Statement(update(turns).where(_t.turn_id == param("id")).values(metrics=param("metrics")))
COUNT = Statement(
    select(func.count()).select_from(turns).where(_t.session_id == param("session_id"), _t.metrics.is_not(None))
)
ADD = Statement(insert_into(steps).on_conflict_do_nothing(index_elements=["turn_id", "n"]), bulky=True)
OF = Statement(
    select(_s.turn_id, _s.n, _s.request, _s.reply, _s.usage, _s.at, _s.model, _s.cost)
    .where(_s.turn_id == param("turn_id"))
    .order_by(_s.n)
)
SPENT = Statement(select(func.sum(_s.cost)).where(_s.at >= param("since"), _s.cost.is_not(None)))
_used = case((func.json_valid(_s.usage), _s.usage), else_=literal_column("'{}'"))
EXPENSE = Statement(
    select(*(func.sum(func.json_extract(_used, f"$.{name}")) for name in _USAGE), func.sum(_s.cost))
    .select_from(turns.join(steps, _s.turn_id == _t.turn_id))
    .where(_t.session_id == param("session_id"))
)


class SqlStepStore:
    """See `kesoku.ports.store.StepStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def open(self, turn_id: str, prompt_ids: Sequence[str]) -> TurnFacts:
        """Note a turn, or more prompts of it."""
        new = tuple(dict.fromkeys(prompt_ids))
        known = None
        if not self._link.change(OPEN, turn_id=turn_id, prompt_ids=to_json(new)):
            known = self.turn(turn_id)
        if known is None:
            return TurnFacts(turn_id=turn_id, prompt_ids=new)
        facts = replace(known, prompt_ids=tuple(dict.fromkeys((*known.prompt_ids, *new))))
        if facts != known:
            self._link.change(EXTEND, id=turn_id, prompt_ids=to_json(facts.prompt_ids))
        return facts

    def turn(self, turn_id: str) -> TurnFacts | None:
        """The facts of a turn."""
        row = self._link.row(GET, turn_id=turn_id)
        if row is None:
            return None
        facts = TurnFacts(turn_id=turn_id, prompt_ids=(turn_id,), failures=int_or(row[2]))
        try:
            return replace(facts, prompt_ids=tuple(map(str, from_json(row[0]))), metrics=mapping_of(row[1]))
        except UNREADABLE:  # a damaged note of a turn names no one but its opener
            return facts

    def add(self, step: Step) -> None:
        """Store a step; another one of that number is a StoreConflict."""
        added = self._link.change(
            ADD,
            turn_id=step.turn_id,
            n=step.n,
            request=to_json(step.request),
            reply=to_json(step.reply),
            usage=to_json({name: getattr(step.usage, name) for name in _USAGE}),
            at=step.at,
            model=step.model,
            cost=step.cost,
        )
        if not added and step not in self.of(step.turn_id):
            raise StoreConflict(path=self._link.path, reason=f"turn {step.turn_id} has another step {step.n}")

    def of(self, turn_id: str) -> list[Step]:
        """The steps of a turn."""
        return [_step_of(row) for row in self._link.rows(OF, turn_id=turn_id)]

    def set_metrics(self, turn_id: str, metrics: dict[str, Any]) -> None:
        """Store metrics; a turn that was not noted is noted now."""
        if not self._link.change(MEASURE, id=turn_id, metrics=to_json(metrics)):
            self.open(turn_id, (turn_id,))
            self._link.change(MEASURE, id=turn_id, metrics=to_json(metrics))

    def count(self, session_id: str) -> int:
        """Turns of a session that have metrics."""
        row = self._link.row(COUNT, session_id=session_id)
        return int(row[0]) if row else 0

    def spent(self, since: int) -> int:
        """Nanodollars since a time."""
        ((cost,),) = self._link.rows(SPENT, since=since)
        return cost or 0

    def expense(self, session_id: str) -> Expense:
        """What the turns of a session used."""
        ((*tokens, cost),) = self._link.rows(EXPENSE, session_id=session_id)
        return Expense(usage=Usage(**dict(zip(_USAGE, (each or 0 for each in tokens), strict=True))), cost=cost)


def _step_of(row: Row) -> Step:
    """The step of a row; without its reply where a cell cannot be read, and such a turn cannot go on."""
    turn_id, n, request, reply, usage, at, model, cost = row
    step = Step(turn_id=plain(turn_id), n=int_or(n), request=EMPTY, reply=EMPTY, at=int_or(at), model=plain(model))
    try:
        used = Usage(**from_json(usage))
        request, reply = mapping_of(request), mapping_of(reply)
    except UNREADABLE:
        return step
    return replace(step, request=request, reply=reply, usage=used, cost=int_or_none(cost))
