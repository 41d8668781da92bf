"""Branches and the common parts of requests in memory."""

import json
from collections.abc import Mapping
from typing import Any

from kesoku.messages.branch import Branch
from kesoku.messages.freeze import thaw
from kesoku.testing.memory.table import Tables


class MemoryBranches:
    """`BranchStore` over dicts."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def current(self, session_id: str) -> Branch:
        """See the port."""
        name = self._tables.branch.get(session_id)
        return (self.get(session_id, name) if name else None) or Branch(session_id=session_id)

    def get(self, session_id: str, name: str) -> Branch | None:
        """See the port."""
        return self._tables.branches.get((session_id, name))

    def all(self, session_id: str) -> list[Branch]:
        """See the port."""
        mine = [each for each in self._tables.branches.values() if each.session_id == session_id]
        return sorted(mine, key=lambda each: (-each.at, each.name))

    def select(self, branch: Branch) -> None:
        """See the port."""
        self.put(branch)
        self._tables.branch.put(branch.session_id, branch.name)

    def put(self, branch: Branch) -> None:
        """See the port."""
        self._tables.branches.put((branch.session_id, branch.name), branch)


class MemoryRequests:
    """`RequestStore` over a dict; values pass through JSON, as in the database."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def put(self, digest: str, body: Mapping[str, Any]) -> None:
        """See the port."""
        if digest not in self._tables.requests:
            self._tables.requests.put(digest, json.dumps(thaw(body)))

    def get(self, digest: str) -> Any:
        """See the port."""
        stored = self._tables.requests.get(digest)
        return None if stored is None else json.loads(stored)
