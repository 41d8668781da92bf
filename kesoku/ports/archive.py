"""What messages said before."""

from typing import Protocol

from kesoku.messages.message import Message


class Archive(Protocol):
    """Every body that a message ever had."""

    def versions(self, message_id: str) -> list[Message]:
        """Every body that a message had, the first one first and the current one last; nothing if it is not known."""
        ...
