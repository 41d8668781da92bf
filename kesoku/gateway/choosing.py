"""How a session goes on with another selection of its records: nothing of what is left may still be running."""

from collections.abc import Sequence
from dataclasses import replace

from kesoku.gateway import turn
from kesoku.gateway.admission import own_turn
from kesoku.gateway.status import Act, advance
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Selected
from kesoku.messages.record import Post
from kesoku.ports import Choose, Transaction


def select(
    tx: Transaction, session_id: str, choose: Choose, act: Act, mint: turn.Mint, posts: Sequence[Post]
) -> Selected:
    """Stop what runs and waits, select, and store what goes on."""
    stopped = turn.interrupt(tx, session_id, act, mint)
    stopped += [advance(tx, each.id, MessageStatus.INTERRUPTED, act) for each in tx.messages.queued(session_id)]
    session = tx.sessions.get(session_id)
    last = session.last_n if session else 0
    left = tx.branches.current(session_id)
    chosen = choose(tx, left, last)
    if chosen.name != left.name:
        tx.branches.put(left.ending(last))
    branch = replace(chosen, at=act.at)
    tx.branches.select(branch)
    placed = [own_turn(replace(post, session_id=session_id)) for post in posts]
    posted = [tx.messages.insert(post, session_id=session_id, at=act.at) for post in placed]
    return Selected(branch=branch, interrupted=tuple(stopped), posted=tuple(posted))
