"""What the crash kit finds wrong."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A promise that was broken: `rule` names it, such as I3, or `kit` where an actor itself failed."""

    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"
