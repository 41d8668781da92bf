"""How a session goes on with another selection of its records: nothing of what is left may still be running."""

from collections.abc import Sequence
from dataclasses import replace

from kesoku.gateway import turn
from kesoku.gateway.admission import own_turn
from kesoku.gateway.status import Act, advance
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Selected
from kesoku.messages.record import Post, Record
from kesoku.ports import Choose, Transaction


def select(
    tx: Transaction, session_id: str, choose: Choose, act: Act, mint: turn.Mint, posts: Sequence[Post]
) -> Selected:
    """Stop what runs and waits, select, and store what goes on; once, if the posts have keys that tell them."""
    if known := _known(tx, posts):
        return Selected(branch=tx.branches.current(session_id), interrupted=(), posted=(known,))
    stopped = turn.interrupt(tx, session_id, act, mint)
    stopped += [advance(tx, each.id, MessageStatus.INTERRUPTED, act) for each in tx.messages.queued(session_id)]
    branch = go_on(tx, session_id, choose, act)
    placed = [own_turn(replace(post, session_id=session_id)) for post in posts]
    posted = [tx.messages.insert(post, session_id=session_id, at=act.at) for post in placed]
    return Selected(branch=branch, interrupted=tuple(stopped), posted=tuple(posted))


def _known(tx: Transaction, posts: Sequence[Post]) -> Record | None:
    """What the same posts became when they came before (N-07)."""
    keyed = (tx.messages.find(each.address.chatbot_id, each.keys) for each in posts if each.keys)
    return next(keyed, None)


def go_on(tx: Transaction, session_id: str, choose: Choose, act: Act) -> Branch:
    """Select another branch, or this one changed; the one that is left ends where the session does."""
    session = tx.sessions.get(session_id)
    last = session.last_n if session else 0
    left = tx.branches.current(session_id)
    chosen = replace(choose(tx, left, last), at=act.at)
    if chosen.name != left.name:
        tx.branches.put(left.ending(last))
    tx.branches.select(chosen)
    return chosen
