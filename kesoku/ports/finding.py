"""What a check of the set-up found: the lines of `kesoku doctor`."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of `kesoku doctor`: what was checked, how it stands, and the fix."""

    check: str
    severity: Severity
    text: str
    fix: str = ""
