"""How much is taken in: flood bounds, and the session where a message belongs."""

from dataclasses import replace

from kesoku.gateway.policy import SECOND, FloodBounds
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Post, Record
from kesoku.ports import Transaction

MINUTE = 60 * SECOND


def refusal(tx: Transaction, post: Post, bounds: FloodBounds, *, at: int, catch_up: bool) -> str | None:
    """Why a prompt cannot be taken in, in words for the person; None if it can.

    What comes late in a catch-up was written at its own pace: rates do not apply to it, the queue's limits do.
    """
    most = max(bounds.queued_per_channel, bounds.per_channel_per_minute, bounds.per_person_per_minute)
    # What seems to come later than now was stored before the clock was set back.
    load = tx.messages.load(post.address, post.message.user_id, since=at - MINUTE + 1, until=at, most=most)
    if load.here >= bounds.queued_per_channel:
        return f"{load.here} messages are waiting here already"
    if load.total >= bounds.queued_total:
        return "too many people are waiting for me at the moment"
    if catch_up:
        return None
    if load.spoken >= bounds.per_channel_per_minute:
        return f"I take at most {bounds.per_channel_per_minute} messages a minute in one channel"
    if post.message.user_id is not None and load.said >= bounds.per_person_per_minute:
        return f"I take at most {bounds.per_person_per_minute} messages a minute from one person"
    return None


def flood_key(post: Post, at: int) -> str:
    """The key under which a person (or a channel of nameless people) is told once a minute."""
    person = post.message.user_id
    who = f"channel:{post.address.channel_id}" if person is None else f"person:{person}"
    return f"flood:{at // MINUTE}:{who}"


def home(tx: Transaction, post: Post, at: int) -> str:
    """The id of the session where a post belongs, made and bound if there is none.

    A channel whose session was ended gets a fresh one. A session that is named is taken as it is, made if missing.
    """
    if post.session_id is None:
        session = tx.sessions.bound(post.address)
        if session is None or session.ended_at is not None:
            session = tx.sessions.create(at=at)
            tx.sessions.bind(post.address, session.id)
        return session.id
    if tx.sessions.get(post.session_id) is None:
        tx.sessions.create(session_id=post.session_id, at=at)
        if tx.sessions.bound(post.address) is None:
            tx.sessions.bind(post.address, post.session_id)
    return post.session_id


def stored(tx: Transaction, post: Post, at: int) -> Record | None:
    """The record that a post became earlier, by platform key or id; None if it is new (N-07, C-45).

    Raises:
        DuplicateMessage: its id is stored with another value.
    """
    by_key = tx.messages.find(post.address.chatbot_id, post.keys) if post.keys else None
    if by_key is not None:
        return by_key
    by_id = tx.messages.get(post.message.id)
    return None if by_id is None else tx.messages.insert(post, session_id=by_id.session_id, at=at)


def own_turn(post: Post) -> Post:
    """A prompt that waits for the agent opens a turn of its own unless it is told to join one."""
    waits = post.first_status is MessageStatus.PENDING_AGENT and post.turn_id is None
    return replace(post, turn_id=post.message.id) if waits else post
