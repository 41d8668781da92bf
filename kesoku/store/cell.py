"""Single cells of a row that somebody spoiled: SQLite stores anything in any column, and no row may hold up others."""

from enum import StrEnum
from typing import Any, TypeVar

E = TypeVar("E", bound=StrEnum)


def whole(cell: Any, otherwise: int = 0) -> int:
    """A number; `otherwise` for anything else."""
    return cell if type(cell) is int else otherwise


def number_of(cell: Any) -> int | None:
    """A number that may be missing, as it is for anything else."""
    return cell if type(cell) is int else None


def member(kind: type[E], cell: Any, otherwise: E) -> E:
    """A word of an enum; `otherwise` for anything else."""
    try:
        return kind(cell)
    except ValueError:
        return otherwise
