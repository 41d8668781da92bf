"""What work costs, said so that a busy machine cannot make it untrue: something has to be slow every time."""

import time
from collections.abc import Callable
from functools import partial

TIMES = 4
"""How much larger the large one is. What costs its square costs 16 times as much."""
_ROUNDS = 6
_LEAST = 0.003


def grows_in_line(work: Callable[[int], object], size: int) -> bool:
    """Whether work on something `TIMES` as large takes about as many times as long. The best of some rounds counts."""
    small = large = float("inf")
    for _ in range(_ROUNDS):
        small, large = min(small, spent(partial(work, size))), min(large, spent(partial(work, size * TIMES)))
        if large < 3 * TIMES * max(_LEAST, small):
            return True
    return False


def is_within(seconds: float, measure: Callable[[], float]) -> bool:
    """Whether what is measured takes no longer, once in some tries."""
    return any(measure() < seconds for _ in range(_ROUNDS))


def spent(work: Callable[[], object]) -> float:
    """Seconds that this thread worked: what others do meanwhile does not count."""
    start = time.thread_time()
    work()
    return time.thread_time() - start
