"""Whether a field of a message or of its content was given what it takes, read off its annotation."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from kesoku.errors import FieldMistyped

_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "None",
    tuple: "a list",
    dict: "a mapping",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a field takes: one of `types`, or anything if there are none; of a tuple, items of the types `items`."""

    types: tuple[type, ...] = ()
    items: tuple[type, ...] = ()
    surely: frozenset[type] = frozenset()
    """Types of values at which nothing else has to be looked."""


def checked(cls: Any, name: str, given: Any) -> None:
    """Raise FieldMistyped if the field `name` of the dataclass `cls` does not take what it was given."""
    taken = taken_by(cls)[name]
    if not _is_one(given, taken.types):
        raise mistyped(cls, name, given, *taken.types)
    for number, each in enumerate(given if taken.items else ()):
        if not _is_one(each, taken.items):
            raise mistyped(cls, f"{name}[{number}]", each, *taken.items)


def mistyped(cls: Any, name: str, given: Any, *wanted: type) -> FieldMistyped:
    """The error that says what the field takes, in words."""
    words = " or ".join(_WORDS.get(dict if issubclass(each, dict) else each) or each.__name__ for each in wanted)
    return FieldMistyped(owner=cls.__name__, field=name, given=given, wanted=words)


@cache
def taken_by(cls: Any) -> dict[str, Taken]:
    """What each field of a dataclass takes."""
    return {each.name: _taken(each.type) for each in fields(cls)}


def _is_one(given: Any, types: tuple[type, ...]) -> bool:
    return not types or (isinstance(given, types) and (type(given) is not bool or bool in types))


def _taken(annotation: Any) -> Taken:
    options = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    if Any in options:
        return Taken()
    types = tuple(map(_type_of, options))
    items = next((_taken(get_args(each)[0]).types for each in options if get_origin(each) is tuple), ())
    types += (int,) * (float in types)
    return Taken(types=types, items=items, surely=frozenset(types) - {tuple if items else None})


def _type_of(option: Any) -> type:
    origin = get_origin(option)
    return str if origin is Literal else origin or option or NoneType
