"""What event hooks could not deliver."""

from typing import Protocol


class HookStore(Protocol):
    """Failures of event hooks, by hook and event, as one transaction sees them."""
