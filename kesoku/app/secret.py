"""Secrets that stand in the environment: known for masking, and kept from the tools that this process starts."""

import ctypes
import re
import sys
from collections.abc import Mapping

_NAMES = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$", re.IGNORECASE)
_PATHS = frozenset({"GOOGLE_APPLICATION_CREDENTIALS"})
"""Variables that only look secret: they say where a secret lies, and people have to see that."""
_SHORTEST = 8
_PR_SET_DUMPABLE = 4


def of_environment(environment: Mapping[str, str]) -> frozenset[str]:
    """Values of variables whose name says that they are secret; short values would mask ordinary words."""
    return frozenset(
        value
        for name, value in environment.items()
        if _NAMES.search(name) and name not in _PATHS and len(value.strip()) >= _SHORTEST
    )


def conceal() -> None:
    """Keep other programs of this user, tools among them, from reading this process's environment and memory.

    On Linux the kernel then gives /proc/<pid>/environ and mem to root alone (prctl, PR_SET_DUMPABLE = 0), and writes no
    core file. It does not hold against root. Elsewhere nothing happens.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
