"""What is wrong with a configuration, as values: file, key, value, what is valid."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong. `fatal` problems stop the start; the others warn (N-16)."""

    source: str
    """The file, or the environment variable."""
    key: str
    """The dotted key."""
    text: str
    """What was found and what is valid. Never a secret's value."""
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.source}: {self.key}: {self.text}"


def unknown_key(source: str, key: str, valid: Iterable[str]) -> Problem:
    """A key that nothing reads, with the nearest one that something does."""
    names = sorted(valid)
    near = difflib.get_close_matches(key.rpartition(".")[2], names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"valid keys are {', '.join(names)}"
    return Problem(source=source, key=key, text=f"unknown key; {hint}", fatal=False)
