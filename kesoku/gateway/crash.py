"""Whose fault a crash was, and who runs alone because of it (store rules 3 and 5).

A process that dies takes all its turns with it, and nobody can see which of them did it. So a crash counts for each,
but the last one that makes a prompt poison counts only if its turn was the only one there: a prompt with all but one
of FAILURES behind it is a suspect, starts only in a process that runs nothing, and nothing starts beside it. An
innocent prompt may become a suspect by its neighbours; it is never ended by them. A poisonous one is charged with every
crash that it causes, so it causes FAILURES of them, in however many processes; suspects of the same crash are tried one
after another, the oldest first. A process that stood still (stopped, or its loop blocked) counts as crashed when the
first of its leases runs out, and as a whole, so that its turns count as neighbours. A turn that a shutdown put back is
not charged. Nothing that runs in its session meanwhile takes the crashes of a prompt from it. What joined a turn shares
its fate: nobody knows which of its prompts is the poison, so all end together, and the person is told once.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from kesoku.gateway.policy import FAILURES
from kesoku.messages.lifecycle import Lease

SUSPECT = FAILURES - 1
"""With so many crashes behind it, a prompt runs alone."""


def may_start(crashes: int, beside: int | None) -> bool:
    """Whether a prompt with so many crashes may start in a process whose running turns have `beside` at the most."""
    return beside is None or max(crashes, beside) < SUSPECT


def charged(held: Collection[Lease], lost: Collection[Lease]) -> Iterator[tuple[Lease, bool]]:
    """The leases of processes that lost one, each with whether that counts for its prompt."""
    gone = {lease.owner for lease in held if lease in lost}
    turns = Counter(lease.owner for lease in held)
    for lease in held:
        if lease.owner in gone:
            yield lease, turns[lease.owner] == 1 or lease.failures < SUSPECT
