"""Which messages a step was sent, stored as the difference to an earlier step of the session.

`Step.request` holds {"sources": [[message id, version], ...], "after": [turn id, n], "kept": count}: the first so many
sources of that other step, and then its own. Without `after` the list is whole.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kesoku.messages.lifecycle import Step
from kesoku.messages.turn import CompiledRequest

Sources = tuple[tuple[str, int], ...]
"""(message id, version) of everything in a request, in order."""

_DEPTH = 64
"""How many steps are read at most to restore the sources of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSources:
    """The sources of step `n` of a turn."""

    turn_id: str
    n: int
    sources: Sources
    depth: int
    """How many earlier steps must be read to restore it."""


def encoded(
    request: CompiledRequest, turn_id: str, n: int, earlier: StepSources | None
) -> tuple[StepSources, dict[str, Any]]:
    """The sources of a step, and what `Step.request` holds of them; `earlier` is a stored step of the same session."""
    sources = tuple([source for turn in request.turns for source in turn.sources])
    kept = _shared(earlier.sources, sources) if earlier and earlier.depth < _DEPTH else 0
    if earlier is None or not kept:
        return StepSources(turn_id=turn_id, n=n, sources=sources, depth=0), {"sources": sources}
    step = StepSources(turn_id=turn_id, n=n, sources=sources, depth=earlier.depth + 1)
    return step, {"sources": sources[kept:], "after": (earlier.turn_id, earlier.n), "kept": kept}


class SourcesCache:
    """The sources of the latest stored step of each session, of the sessions that this process worked on last."""

    def __init__(self, most: int = 256) -> None:
        self._known: OrderedDict[str, StepSources] = OrderedDict()
        self._most = most

    def get(self, session_id: str) -> StepSources | None:
        """Those of the latest step, if they are known."""
        return self._known.get(session_id)

    def put(self, session_id: str, step: StepSources) -> None:
        """A step was stored."""
        self._known[session_id] = step
        self._known.move_to_end(session_id)
        if len(self._known) > self._most:
            self._known.popitem(last=False)


def sources_of(step: Step, find: Callable[[str, int], Step]) -> Sources:
    """The sources of a stored step; `find` reads another one by turn and number."""
    links: list[Mapping[str, Any]] = [step.request]
    while after := links[-1].get("after"):
        links.append(find(*after).request)
    sources: Sources = ()
    for link in reversed(links):
        sources = (*sources[: link.get("kept", 0)], *((source, version) for source, version in link["sources"]))
    return sources


def _shared(one: Sources, other: Sources) -> int:
    """How much of their beginning is the same."""
    if other[: len(one)] == one:
        return len(one)
    return next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(other))
