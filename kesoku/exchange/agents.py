"""The other agents as the tools of one agent see them: `Agents` over the store (kesoku/tools/agents.py)."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from kesoku.errors import ToolRefused
from kesoku.exchange import occasion, reading, wording
from kesoku.exchange.exchange import Exchange
from kesoku.exchange.kin import (
    PARENT,
    Kin,
    add_child,
    called,
    children_of,
    desk_of,
    enrolled,
    is_busy,
    is_name,
    kin_of,
    known_names,
    place_of,
)
from kesoku.exchange.postman import Postman
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Serving, Session
from kesoku.messages.mail import Letter
from kesoku.messages.message import Message
from kesoku.messages.profile import NONE, profile_of
from kesoku.messages.record import SYSTEM_ADDRESS, Post
from kesoku.ports import Clock, Store, Transaction

DEPTH = 3
"""Delegations below a conversation with people: an agent this deep does its work itself."""
CHILDREN = 8
"""Agents of one session that work at once."""


class SessionAgents:
    """Agents are sessions: a child has its own, its place is its desk, and what they say to each other is mail."""

    def __init__(
        self, store: Store, clock: Clock, postman: Postman, *, serving: Serving, room: int = 64 * 1024
    ) -> None:
        """`serving`: what this process serves; `room`: the bytes of a tool's result that a model gets to see."""
        self._store, self._clock, self._postman, self._serving = store, clock, postman, serving
        self._room = room

    async def spawn(self, *, session_id: str, call_id: str, task: str, name: str) -> str:
        """Make a session with the task as its first prompt, once for a call."""
        at, child_id = self._clock.now(), occasion.derived_id(call_id)
        mint = cache(lambda: (make.mail_note(wording.TASK), make.task(task)))

        def operation(tx: Transaction) -> bool:
            if tx.sessions.get(child_id) is not None:
                return False
            _check_turn(tx, call_id, f"agent {name!r}")
            kin = self._new_kin(tx, session_id, child_id, call_id, name)
            exchange = Exchange(tx.mail, now=lambda: at)
            child = tx.sessions.create(session_id=child_id, title=name, at=at)
            tx.sessions.bind(kin.desk, child_id)
            add_child(tx, kin)
            for session in (tx.sessions.get(session_id), child):
                if session is not None:
                    enrolled(tx, exchange, session)
            note, prompt = mint()
            for message, mode in ((note, "inject"), (prompt, "followup")):
                post = Post(message=message, address=kin.desk, turn_id=message.id, mode=mode)  # type: ignore[arg-type]
                tx.messages.insert(post, session_id=child_id, at=at)
            return True

        await self._store.write(operation)
        return f"{name} works on it. Its answer comes as mail on the channel `result`; end your turn to wait for it."

    async def send(self, *, session_id: str, call_id: str, to: str, text: str, channel: str | None) -> str:
        """Queue a letter, once for a call, and route it at once."""
        at = self._clock.now()

        def operation(tx: Transaction) -> Sequence[Letter]:
            exchange = Exchange(tx.mail, now=lambda: at)
            session = tx.sessions.get(session_id)
            if session is None or session.ended_at is not None:
                raise ToolRefused(what="mail", reason="this conversation was ended")
            _check_turn(tx, call_id, "mail")
            sender, recipient = enrolled(tx, exchange, session), _recipient(tx, exchange, session, to)
            message = occasion.letter(call_id, at=at, sender=sender, recipient=recipient, content=text, channel=channel)
            exchange.post(message)
            return [each for each in exchange.waiting(sender) if each.message.id == message.id]

        report = await self._postman.carry(await self._store.write(operation), told=True)
        if report.dead:
            reason = report.dead[0][1].value.replace("_", " ")
            raise ToolRefused(
                what=f"a letter to {to!r}", reason=f"it did not arrive ({reason})", advice="do without it"
            )
        if report.failed:
            return f"{to} does not take more letters now ({report.failed[0][2]}); it will be tried again."
        return f"{to} has it."

    async def check(
        self, *, session_id: str, call_id: str, channel: str | None, take: bool
    ) -> Sequence[Mapping[str, Any]]:
        """The unread letters that a model gets to see; with `take` they leave the inbox once the result of the call is
        stored. What is too long for that stays, and wakes the agent later."""

        def operation(tx: Transaction) -> list[dict[str, Any]]:
            box = tx.mail.mailbox_of(session_id)
            if box is None:
                return []
            found = [
                each
                for each in reading.unread(tx, session_id, box.owner, call_id)
                if channel is None or each.channel == channel
            ]
            listed = wording.listed(((each, _from(tx, session_id, each)) for each in found), self._room)
            if take:
                reading.settle(tx, session_id, box.owner)
                reading.mark(tx, session_id, call_id, [each for each, _ in listed])
            facts = [facts for _, facts in listed]
            return [*facts, {"not_shown": more}] if (more := len(found) - len(listed)) else facts

        return await (self._store.write(operation) if take else self._store.read(operation))

    def _new_kin(self, tx: Transaction, session_id: str, child_id: str, call_id: str, name: str) -> Kin:
        """Who the child is. Raises ToolRefused where it may not be."""
        parent = kin_of(tx, session_id)
        depth = parent.depth if parent else 0
        _check_child(tx, session_id, name, depth)
        call = tx.messages.get(call_id)
        opener = tx.messages.get(call.turn_id or "") if call else None
        here = call.address if call else place_of(tx, session_id) or SYSTEM_ADDRESS
        home, root = (parent.home, parent.root) if parent else (here, session_id)
        return Kin(
            session_id=child_id,
            parent=session_id,
            name=name,
            depth=depth + 1,
            root=root,
            home=home,
            desk=desk_of(child_id, home, self._serving),
            profile=parent.profile if parent else profile_of(opener, tx.messages) if opener else NONE,
        )


def _check_turn(tx: Transaction, call_id: str, what: str) -> None:
    """Raise ToolRefused where the turn of a call was stopped: what it begins then nobody would stop."""
    call = tx.messages.get(call_id)
    opener = tx.messages.get(call.turn_id) if call and call.turn_id else None
    if opener is not None and opener.status is not MessageStatus.PROCESSING:
        raise ToolRefused(what=what, reason="this turn was stopped")


def _check_child(tx: Transaction, session_id: str, name: str, depth: int) -> None:
    """Raise ToolRefused unless a session may have one more agent, of this name."""
    what, children = f"agent {name!r}", children_of(tx, session_id)
    if depth >= DEPTH:
        reason = f"you are {depth} delegations deep, the most there is"
        raise ToolRefused(what=what, reason=reason, advice="do it yourself")
    busy = [each.name for each in children if is_busy(tx, each.session_id)]
    if len(busy) >= CHILDREN:
        advice = "wait for one of them: end your turn, mail wakes you"
        raise ToolRefused(what=what, reason=f"{len(busy)} of yours work already ({', '.join(busy)})", advice=advice)
    if not is_name(name):
        raise ToolRefused(what=what, reason="this is no name for an agent", advice="choose one short, plain word")
    if name in {each.name for each in children}:
        raise ToolRefused(what=what, reason="you have one of that name", advice="write to it, or choose another name")


def _recipient(tx: Transaction, exchange: Exchange, session: Session, to: str) -> UUID | str:
    """The owner behind a name, or the name itself where the address book knows it. Raises ToolRefused."""
    mine = kin_of(tx, session.id)
    near = {each.name: each.session_id for each in children_of(tx, session.id)}
    if mine is not None:
        near[PARENT] = mine.parent
    other = tx.sessions.get(near[to]) if to in near else None
    if other is not None:
        return enrolled(tx, exchange, other)
    if tx.mail.named(to) is not None:
        return to
    names = known_names(tx, session.id)
    known = ", ".join(f"{each} ({what})" for each, what in names.items()) or "nobody yet"
    raise ToolRefused(what=f"{to!r}", reason="nobody has this name", advice=f"you can write to: {known}")


def _from(tx: Transaction, reader: str, message: Message) -> str:
    sender = message.sender.plain()
    return called(tx, reader, sender) if isinstance(sender, UUID) else str(sender)
