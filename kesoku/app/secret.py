"""Secrets that stand in the environment, so that they can be masked like configured ones."""

import re
from collections.abc import Mapping

_NAMES = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$", re.IGNORECASE)
_SHORTEST = 8


def of_environment(environment: Mapping[str, str]) -> frozenset[str]:
    """Values of variables whose name says that they are secret; short values would mask ordinary words."""
    return frozenset(
        value for name, value in environment.items() if _NAMES.search(name) and len(value.strip()) >= _SHORTEST
    )
