"""Discord's ids: milliseconds since its epoch, and 22 bits that tell those of one millisecond apart. Pure."""

_EPOCH = 1_420_070_400_000
"""Milliseconds from that of Unix to that of Discord."""
_TIME_SHIFT = 22
_DIGITS = 20


def parse(text: str) -> int | None:
    """The id that a text is; None for everything else."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        return None
    return number if (number := int(text)) < 1 << 64 else None


def span(seconds: float) -> int:
    """The distance of two ids that are so far apart in time."""
    return int(seconds * 1000) << _TIME_SHIFT


def at(seconds: float) -> int:
    """The lowest id of a time in Unix seconds."""
    return max(0, int(seconds * 1000) - _EPOCH) << _TIME_SHIFT
