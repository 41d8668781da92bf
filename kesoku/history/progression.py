"""An order in which messages are read: their ids, apart from the messages themselves (C-39)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

from kesoku.errors import SelectionInvalid

MAIN = "main"
"""The name of the order of all messages of a history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progression(Sequence[str]):
    """Ids of messages in order, none twice. A value: whatever changes it gives another one."""

    ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise SelectionInvalid if an id stands there twice: nobody means to read a message twice."""
        object.__setattr__(self, "ids", tuple(self.ids))
        if len(set(self.ids)) < len(self.ids):
            repeated = tuple(each for each, times in Counter(self.ids).items() if times > 1)
            raise SelectionInvalid(missing=(), repeated=repeated)

    def replacing(self, old: str, new: str) -> "Progression":
        """With `new` at the place of `old`; as it is if `old` does not stand here.

        Raises:
            SelectionInvalid: `new` stands somewhere else already.
        """
        if old not in self.ids:
            return self
        return replace(self, ids=tuple(new if each == old else each for each in self.ids))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, message_id: object) -> bool:
        return message_id in self.ids

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self.ids[place]
