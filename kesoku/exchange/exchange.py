"""Routing of mail between owners of mailboxes: the rules, as plain functions of a mail store (D5, L-152 to L-179).

Sending needs no recipient: it only queues. Routing then delivers, keeps what a mailbox refused, and turns what can
reach nobody into a dead letter with its reason, so that nothing vanishes. Everything here is synchronous, for one
transaction of a store or for mail in memory alone.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from kesoku.errors import NameInvalid, NoDeadLetter, OwnerKnown, OwnerUnknown
from kesoku.messages.mail import OUTBOX, DeadLetter, DeadReason, Flow, Letter, Mailbox, Report, inbox_of
from kesoku.messages.message import Message
from kesoku.messages.party import Broadcast, Direct, Named, Unaddressed, party
from kesoku.messages.source import RelaySource
from kesoku.ports import MailStore

ATTEMPTS = 5
"""Failed deliveries after which a letter is dead."""
FULL = "the mailbox is full"
_SOURCE = RelaySource()


class Exchange:
    """The exchange over one mail store. An owner is a UUID, its text, or an object whose `id` is one."""

    def __init__(self, mail: MailStore, *, now: Callable[[], int] | None = None) -> None:
        self._mail, self._now = mail, now or _now

    def register(self, owner: Any, *, session_id: str | None = None, capacity: int | None = None) -> Flow:
        """Open a mailbox, empty (L-156). `capacity`: the letters that it holds at most; a full one refuses.

        Raises:
            OwnerKnown: it has one already (L-152).
        """
        id_ = _uuid(owner)
        if self._box(id_) is not None:
            raise OwnerKnown(owner=id_)
        self._mail.open(Mailbox(owner=id_, session_id=session_id, capacity=capacity, at=self._now()))
        return self._flow(id_)

    def unregister(self, owner: Any) -> Flow | None:
        """Close a mailbox; returns what lay in it, or None if there is none (L-155, L-178).

        What was still in its outbox becomes dead letters (R-3).
        """
        if (flow := self.get(owner)) is None:
            return None
        at = self._now()
        for letter in self._mail.outbox(flow.owner):
            self._mail.bury(letter, DeadReason.SENDER_LEFT, at=at)
        self._mail.close(flow.owner, at=at)
        return flow

    def get(self, owner: Any) -> Flow | None:
        """The mail of an owner as it is now, or None without a mailbox."""
        id_ = _uuid(owner)
        return None if self._box(id_) is None else self._flow(id_)

    def owners(self) -> list[UUID]:
        """Who has a mailbox, the oldest first."""
        return [box.owner for box in self._mail.mailboxes()]

    def name(self, name: str, owner: Any) -> None:
        """Write an owner into the address book, in place of an earlier one; None strikes the name out.

        Raises:
            NameInvalid: it is empty, or would be read as something else, such as a role or a UUID.
        """
        if not name or not isinstance(party(name), Named):
            raise NameInvalid(name=name)
        self._mail.name(name, None if owner is None else _uuid(owner))

    def names(self) -> dict[str, UUID]:
        """The address book."""
        return self._mail.names()

    def send(self, sender: Any, recipient: Any, content: Any, channel: str | None = None) -> Message:
        """Queue new mail in the sender's outbox (L-157). The recipient need not have a mailbox yet (L-158).

        `recipient`: an owner, a name of the address book, or None for everybody else. `channel` is a label.

        Raises:
            OwnerUnknown: the sender has no mailbox (L-153).
            InvalidParty: the recipient is nothing that can be addressed.
        """
        message = letter(_uuid(sender), recipient, content, channel)
        self.post(message)
        return message

    def post(self, message: Message) -> bool:
        """Queue a message that names its sender; False, and nothing, if its id was sent before.

        Raises:
            OwnerUnknown: the sender has no mailbox.
        """
        sender = _uuid(message.sender)
        if self._box(sender) is None:
            raise OwnerUnknown(owner=sender)
        return self._mail.add(message, sender, at=self._now())

    def route(self, owner: Any) -> Report:
        """Route everything in an owner's outbox, the oldest first.

        Raises:
            OwnerUnknown: it has no mailbox (L-154).
        """
        return self._route(self.waiting(owner))

    def waiting(self, owner: Any) -> Sequence[Letter]:
        """What an owner has sent and nobody has routed yet. Raises OwnerUnknown."""
        sender = _uuid(owner)
        if self._box(sender) is None:
            raise OwnerUnknown(owner=sender)
        return self._mail.outbox(sender)

    def route_each(self, letters: Sequence[Letter]) -> Report:
        """Route some letters; those that are no longer queued are passed over (L-159)."""
        found = [self._mail.letter(each.sender, each.number) for each in letters]
        return self._route([each for each in found if each is not None])

    def collect(self, owner: Any) -> int:
        """Route an owner's outbox; how many messages reached anybody (C-25). Raises OwnerUnknown (L-154)."""
        return self.route(owner).count

    def collect_all(self) -> int:
        """Collect for everybody who has a mailbox now and still has it when its turn comes (L-173)."""
        return sum(self.collect(owner) for owner in self.owners() if self._box(owner) is not None)

    def sync(self) -> int:
        """The same as `collect_all` (L-174)."""
        return self.collect_all()

    def receive(self, owner: Any, sender: Any = None, channel: str | None = None) -> list[Message]:
        """What lies in an inbox, in order of arrival; it stays there (L-168). [] without a mailbox."""
        found = self._mail.inbox(_uuid(owner), None if sender is None else _uuid(sender))
        return found if channel is None else [each for each in found if each.channel == channel]

    def pop(self, owner: Any, sender: Any) -> Message | None:
        """Take the oldest mail of one sender out of an inbox, or None (L-170, L-171)."""
        id_ = _uuid(owner)
        message = self._mail.oldest(id_, _uuid(sender))
        return message if message is not None and self._mail.take(id_, message) else None

    def take(self, owner: Any, message: Message) -> bool:
        """Take one message out of an inbox; whether it was there."""
        return self._mail.take(_uuid(owner), message)

    def dead_letters(self, owner: Any = None) -> list[DeadLetter]:
        """What reached nobody, of one sender or of all; the oldest first."""
        return self._mail.dead(None if owner is None else _uuid(owner))

    def redeliver(self, mail_id: str, to: Any = None) -> Report:
        """Try a dead letter again at once, under its own id, perhaps to somebody else: an owner or a name.

        Raises:
            NoDeadLetter: no dead letter has this id.
            OwnerUnknown: `to` is neither a mailbox nor a name of the address book.
        """
        target = None if to is None else self._somebody(to)
        if not (letters := self._mail.revive(mail_id, target)):
            raise NoDeadLetter(mail_id=mail_id)
        return self.route_each(letters)

    def _route(self, letters: Sequence[Letter]) -> Report:
        delivered: list[tuple[str, UUID]] = []
        dead: list[tuple[str, DeadReason]] = []
        failed: list[tuple[str, UUID, str]] = []
        at = self._now()
        for each in letters:
            to = self._receivers(each)
            if isinstance(to, DeadReason):
                self._mail.bury(each, to, at=at)
                dead.append((each.message.id, to))
                continue
            takers = [box.owner for box in to if box.capacity is None or self._mail.held(box.owner) < box.capacity]
            self._mail.deliver(each, takers, at=at)
            delivered += [(each.message.id, owner) for owner in takers]
            if len(takers) == len(to):
                self._mail.settle(each)
            else:
                self._refused(each, [box.owner for box in to if box.owner not in takers], at, dead, failed)
        return Report(delivered=tuple(delivered), dead=tuple(dead), failed=tuple(failed))

    def _refused(
        self,
        letter: Letter,
        full: Sequence[UUID],
        at: int,
        dead: list[tuple[str, DeadReason]],
        failed: list[tuple[str, UUID, str]],
    ) -> None:
        """Keep a letter for those whose mailbox is full, or give it up; the others have it (L-166)."""
        for owner, each in zip(full, self._mail.defer(letter, full), strict=True):
            if each.attempts < ATTEMPTS and self._box(each.sender) is not None:
                failed.append((each.message.id, owner, FULL))
            else:
                self._mail.bury(each, DeadReason.DELIVERY_ERROR, error=FULL, at=at)
                dead.append((each.message.id, DeadReason.DELIVERY_ERROR))

    def _receivers(self, letter: Letter) -> list[Mailbox] | DeadReason:
        """The mailboxes that a letter goes to, or why there are none."""
        to = letter.message.recipient
        if letter.target is not None:
            return self._direct(letter.target)
        if isinstance(to, Direct):
            return self._direct(to.id)
        if isinstance(to, Broadcast):
            others = [box for box in self._mail.mailboxes() if box.owner != letter.sender]
            return others or DeadReason.NO_RECEIVERS
        if isinstance(to, Named) and (owner := self._mail.named(to.name)) is not None:
            return self._direct(owner)
        return DeadReason.UNADDRESSED if isinstance(to, Unaddressed) else DeadReason.NOT_AN_ADDRESS

    def _direct(self, owner: UUID) -> list[Mailbox] | DeadReason:
        if (box := self._mail.mailbox(owner)) is None:
            return DeadReason.NO_SUCH_OWNER
        return [box] if box.left_at is None else DeadReason.LEFT_BEFORE_DELIVERY

    def _box(self, owner: UUID) -> Mailbox | None:
        """The open mailbox of an owner."""
        box = self._mail.mailbox(owner)
        return box if box is not None and box.left_at is None else None

    def _somebody(self, to: Any) -> UUID:
        named = self._mail.named(to) if isinstance(to, str) else None
        address = Direct(named) if named else party(to)
        if not isinstance(address, Direct):
            raise OwnerUnknown(owner=to)
        return address.id

    def _flow(self, owner: UUID) -> Flow:
        sent = [each.message for each in self._mail.outbox(owner)]
        progressions: dict[str, list[str]] = {OUTBOX: [each.id for each in sent]}
        came = self._mail.inbox(owner)
        for each in came:
            progressions.setdefault(inbox_of(_uuid(each.sender)), []).append(each.id)
        return Flow(
            owner=owner,
            progressions={name: tuple(dict.fromkeys(ids)) for name, ids in progressions.items()},
            messages={each.id: each for each in (*sent, *came)},
        )


def letter(sender: UUID, recipient: Any, content: Any, channel: str | None = None) -> Message:
    """New mail: a message of no role (L-157). Raises InvalidParty."""
    to = Direct(recipient) if isinstance(recipient, UUID) else recipient  # the most frequent kind, told at once
    return Message.create(source=_SOURCE, content=content, sender=Direct(sender), recipient=to, channel=channel)


def _uuid(owner: Any) -> UUID:
    """The UUID of an owner. Raises OwnerUnknown, InvalidParty."""
    if isinstance(owner, UUID):
        return owner
    address = owner if type(owner) is Direct else party(owner)
    if not isinstance(address, Direct):
        raise OwnerUnknown(owner=owner)
    return address.id


def _now() -> int:
    return time.time_ns() // 1_000
