"""How an installed distribution adds to Kesoku: one entry-point mechanism for every kind of extension.

A distribution declares an entry point in one of four groups, and is found without being named anywhere in Kesoku:

    kesoku.adapters    a chat platform
    kesoku.models      a chat model
    kesoku.tools       a tool, or several
    kesoku.hooks       a function that is called before each step of a turn

Nothing is imported before it is asked for. An extension that does not load never stops the others.
"""

import logging
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, TypeVar

from kesoku.errors import PluginBroken, PluginConflict, PluginError, PluginUnknown

T = TypeVar("T")

ADAPTERS = "kesoku.adapters"
MODELS = "kesoku.models"
TOOLS = "kesoku.tools"
HOOKS = "kesoku.hooks"


def names(group: str) -> tuple[str, ...]:
    """What is installed in `group`, sorted. Imports none of it."""
    return tuple(sorted(_installed(group=group).names))


def packages() -> frozenset[str]:
    """The top packages of all that is installed, by whose names their loggers go. Imports none of it."""
    groups = (ADAPTERS, MODELS, TOOLS, HOOKS)
    return frozenset(each.module.partition(".")[0] for group in groups for each in _installed(group=group))


def find(group: str, name: str) -> object:
    """Import one extension. Raises PluginUnknown, PluginConflict or PluginBroken."""
    found = tuple(_installed(group=group, name=name))
    if not found:
        raise PluginUnknown(group=group, name=name, known=names(group))
    if len(found) > 1:
        raise PluginConflict(group=group, name=name, distributions=tuple(sorted(map(_distribution, found))))
    try:
        return found[0].load()
    except (Exception, SystemExit) as error:  # whatever a foreign module raises while it is imported
        raise _broken(found[0], f"{type(error).__name__}: {error}") from error


def find_instance(group: str, name: str, kind: type[T]) -> T:
    """Import one extension of a group that is made of one class. Raises as `find` does."""
    found = find(group, name)
    if not isinstance(found, kind):
        raise unfit(group, name, f"it must be a {kind.__name__}")
    return found


def load(group: str, report: Callable[[PluginError], None] | None = None) -> dict[str, object]:
    """Import every extension of `group`, by name; each one that fails is left out and given to `report`, or logged."""
    loaded: dict[str, object] = {}
    for name in names(group):
        try:
            loaded[name] = find(group, name)
        except PluginError as error:
            (report or log_failure)(error)
    return loaded


def unfit(group: str, name: str, reason: str) -> PluginBroken:
    """The error for an extension that imports, but is the wrong thing: the caller knows what the right thing is."""
    (entry,) = _installed(group=group, name=name)
    return _broken(entry, reason)


def _installed(**which: str) -> EntryPoints:
    found: EntryPoints = _all(tuple(sys.path)).select(**which)
    return found


@cache
def _all(path: tuple[str, ...]) -> Any:
    """Every entry point on this `sys.path`: to read them takes 7 ms, and a start asks six times. Python 3.11 gives
    another type than later ones, with the same `select`."""
    return entry_points()


def _broken(entry: EntryPoint, reason: str) -> PluginBroken:
    return PluginBroken(
        group=entry.group, name=entry.name, target=entry.value, distribution=_distribution(entry), reason=reason
    )


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"


def log_failure(error: PluginError) -> None:
    """The report of those who are given no other."""
    logging.getLogger(__name__).warning("%s", error)
