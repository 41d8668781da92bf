"""What the model reads of each session, and what else went into its requests."""

from collections.abc import Mapping
from typing import Any, Protocol

from kesoku.messages.branch import Branch


class BranchStore(Protocol):
    """Branches of sessions by name; one of each session is current."""

    def current(self, session_id: str) -> Branch:
        """What the model reads now; of a session that nobody changed, everything."""
        ...

    def get(self, session_id: str, name: str) -> Branch | None:
        """A branch by name, or None."""
        ...

    def all(self, session_id: str) -> list[Branch]:
        """Every branch that was ever stored, the one selected last first."""
        ...

    def select(self, branch: Branch) -> None:
        """Store a branch, in place of an earlier one of its name, and make it the current one."""
        ...

    def put(self, branch: Branch) -> None:
        """Store a branch without selecting it."""
        ...


class RequestStore(Protocol):
    """What requests have in common: system prompt, tools, response format, each once."""

    def put(self, digest: str, body: Mapping[str, Any]) -> None:
        """Store a JSON form under its hash; the same hash again changes nothing."""
        ...

    def get(self, digest: str) -> Any:
        """The form in plain dicts and lists, or None."""
        ...
