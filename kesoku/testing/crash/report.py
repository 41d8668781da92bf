"""What a run of the crash kit found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A promise that was broken: `rule` names it, such as I3, or `kit` where an actor itself failed."""

    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The run in numbers; it went well if there are no violations."""

    seed: int
    seconds: float
    kills: Mapping[str, int]
    """How many processes died, by how: `random`, `point`, `poison` or `chat`."""
    points: Mapping[str, int]
    """Every point that was seen (`after StoreGateway.finish`), and how many processes died there."""
    stops: int
    """Workers that were stopped in a turn until another one had taken it over."""
    steps: Mapping[str, int]
    """How often each step was exercised."""
    violations: tuple[Violation, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)

    def __str__(self) -> str:
        """A few lines for people."""
        died = ", ".join(f"{count} {how}" for how, count in sorted(self.kills.items()))
        hit = sum(1 for count in self.points.values() if count)
        lines = [
            f"{sum(self.kills.values())} kills in {self.seconds:.0f} s ({died}), seed {self.seed}",
            f"{hit} of {len(self.points)} points hit, {self.stops} workers stopped and taken over",
            *(f"  {count:5} {point}" for point, count in sorted(self.points.items())),
            *(f"  {count:5} {step}" for step, count in self.steps.items()),
            *map(str, self.violations),
        ]
        return "\n".join([*lines, "no violation" if not self.violations else f"{len(self.violations)} violations"])
