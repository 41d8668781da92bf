"""Replies that cannot be turned into something sendable."""

from kesoku.errors.root import KesokuError


class RenderError(KesokuError):
    """A reply that cannot be turned into something that a platform takes."""


class LimitTooSmall(RenderError, ValueError):
    """A size limit that leaves no room for a piece of text between the fences around it."""

    def __init__(self, *, limit: int, minimum: int, unit: str) -> None:
        self.limit, self.minimum, self.unit = limit, minimum, unit
        super().__init__(f"a limit of {limit} {unit} is too small to split text; the smallest is {minimum}")


class PathRefused(RenderError, ValueError):
    """A path that leaves the folders it may name a file in, or that can be no path at all."""

    def __init__(self, *, path: str, roots: tuple[str, ...], reason: str) -> None:
        self.path, self.roots, self.reason = path, roots, reason
        inside = " or ".join(roots) or "(no folder is allowed)"
        super().__init__(f"{path!r} is refused: {reason}; use a path inside {inside}")


class ZoneUnknown(RenderError, ValueError):
    """A time zone name that the zone database does not have."""

    def __init__(self, *, zone: str) -> None:
        self.zone = zone
        super().__init__(f"there is no time zone {zone!r}; use an IANA name such as Asia/Shanghai or UTC")


class TimeNaive(RenderError, ValueError):
    """A time without a zone, which names no instant."""

    def __init__(self, *, when: str) -> None:
        self.when = when
        super().__init__(f"the time {when} has no time zone; give an aware datetime")
