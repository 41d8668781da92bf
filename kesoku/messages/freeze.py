"""Deep-frozen containers: what goes into a message can never be changed from outside (D-014, D-015, N-14)."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import Any, NoReturn, Self

from kesoku.errors import NestedTooDeep
from kesoku.messages.field_type import checked, taken_by

DEPTH = 256
"""How many containers may stand in each other: more is no message but a cycle, or an attack on who reads it."""


class FrozenDict(dict[str, Any]):
    """A dict that refuses every change, so that JSON and type checks see a dict and nobody can alter it.

    What it is made of is frozen too, down to the last list.
    """

    __slots__ = ()

    def __init__(self, *given: Any, **more: Any) -> None:
        plain = given[0] if given and not more and type(given[0]) is dict else dict(*given, **more)
        dict.__init__(self, _plain(plain, DEPTH))

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is part of a frozen message; make a new message instead")

    __setitem__ = __delitem__ = _refuse
    __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> "FrozenDict":
        return self

    def __deepcopy__(self, _: Any) -> "FrozenDict":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


_ATOMS = frozenset((str, NoneType, bool, int, float, bytes, FrozenDict))
"""Types whose values cannot change."""
_TEXT = frozenset((str,))


def freeze(value: Any) -> Any:
    """A detached, deep-frozen copy: mappings become FrozenDict, sequences tuples, sets frozensets.

    Raises:
        NestedTooDeep: containers stand in each other more than `DEPTH` times, or in themselves.
    """
    return value if type(value) in _ATOMS else _frozen(value, DEPTH)


def _frozen(value: Any, room: int) -> Any:
    """The copy of what may hold so many containers in each other."""
    if type(value) in _ATOMS or isinstance(value, (str, int, float, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(_items(value, room))
    if isinstance(value, (dict, Mapping)):
        frozen = FrozenDict()
        dict.__init__(frozen, _plain(value if type(value) is dict else dict(value), room))
        return frozen
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Sequence):
        return tuple(_items(value, room))
    return frozenset(_items(value, room)) if isinstance(value, Set) else value


def _items(values: Iterable[Any], room: int) -> list[Any]:
    if not room:
        raise NestedTooDeep(limit=DEPTH)
    return [_frozen(item, room - 1) for item in values]


def _plain(given: dict[Any, Any], room: int) -> dict[str, Any]:
    """What a FrozenDict is made of; the very dict, if there is nothing in it to be frozen."""
    if _ATOMS.issuperset(map(type, given.values())) and _TEXT.issuperset(map(type, given)):
        return given
    if not room:
        raise NestedTooDeep(limit=DEPTH)
    return {str(key): _frozen(item, room - 1) for key, item in given.items()}


EMPTY = FrozenDict()


def thaw(value: Any) -> Any:
    """Plain dicts and lists again, for JSON."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (dict, Mapping)):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [thaw(item) for item in value]
    return value


def changed_fields(value: Any) -> dict[str, Any]:
    """The JSON-able form of a dataclass: every field that differs from its default."""
    changed: dict[str, Any] = {}
    for name, default in defaults_of(value.__class__).items():
        given = getattr(value, name)
        if given is not default and given != default:
            changed[name] = given if type(given) is str else thaw(given)
    return changed


def known_fields(cls: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for a dataclass in a form that `changed_fields` made; keys that it lacks are ignored."""
    known = defaults_of(cls)
    if known.keys() >= data.keys():
        return dict(data)
    return {name: value for name, value in data.items() if name in known}


@cache
def defaults_of(cls: Any) -> dict[str, Any]:
    """Name and default of each field of a dataclass."""
    return {each.name: each.default for each in fields(cls)}


@cache
def _looked_at(cls: Any) -> tuple[tuple[str, Any, frozenset[type]], ...]:
    """Name and default of each field of a dataclass, and the types of values that it takes as they are."""
    taken = taken_by(cls)
    plain = {name: _ATOMS & each.surely if each.types else _ATOMS for name, each in taken.items()}
    return tuple((name, default, plain[name]) for name, default in defaults_of(cls).items())


def current_fields(value: Any) -> dict[str, Any]:
    """Name and value of each field of a dataclass, values as they are."""
    return {name: getattr(value, name) for name in defaults_of(value.__class__)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A deep-frozen value that travels as a plain dict.

    Raises:
        FieldMistyped: a field was given what it does not take.
        NestedTooDeep: a field holds containers in each other without an end.
    """

    def __post_init__(self) -> None:
        cls: Any = self.__class__
        for name, default, plain in _looked_at(cls):
            given = getattr(self, name)
            if given is default or type(given) in plain:
                continue
            if (frozen := freeze(given)) is not given:
                object.__setattr__(self, name, frozen)
            checked(cls, name, frozen)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: every field that differs from its default."""
        return changed_fields(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The value that `to_dict` wrote; unknown keys are ignored."""
        return cls(**known_fields(cls, data))
