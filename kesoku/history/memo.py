"""Results of pure functions, kept while there is room. A memo changes how long an answer takes, never the answer."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

L = TypeVar("L", bound=Hashable)
S = TypeVar("S")
V = TypeVar("V")


class Memo(Generic[L, S, V]):
    """What `make` returns for an equal `like` and the very same frozen values `same`.

    Equality is not enough for `same`: two messages are equal when id and version are, whatever they say. The values
    are kept with the result, so no other value can come to their identity. The oldest results go first when the
    values together are longer than `limit`, in letters of their repr; a result whose values take more than an eighth
    of it is not kept. Any thread may ask.
    """

    def __init__(self, make: Callable[[L, tuple[S, ...]], V], *, limit: int) -> None:
        self._make, self._most, self._room = make, limit // 8, limit
        self._known: dict[tuple[object, ...], tuple[V, tuple[S, ...], int]] = {}
        self._lock = Lock()

    def __call__(self, like: L, same: tuple[S, ...]) -> V:
        """The result, made now or earlier."""
        key = (like, *map(id, same))
        known = self._known.get(key)
        if known is not None:
            return known[0]
        made = value, _, length = self._make(like, same), same, len(repr(same))
        with self._lock:
            if length <= self._most and self._known.setdefault(key, made) is made:
                self._room -= length
            while self._room < 0:
                self._room += self._known.pop(next(iter(self._known)))[-1]
        return value
