"""Earlier bodies of messages in memory."""

from kesoku.messages.message import Message
from kesoku.testing.memory.table import Tables


class MemoryArchive:
    """`Archive` over dicts."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def versions(self, message_id: str) -> list[Message]:
        """See the port."""
        kept = [key for key in self._tables.versions if key[0] == message_id]
        return [self._tables.versions[key] for key in sorted(kept, key=lambda key: key[1])]
