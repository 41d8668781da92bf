"""A time to wait, as people say it."""

import math


def duration(seconds: float) -> str:
    """`seconds`, rounded up: "31 s" below two minutes, then "5 min", from two hours on "5 h 12 min"."""
    whole = max(0, math.ceil(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes = math.ceil(whole / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
