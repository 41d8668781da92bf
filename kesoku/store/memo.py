"""The prompts that the writing connection has read, so that a turn does not read its own again for each change.

Nobody else can change a row while this connection holds the write lock. So a record holds until this connection changes
it, which `SqlMessageStore` tells; until a transaction of it comes to nothing; and until another program has written,
which SQLite tells at the begin of each transaction.
"""

from kesoku.messages.record import Record

_MOST = 2048
_LONG = 4096
"""Letters: a longer prompt is read again."""


class Memo:
    """Records by id, each as the row would be read now."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._is_open = False

    def begin(self) -> None:
        """A transaction begins. What the last one told is forgotten with all else unless `committed` was called."""
        if self._is_open:
            self.clear()
        self._is_open = True

    def committed(self) -> None:
        """The transaction is over and counts."""
        self._is_open = False

    def clear(self) -> None:
        """Forget everything."""
        self._records.clear()

    def get(self, message_id: str) -> Record | None:
        """The record, if it is known."""
        return self._records.get(message_id)

    def put(self, record: Record) -> Record:
        """Know a record that was read, or that a change has made of one that was; returns it."""
        self._records.pop(record.id, None)
        if record.kind == "user_prompt" and len(record.message.text) <= _LONG:
            if len(self._records) >= _MOST:
                self.clear()
            self._records[record.id] = record
        return record

    def drop(self, message_id: str) -> None:
        """Forget a record."""
        self._records.pop(message_id, None)
