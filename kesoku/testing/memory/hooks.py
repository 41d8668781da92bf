"""Failures of event hooks in memory."""

from kesoku.testing.memory.table import Tables


class MemoryHooks:
    """`HookStore` over a dict."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
