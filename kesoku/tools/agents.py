"""What a tool needs of the other agents. Defined here, because tools know nothing of sessions and mail."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Agents(Protocol):
    """The other agents as one agent sees them. `session_id` is whose turn it is, `call_id` the call that is served.

    Every method may be called again with the same call after a crash, and then does nothing twice.
    """

    async def spawn(self, *, session_id: str, call_id: str, task: str, name: str) -> str:
        """Let another agent do a task; its answer comes as mail. Returns words for the model.

        Raises ToolRefused: the name is taken or none, too many agents work, or too deep a delegation.
        """
        ...

    async def send(self, *, session_id: str, call_id: str, to: str, text: str, channel: str | None) -> str:
        """Write to the agent that gave the task (`parent`), to an own one by name, or to a name of the address book.

        Returns words for the model. Raises ToolRefused: nobody has this name, or the letter could not be delivered.
        """
        ...

    async def check(
        self, *, session_id: str, call_id: str, channel: str | None, take: bool
    ) -> Sequence[Mapping[str, Any]]:
        """The unread mail, the oldest first, as JSON values; with `take` it counts as read."""
        ...
