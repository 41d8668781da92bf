"""Failures of event hooks in SQL."""

from kesoku.store.engine import Link


class SqlHookStore:
    """See `kesoku.ports.hook.HookStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link
