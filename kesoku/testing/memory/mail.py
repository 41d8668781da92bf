"""Mail in memory."""

from kesoku.testing.memory.table import Tables


class MemoryMail:
    """`MailStore` over dicts."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
