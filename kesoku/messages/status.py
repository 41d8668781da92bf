"""The one status machine (K-132). What `sources_of` gives is the very set of the compare-and-set."""

from functools import cache

from kesoku.messages.enums import MessageStatus as S

TRANSITIONS: dict[S, frozenset[S]] = {
    S.PENDING_AGENT: frozenset({S.PROCESSING, S.INTERRUPTED, S.ERROR}),
    S.PROCESSING: frozenset({S.PROCESSED, S.INTERRUPTED, S.ERROR, S.PENDING_AGENT}),
    S.PROCESSED: frozenset(),
    S.INTERRUPTED: frozenset(),
    S.ERROR: frozenset(),
    S.PENDING: frozenset({S.DELIVERED, S.ERROR}),
    S.RESPONDED: frozenset({S.DELIVERED, S.INTERRUPTED}),
    S.DELIVERED: frozenset({S.INTERRUPTED}),
}
"""What may follow what. Back to pending_agent is for recovery alone; responded and delivered become interrupted only
for a tool call without a result."""


@cache
def sources_of(to: S) -> frozenset[S]:
    """The statuses from which `to` may be reached."""
    return frozenset(status for status, targets in TRANSITIONS.items() if to in targets)
