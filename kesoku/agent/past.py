"""What a turn looks back on: the latest records of its session's branch, and the summary and turns that are kept."""

from collections.abc import Iterator, Sequence
from itertools import chain

from kesoku.history.window import window
from kesoku.messages.branch import Branch
from kesoku.messages.record import Record
from kesoku.ports import Transaction


def past(tx: Transaction, branch: Branch, *, n: int, records: int) -> tuple[Record, ...]:
    """The records of a branch that a prompt at place `n` of its session looks back on, and all behind it, by seq.

    At most `records` of them stand before it. Only these are read, however long the session is (K-171).
    """
    stretches = _stretches(branch, n, records)
    found = chain.from_iterable(_read(tx, branch.session_id, after, last, records) for after, last in stretches)
    if branch.is_whole:
        return tuple(found)
    chosen = {record.id: record for record in (*_kept(tx, branch), *found) if record.id not in branch.forgotten}
    return tuple(sorted(chosen.values(), key=lambda record: record.seq))


def _kept(tx: Transaction, branch: Branch) -> Iterator[Record]:
    """The summary and the pinned turns, which are read wherever they stand."""
    summary = tx.messages.get(branch.summary) if branch.summary else None
    kept = (record for turn_id in branch.pinned for record in tx.messages.turn(turn_id))
    mine = (record for record in (summary, *kept) if record is not None and record.session_id == branch.session_id)
    yield from {record.id: record for record in mine}.values()


def _stretches(branch: Branch, n: int, records: int) -> Iterator[tuple[int, int | None]]:
    """Of each span what is within the window: the place behind which it begins, and its last place."""
    skipped = window(_places(branch, n - 1) + 1, records)
    for first, last in branch.spans:
        size = None if last is None else last - first + 1
        if size is not None and skipped >= size:
            skipped -= size
        else:
            yield first - 1 + skipped, last
            skipped = 0


def _places(branch: Branch, n: int) -> int:
    """How many places of a branch there are up to `n`."""
    return sum((n if last is None else min(n, last)) - first + 1 for first, last in branch.spans if first <= n)


def _read(tx: Transaction, session_id: str, after: int, last: int | None, records: int) -> Sequence[Record]:
    if last is None:
        return tx.messages.past(session_id, after_n=after, limit=2 * records)
    return tx.messages.session(session_id, after_n=after, limit=last - after)
