"""Reads cells that may hold anything: SQLite stores what it is given, and a damaged row must not hold up the others."""

from enum import StrEnum
from typing import Any, TypeVar

E = TypeVar("E", bound=StrEnum)


def int_or(cell: Any, default: int = 0) -> int:
    """An integer; `default` for anything else."""
    return cell if type(cell) is int else default


def int_or_none(cell: Any) -> int | None:
    """An integer; None for anything else."""
    return cell if type(cell) is int else None


def member_or(kind: type[E], cell: Any, default: E) -> E:
    """A member of an enum by its value; `default` for anything else."""
    try:
        return kind(cell)
    except ValueError:
        return default
