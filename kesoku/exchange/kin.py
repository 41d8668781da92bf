"""Sessions as owners of mailboxes: who gave work to whom, where each one's people are, and how others call it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kesoku.exchange.exchange import Exchange
from kesoku.messages.freeze import changed_fields
from kesoku.messages.lifecycle import Serving, Session
from kesoku.messages.party import Named, party
from kesoku.messages.profile import NONE, Profile
from kesoku.messages.record import EVERY_CHANNEL, Address
from kesoku.ports import Transaction
from kesoku.render.sanitise import printable_name

AGENT = "agent"
"""The chatbot_id of desks: places where no people are. Each agent that was given work has one, a channel that is named
after its session. Those of a terminal have a chatbot_id of their own, for it is that terminal's folder in which they
work, and the person there who answers for them."""
PARENT = "parent"
_KIN, _CHILDREN = "kin", "children"
_NAME = 40
"""Columns of a name."""
_NEAR = 50
"""Records at the end of a conversation among which somebody's words are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """An agent that was given work by another one."""

    session_id: str
    parent: str
    """The session that gave it its task."""
    name: str
    """What its parent calls it."""
    depth: int
    """1 for the agents of a conversation with people."""
    root: str
    """The session of that conversation."""
    home: Address
    """Where its people are."""
    desk: Address
    """Its own place, where nobody looks."""
    profile: Profile = NONE
    """Which model and role it has, as was asked for where its people are."""


def is_desk(address: Address) -> bool:
    """Whether no people are at a place."""
    return address.chatbot_id.partition(":")[0] == AGENT


def is_name(name: str) -> bool:
    """Whether an agent or a conversation may be called so: nothing that is shown otherwise than it is, or read as
    something else."""
    return bool(name) and name == printable_name(name, _NAME) and name != PARENT and isinstance(party(name), Named)


def is_over(session: Session | None) -> bool:
    """Whether nothing runs any more in what a mailbox names as its session."""
    return session is None or session.ended_at is not None


def desk_of(session_id: str, home: Address, serving: Serving) -> Address:
    """The place of an agent whose people are at `home`; `serving` says which channels this process serves alone."""
    bot = f"{AGENT}:{home}" if home in serving.addresses else AGENT
    return Address(chatbot_id=bot, channel_id=session_id)


def desks(serving: Serving, more: Iterable[Address] = ()) -> Serving:
    """The desks for which a process works: those of the channels that it serves alone, and those of all whole bots if
    it serves one. `more` are channels of others in which it stands in."""
    single = {each for each in serving.addresses if each.channel_id != EVERY_CHANNEL}
    bots = {f"{AGENT}:{each}" for each in single}
    if len(single) < len(serving.addresses) or any(True for _ in more):
        bots.add(AGENT)
    return Serving(addresses=frozenset(Address(chatbot_id=bot, channel_id=EVERY_CHANNEL) for bot in bots))


def kin_of(tx: Transaction, session_id: str) -> Kin | None:
    """The agent behind a session; None for a conversation with people, and for one whose row is damaged."""
    match tx.state.get(_KIN, session_id):
        case {
            "parent": str(parent),
            "name": str(name),
            "depth": int(depth),
            "root": str(root),
            "home": [str(bot), str(channel)],
            "bot": str(desk),
            **more,
        }:
            return Kin(
                session_id=session_id,
                parent=parent,
                name=name,
                depth=depth,
                root=root,
                home=Address(chatbot_id=bot, channel_id=channel),
                desk=Address(chatbot_id=desk, channel_id=session_id),
                profile=Profile(model=str(more.get("model", "")), role=str(more.get("role", ""))),
            )
    return None


def children_of(tx: Transaction, session_id: str) -> list[Kin]:
    """The agents that a session gave work to, in that order."""
    found = [kin_of(tx, each) for each in _child_ids(tx, session_id)]
    return [each for each in found if each is not None]


def add_child(tx: Transaction, kin: Kin) -> None:
    """Remember an agent."""
    facts: dict[str, Any] = {
        "parent": kin.parent,
        "name": kin.name,
        "depth": kin.depth,
        "root": kin.root,
        "home": [kin.home.chatbot_id, kin.home.channel_id],
        "bot": kin.desk.chatbot_id,
        **changed_fields(kin.profile),
    }
    tx.state.set(_KIN, kin.session_id, facts)
    tx.state.set(_CHILDREN, kin.parent, [*_child_ids(tx, kin.parent), kin.session_id])


def _child_ids(tx: Transaction, session_id: str) -> list[str]:
    known = tx.state.get(_CHILDREN, session_id)
    return [each for each in known if isinstance(each, str)] if isinstance(known, list) else []


def descendants(tx: Transaction, session_id: str) -> list[str]:
    """The sessions of the agents of a session, of their agents, and so on."""
    found: list[str] = []
    for kin in children_of(tx, session_id):
        found += [kin.session_id, *descendants(tx, kin.session_id)]
    return found


def is_busy(tx: Transaction, session_id: str) -> bool:
    """Whether a turn of a session runs, or waits to run."""
    lease = tx.leases.get(session_id)
    if lease is not None and lease.owner is not None:
        return True
    return any(each.mode != "inject" for each in tx.messages.queued(session_id))


def agents_at_work(tx: Transaction, session_id: str) -> list[Kin]:
    """The agents of a session, of their agents, and so on, of which a turn runs or waits to run."""
    found = (kin_of(tx, each) for each in descendants(tx, session_id))
    return [each for each in found if each is not None and is_busy(tx, each.session_id)]


def enrolled(tx: Transaction, exchange: Exchange, session: Session, *, sends: bool = False) -> UUID:
    """The owner of a session's mailbox, which is opened if it is not there. An ended session gets none, unless it
    `sends` something still."""
    owner = UUID(session.owner)
    box = tx.mail.mailbox(owner)
    if (sends or not is_over(session)) and (box is None or box.left_at is not None):
        exchange.register(owner, session_id=session.id)
    return owner


def place_of(tx: Transaction, session_id: str) -> Address | None:
    """Where the agent of a session speaks: at its desk, else where a person spoke last, else at a bound channel."""
    if (kin := kin_of(tx, session_id)) is not None:
        return kin.desk
    tail = tx.messages.tail(session_id, _NEAR)
    spoken = [each.address for each in tail if each.kind == "user_prompt"] or [each.address for each in tail]
    if spoken:
        return spoken[-1]
    return next((address for address, session in tx.sessions.channels() if session.id == session_id), None)


def known_names(tx: Transaction, session_id: str) -> dict[str, str]:
    """Whom a session may write to by name, and what they are; names of its own agents before those of the address
    book."""
    kin = kin_of(tx, session_id)
    names = dict.fromkeys(tx.mail.names(), "address book")
    names |= dict.fromkeys((each.name for each in children_of(tx, session_id)), "your agent")
    return ({PARENT: "gave you your task"} if kin else {}) | names


def hand_names_on(tx: Transaction, exchange: Exchange, old: Session, new: Session) -> None:
    """Let the names of one session in the address book be those of another one."""
    for name in [name for name, owner in tx.mail.names().items() if owner == UUID(old.owner)]:
        exchange.name(name, enrolled(tx, exchange, new))


def called(tx: Transaction, reader: str, owner: UUID) -> str:
    """How the owner of a mailbox is called in a letter to the session `reader`."""
    box = tx.mail.mailbox(owner)
    session_id = box.session_id if box else None
    if session_id is None:
        return _listed(tx, reader, owner) or "somebody"
    mine, theirs = kin_of(tx, reader), kin_of(tx, session_id)
    if mine is not None and mine.parent == session_id:
        return PARENT
    if theirs is not None and theirs.parent == reader:
        return theirs.name
    return _listed(tx, reader, owner) or "another conversation"


def _listed(tx: Transaction, reader: str, owner: UUID) -> str | None:
    """The name of an owner in the address book, unless it would mean somebody else to the reader."""
    names = [name for name, each in tx.mail.names().items() if each == owner]
    taken = {PARENT, *(each.name for each in children_of(tx, reader))} if names else ()
    return next((name for name in names if name not in taken), None)
