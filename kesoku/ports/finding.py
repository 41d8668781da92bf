"""What a check of the set-up found: the lines of `kesoku doctor`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of `kesoku doctor`: what was checked, how it stands, and the fix; `figures` repeats it for programs."""

    check: str
    severity: Severity
    text: str
    fix: str = ""
    figures: Mapping[str, int] = field(default_factory=dict)
