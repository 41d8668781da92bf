"""Whether a field of a message or of its content was given what it takes, read off its annotation."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from kesoku.errors import FieldMistyped

_Types = tuple[type, ...]
_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "None",
    tuple: "a list",
    dict: "a mapping",
}


def checked(cls: Any, name: str, given: Any) -> None:
    """Raise FieldMistyped if the field `name` of the dataclass `cls` does not take what it was given."""
    takes = _taken_by(cls)[name]
    if takes is None:
        return
    types, items = takes
    if not _is_one(given, types):
        raise mistyped(cls, name, given, *types)
    if items is not None and type(given) is tuple:
        for each in given:
            if not _is_one(each, items):
                raise mistyped(cls, f"{name}[{given.index(each)}]", each, *items)


def mistyped(cls: Any, name: str, given: Any, *wanted: type) -> FieldMistyped:
    """The error that says what the field takes, in words."""
    words = " or ".join(_WORDS.get(dict if issubclass(each, dict) else each) or each.__name__ for each in wanted)
    return FieldMistyped(owner=cls.__name__, field=name, given=given, wanted=words)


def _is_one(given: Any, types: _Types) -> bool:
    return isinstance(given, types) and (type(given) is not bool or bool in types)


@cache
def _taken_by(cls: Any) -> dict[str, tuple[_Types, _Types | None] | None]:
    """By field, the types that it takes, and those of the items of a tuple; None stands for anything."""
    return {each.name: _taken(each.type) for each in fields(cls)}


def _taken(annotation: Any) -> tuple[_Types, _Types | None] | None:
    options = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    if Any in options:
        return None
    types: list[type] = []
    items: _Types | None = None
    for each in options:
        origin = get_origin(each)
        types.append(NoneType if each is None else str if origin is Literal else origin or each)
        if origin is tuple:
            found = _taken(get_args(each)[0])
            items = found and found[0]
    if float in types:
        types.append(int)
    return tuple(dict.fromkeys(types)), items
