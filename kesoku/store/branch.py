"""Branches and the common parts of requests in SQL."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, update

from kesoku.messages.branch import Branch
from kesoku.messages.freeze import thaw
from kesoku.store.branch_tables import branches, requests
from kesoku.store.engine import Link, Row, plain
from kesoku.store.mapping import from_json, to_json
from kesoku.store.statement import Statement, insert_into, param

_b = branches.c
_BRANCH = (_b.session_id, _b.name, _b.spans, _b.forgotten, _b.pinned, _b.cleared, _b.at)
_VALUES = ("spans", "forgotten", "pinned", "cleared", "at")

CURRENT = Statement(select(*_BRANCH).where(_b.session_id == param("session_id"), _b.is_current == 1))
GET = Statement(select(*_BRANCH).where(_b.session_id == param("session_id"), _b.name == param("name")))
ALL = Statement(select(*_BRANCH).where(_b.session_id == param("session_id")).order_by(_b.at.desc(), _b.name))
LEAVE = Statement(update(branches).where(_b.session_id == param("session"), _b.is_current == 1).values(is_current=0))
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
        return Branch(session_id=session_id) if row is None else _branch_of(row)

    def get(self, session_id: str, name: str) -> Branch | None:
        """A branch by name."""
        row = self._link.row(GET, session_id=session_id, name=name)
        return None if row is None else _branch_of(row)

    def all(self, session_id: str) -> list[Branch]:
        """Every stored branch."""
        return [_branch_of(row) for row in self._link.rows(ALL, session_id=session_id)]

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
            cleared=None if branch.cleared is None else to_json(branch.cleared),
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
        """The form, or None."""
        row = self._link.row(KEPT, digest=digest)
        return None if row is None else json.loads(row[0])


def _branch_of(row: Row) -> Branch:
    session_id, name, spans, forgotten, pinned, cleared, at = row
    return Branch(
        session_id=plain(session_id),
        name=plain(name),
        spans=from_json(spans),
        forgotten=frozenset(from_json(forgotten)),
        pinned=from_json(pinned),
        cleared=from_json(cleared),
        at=at,
    )
