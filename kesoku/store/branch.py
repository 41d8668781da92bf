"""Branches and the common parts of requests in SQL."""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from sqlalchemy import literal_column, select, update

from kesoku.messages.branch import Branch, Cleared, Span
from kesoku.messages.freeze import FrozenDict, thaw
from kesoku.store.branch_tables import branches, requests
from kesoku.store.cell import int_or
from kesoku.store.engine import Link, Row, plain
from kesoku.store.mapping import UNREADABLE, from_json, to_json
from kesoku.store.statement import Statement, insert_into, param

_log = logging.getLogger(__name__)
_LATEST = 2**63 - 1

_b = branches.c
_BRANCH = (_b.session_id, _b.name, _b.spans, _b.forgotten, _b.pinned, _b.cleared, _b.summary, _b.cuts, _b.at)
_is_current = _b.is_current == literal_column("1")
_VALUES = ("spans", "forgotten", "pinned", "cleared", "summary", "cuts", "at")

CURRENT = Statement(select(*_BRANCH).where(_b.session_id == param("session_id"), _is_current))
GET = Statement(select(*_BRANCH).where(_b.session_id == param("session_id"), _b.name == param("name")))
ALL = Statement(select(*_BRANCH).where(_b.session_id == param("session_id")).order_by(_b.at.desc(), _b.name))
LEAVE = Statement(update(branches).where(_b.session_id == param("session"), _is_current).values(is_current=0))
ENTER = Statement(
    update(branches).where(_b.session_id == param("session"), _b.name == param("branch")).values(is_current=1)
)
PUT = Statement(
    insert_into(branches).on_conflict_do_update(
        index_elements=["session_id", "name"], set_={name: param(name) for name in _VALUES}
    ),
    bulky=True,
)
KEEP = Statement(insert_into(requests).on_conflict_do_nothing(index_elements=["digest"]), bulky=True)
KEPT = Statement(select(requests.c.body).where(requests.c.digest == param("digest")))


class SqlBranchStore:
    """See `kesoku.ports.branch.BranchStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def current(self, session_id: str) -> Branch:
        """What the model reads now."""
        row = self._link.row(CURRENT, session_id=session_id)
        return Branch(session_id=session_id) if row is None else _branch_of(session_id, row)

    def get(self, session_id: str, name: str) -> Branch | None:
        """A branch by name."""
        row = self._link.row(GET, session_id=session_id, name=name)
        return None if row is None else _branch_of(session_id, row)

    def all(self, session_id: str) -> list[Branch]:
        """Every stored branch."""
        return [_branch_of(session_id, row) for row in self._link.rows(ALL, session_id=session_id)]

    def select(self, branch: Branch) -> None:
        """Store a branch and make it the current one."""
        self.put(branch)
        self._link.change(LEAVE, session=branch.session_id)
        self._link.change(ENTER, session=branch.session_id, branch=branch.name)

    def put(self, branch: Branch) -> None:
        """Store a branch."""
        self._link.change(
            PUT,
            session_id=branch.session_id,
            name=branch.name,
            spans=to_json(branch.spans),
            forgotten=to_json(sorted(branch.forgotten)),
            pinned=to_json(branch.pinned),
            cleared=to_json([_form(each) for each in branch.cleared]) if branch.cleared else None,
            summary=branch.summary,
            cuts=to_json(thaw(branch.cuts)),
            at=branch.at,
            is_current=0,
        )


class SqlRequestStore:
    """See `kesoku.ports.branch.RequestStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def put(self, digest: str, body: Mapping[str, Any]) -> None:
        """Store a form under its hash."""
        self._link.change(KEEP, digest=digest, body=to_json(thaw(body)))

    def get(self, digest: str) -> Any:
        """The form, or None; also for a damaged one."""
        row = self._link.row(KEPT, digest=digest)
        try:
            return None if row is None else json.loads(row[0])
        except UNREADABLE as error:
            _log.error("what requests have in common, %s, is damaged in the database: %s", digest, error)
            return None


def _form(cleared: Cleared) -> dict[str, Any]:
    return {"spans": cleared.spans, "summary": cleared.summary, "cuts": thaw(cleared.cuts)}


def _branch_of(session_id: str, row: Row) -> Branch:
    """The branch of a row. A damaged one is the whole session: nothing that was said may seem lost."""
    _, name, *cells, at = row
    try:
        spans, forgotten, pinned, cleared, summary, cuts = cells
        return Branch(
            session_id=session_id,
            name=plain(name),
            spans=_spans_of(from_json(spans)),
            forgotten=frozenset(_texts_of(from_json(forgotten))),
            pinned=_texts_of(from_json(pinned)),
            cleared=tuple(map(_cleared_of, from_json(cleared) or ())),
            summary=plain(summary),
            cuts=_cuts_of(from_json(cuts)),
            at=int_or(at, 0),
        )
    except UNREADABLE as error:
        _log.error("the branch %s of %s is damaged in the database and read whole: %s", plain(name), session_id, error)
        return Branch(session_id=session_id, name=str(plain(name)), at=int_or(at, 0))


def _cleared_of(form: Mapping[str, Any]) -> Cleared:
    (summary,) = (None,) if form["summary"] is None else _texts_of([form["summary"]])
    return Cleared(spans=_spans_of(form["spans"]), summary=summary, cuts=_cuts_of(form["cuts"]))


def _spans_of(form: Sequence[Sequence[int | None]]) -> tuple[Span, ...]:
    """Raises ValueError unless they are in order and only the last one is open."""
    spans, behind = [], 0
    for first, last in form:
        if not _is_place(first) or not (last is None or _is_place(last)):
            raise ValueError(f"{form!r:.80} are no spans")
        if first <= behind or (last is not None and last < first):
            raise ValueError(f"{form!r:.80} are not in order")
        spans.append((first, last))
        behind = _LATEST if last is None else last
    return tuple(spans)


def _is_place(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value < _LATEST


def _texts_of(form: Sequence[str]) -> tuple[str, ...]:
    if isinstance(form, str) or not all(type(each) is str for each in form):
        raise ValueError(f"{form!r:.80} are no ids")
    return tuple(form)


def _cuts_of(form: Mapping[str, int]) -> FrozenDict:
    if not all(_is_place(each) for each in form.values()):
        raise ValueError(f"{form!r:.80} are no bytes")
    return FrozenDict(form)
