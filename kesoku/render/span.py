"""Find code spans in one pass, for those who must not cut them."""

import re
from collections.abc import Iterator

_TICKS = re.compile("`++")


def code_spans(text: str, low: int, stop: int) -> Iterator[tuple[int, int]]:
    """A run of back-ticks begins a code span if a later run of the same length ends it."""
    runs = [match.span() for match in _TICKS.finditer(text, low, stop)]
    following: dict[int, int] = {}
    closers = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closers[index] = following.get(length, 0)
        following[length] = index
    index = 0
    while index < len(runs):
        if closers[index]:
            yield runs[index][0], runs[closers[index]][1]
        index = max(index, closers[index]) + 1
