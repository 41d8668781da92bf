"""What a loopback Discord can be told to answer: plain values, one for each request of a route, in order.

server.script(Broken(502), Lost(done=True), on="POST /channels/{}/messages", channel=general)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of Discord in JSON."""

    status: int
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Limited:
    """429: wait so many seconds."""

    seconds: float
    scope: Literal["user", "shared"] = "user"
    everywhere: bool = False
    """Whether it is the limit over all routes."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A server error, in HTML, as the door in front of Discord sends it."""

    status: int = 502


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is reset without an answer, before or after the work was done."""

    done: bool = False


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the client leaves, before or after the work was done."""

    done: bool = False


@dataclass(frozen=True, slots=True)
class Usual:
    """What the server does without a script, once."""


Fault = Refusal | Limited | Broken | Lost | Hang | Usual
"""What can stand in a script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    fault: Fault
    route: str
    channel_id: int | None


class Script:
    """The faults that are still to come."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def __len__(self) -> int:
        return len(self._planned)

    def add(self, faults: tuple[Fault, ...], route: str, channel_id: int | None) -> None:
        """Plan faults for the next requests of a route, in one channel or in any."""
        self._planned += [_Planned(fault=fault, route=route, channel_id=channel_id) for fault in faults]

    def next(self, route: str, channel_id: Callable[[], int | None]) -> Fault | None:
        """The first that is for this request; it is used up."""
        for at, planned in enumerate(self._planned):
            if planned.route == route and planned.channel_id in {None, channel_id()}:
                return self._planned.pop(at).fault
        return None
