"""Real parts of which one detail is other than it should be: what planted faults are made of."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, TypeVar

from kesoku.ports import Store, Transaction

T = TypeVar("T")


class Altered:
    """A real part. What a subclass defines stands in for what is there."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class AlteredStore(Altered):
    """A store whose transactions have other repositories, by their names."""

    repositories: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        """Run and commit."""

        @wraps(operation)
        def altered(tx: Transaction) -> T:
            others: Any = Altered(tx)
            for name, alter in self.repositories.items():
                setattr(others, name, alter(getattr(tx, name)))
            return operation(others)

        store: Store = self.real
        return await store.write(altered)
