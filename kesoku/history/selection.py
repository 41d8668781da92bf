"""Orders that somebody chose beside that of all messages, by name, and the one that is read (L-135..L-137).

A chosen order is taken literally: nothing is sorted, and nothing joins it because it was added to the history.
"""

from collections.abc import Mapping
from typing import Any

from kesoku.errors import ProgressionReserved, ProgressionUnknown
from kesoku.history.progression import MAIN, Progression


class Progressions:
    """The chosen orders of one history; with none selected, that of all messages is read."""

    def __init__(self) -> None:
        self._named: dict[str, Progression] = {}
        self._selected: Progression | str = MAIN

    @property
    def named(self) -> Mapping[str, Progression]:
        """By name, without that of all messages."""
        return dict(self._named)

    @property
    def selected(self) -> Progression | None:
        """The one that is read; None for that of all messages."""
        return self._named.get(self._selected) if isinstance(self._selected, str) else self._selected

    def name(self, name: str, progression: Progression) -> None:
        """Keep one by name, in place of an earlier one. Raises ProgressionReserved."""
        if name == MAIN:
            raise ProgressionReserved(name=name)
        self._named[name] = progression

    def select(self, choice: Progression | str) -> None:
        """Read this one from now on. Raises ProgressionUnknown."""
        if isinstance(choice, str) and choice != MAIN and choice not in self._named:
            raise ProgressionUnknown(name=choice, known=(MAIN, *self._named))
        self._selected = choice

    def replace(self, old: str, new: str) -> None:
        """A message has taken the place of another one wherever that stood."""
        self._named = {name: each.replacing(old, new) for name, each in self._named.items()}
        if isinstance(self._selected, Progression):
            self._selected = self._selected.replacing(old, new)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        selected = self._selected if isinstance(self._selected, str) else list(self._selected)
        return {"progressions": {name: list(each) for name, each in self._named.items()}, "selected": selected}
