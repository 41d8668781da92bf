"""Known secrets out of everything that is shown, stored or logged (complaint 168).

Masking is by value: it catches a configured secret however it got into an output. It does not catch one that was cut,
encoded or spelled in pieces; nothing that reads text can.
"""

import re
from collections.abc import Iterable
from typing import Any

MASK = "[secret]"
_SHORTEST = 4
"""Characters. Less hides nothing and would only tear other words apart."""


class Mask:
    """Replaces each of `secrets` wherever it stands in a text or in the strings of a JSON value."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted((secret for secret in secrets if len(secret) >= _SHORTEST), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, known))) if known else None

    @property
    def knows(self) -> bool:
        """Whether there is anything to mask."""
        return self._pattern is not None

    def text(self, text: str) -> str:
        """`text` without the secrets; the longest one that fits is taken first."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def value(self, value: Any) -> Any:
        """A JSON value without the secrets, keys included; tuples become lists."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


NOTHING = Mask(())
"""Masks nothing."""
