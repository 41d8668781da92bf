"""Mail in the memory of one process: what an exchange needs that no restart has to survive."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from uuid import UUID

from kesoku.messages.mail import DeadLetter, DeadReason, Letter, Mailbox
from kesoku.messages.message import Message
from kesoku.messages.party import Direct

_Arrived = tuple[int, Message]
"""A message with the number of its arrival."""


@dataclass(slots=True)
class _Kept:
    """A message, and in how many places it lies."""

    message: Message
    places: int


@dataclass(slots=True)
class _Box:
    """An open mailbox with what lies in it. Ordered dicts, because a dict finds its first key slowly once many
    before it were taken out."""

    mailbox: Mailbox
    inboxes: OrderedDict[int, OrderedDict[str, _Arrived]] = field(default_factory=OrderedDict)
    """By sender; none of them is empty."""
    held: int = 0


class MemoryMailStore:
    """See `kesoku.ports.mail.MailStore`. A message is kept as long as it lies anywhere."""

    def __init__(self) -> None:
        # By the number of each UUID: Python hashes and compares UUIDs slowly.
        self._boxes: dict[int, _Box] = {}
        self._left: dict[int, Mailbox] = {}
        self._names: dict[str, UUID] = {}
        self._kept: dict[str, _Kept] = {}
        self._queued: dict[int, OrderedDict[int, Letter]] = {}
        self._dead: dict[int, DeadLetter] = {}
        self._numbers = count(1)

    def open(self, mailbox: Mailbox) -> None:
        """Store a mailbox, as the youngest one."""
        self._left.pop(mailbox.owner.int, None)
        self._boxes[mailbox.owner.int] = _Box(mailbox)

    def close(self, owner: UUID, *, at: int) -> None:
        """Give a mailbox up."""
        if (box := self._boxes.pop(owner.int, None)) is None:
            return
        self._left[owner.int] = replace(box.mailbox, left_at=at)
        for inbox in box.inboxes.values():
            for id_ in inbox:
                self._drop(id_)
        if not self._queued.get(owner.int, True):
            del self._queued[owner.int]

    def mailbox(self, owner: UUID) -> Mailbox | None:
        """The mailbox of an owner."""
        box = self._boxes.get(owner.int)
        return self._left.get(owner.int) if box is None else box.mailbox

    def mailbox_of(self, session_id: str) -> Mailbox | None:
        """The open mailbox of a session."""
        return next((each for each in self.mailboxes() if each.session_id == session_id), None)

    def mailboxes(self) -> Sequence[Mailbox]:
        """Every open mailbox."""
        return [box.mailbox for box in self._boxes.values()]

    def name(self, name: str, owner: UUID | None) -> None:
        """Write an owner into the address book."""
        if owner is None:
            self._names.pop(name, None)
        else:
            self._names[name] = owner

    def names(self) -> dict[str, UUID]:
        """The address book."""
        return dict(sorted(self._names.items()))

    def named(self, name: str) -> UUID | None:
        """Who has this name."""
        return self._names.get(name)

    def add(self, message: Message, sender: UUID, *, at: int) -> bool:
        """Queue a message."""
        if message.id in self._kept:
            return False
        self._kept[message.id] = _Kept(message, 1)
        self._queue(Letter(number=next(self._numbers), message=message, sender=sender))
        return True

    def message(self, mail_id: str) -> Message | None:
        """What was sent under an id."""
        kept = self._kept.get(mail_id)
        return None if kept is None else kept.message

    def forget(self, mail_id: str) -> None:
        """Remove a message wherever it lies."""
        if (kept := self._kept.pop(mail_id, None)) is None:
            return
        for box in tuple(self._boxes.values()):
            self.take(box.mailbox.owner, kept.message)
        for letter in [each for box in self._queued.values() for each in box.values() if each.message.id == mail_id]:
            self.settle(letter)
        self._dead = {number: each for number, each in self._dead.items() if each.id != mail_id}

    def senders(self) -> list[UUID]:
        """The owners whose outbox is not empty."""
        return [UUID(int=owner) for owner, letters in self._queued.items() if letters]

    def receivers(self) -> list[UUID]:
        """The owners whose inbox is not empty."""
        return [box.mailbox.owner for box in self._boxes.values() if box.held]

    def outbox(self, sender: UUID) -> Sequence[Letter]:
        """What waits in an outbox."""
        return list(self._queued.get(sender.int, {}).values())

    def letter(self, sender: UUID, number: int) -> Letter | None:
        """One letter."""
        letters = self._queued.get(sender.int)
        return None if letters is None else letters.get(number)

    def deliver(self, letter: Letter, owners: Sequence[UUID], *, at: int) -> None:
        """Put a message into inboxes."""
        message, sender = letter.message, letter.sender.int
        arrived, boxes, places = (next(self._numbers), message), self._boxes, 0
        for owner in owners:
            box = boxes[owner.int]
            if (inbox := box.inboxes.get(sender)) is None:
                inbox = box.inboxes[sender] = OrderedDict()
            if message.id not in inbox:
                inbox[message.id] = arrived
                box.held += 1
                places += 1
        self._kept[message.id].places += places

    def settle(self, letter: Letter) -> None:
        """Take a letter out of its outbox."""
        if self._queued[letter.sender.int].pop(letter.number, None) is not None:
            self._drop(letter.message.id)

    def defer(self, letter: Letter, targets: Sequence[UUID]) -> list[Letter]:
        """Keep a letter for another attempt."""
        numbered = [(target, next(self._numbers)) for target in targets]
        again = [
            replace(letter, number=number, target=target, attempts=letter.attempts + 1) for target, number in numbered
        ]
        self._kept[letter.message.id].places += len(again)
        for each in again:
            self._queue(each)
        self.settle(letter)
        return again

    def bury(self, letter: Letter, reason: DeadReason, *, error: str = "", at: int) -> None:
        """Make a queued letter a dead one."""
        if self._queued[letter.sender.int].pop(letter.number, None) is None:
            return
        self._dead[letter.number] = DeadLetter(letter=letter, reason=reason, error=error, at=at)

    def dead(self, sender: UUID | None = None) -> list[DeadLetter]:
        """Dead letters."""
        return [each for _, each in sorted(self._dead.items()) if sender is None or each.letter.sender == sender]

    def revive(self, mail_id: str, target: UUID | None = None) -> list[Letter]:
        """Queue dead letters again."""
        found = [each.letter for each in self._dead.values() if each.id == mail_id]
        for letter in found:
            del self._dead[letter.number]
        if target is not None and found:
            self._kept[mail_id].places -= len(found) - 1
            found = [replace(found[0], target=target)]
        revived = [replace(each, number=next(self._numbers), attempts=0) for each in found]
        for letter in revived:
            self._queue(letter)
        return revived

    def inbox(self, owner: UUID, sender: UUID | None = None) -> list[Message]:
        """What lies in an inbox."""
        if (box := self._boxes.get(owner.int)) is None:
            return []
        if sender is not None:
            return [message for _, message in box.inboxes.get(sender.int, {}).values()]
        arrived = [each for inbox in box.inboxes.values() for each in inbox.values()]
        return [message for _, message in sorted(arrived, key=_number)]

    def oldest(self, owner: UUID, sender: UUID | None = None) -> Message | None:
        """The first of it, from one sender or from all."""
        if (box := self._boxes.get(owner.int)) is None:
            return None
        if sender is not None:
            inbox = box.inboxes.get(sender.int)
            return next(iter(inbox.values()))[1] if inbox else None
        firsts = (next(iter(inbox.values())) for inbox in box.inboxes.values())
        return min(firsts, key=_number, default=(0, None))[1]

    def held(self, owner: UUID) -> int:
        """How many letters lie in an inbox."""
        box = self._boxes.get(owner.int)
        return box.held if box else 0

    def take(self, owner: UUID, message: Message) -> bool:
        """Take a message out of an inbox."""
        sender, box = message.sender, self._boxes.get(owner.int)
        if box is None or not isinstance(sender, Direct):
            return False
        inbox = box.inboxes.get(sender.id.int)
        if inbox is None or inbox.pop(message.id, None) is None:
            return False
        box.held -= 1
        if not inbox:
            del box.inboxes[sender.id.int]
        self._drop(message.id)
        return True

    def _queue(self, letter: Letter) -> None:
        box = self._queued.get(letter.sender.int)
        if box is None:
            box = self._queued[letter.sender.int] = OrderedDict()
        box[letter.number] = letter

    def _drop(self, mail_id: str) -> None:
        """The message lies in one place less."""
        kept = self._kept.get(mail_id)
        if kept is not None:
            kept.places -= 1
            if not kept.places:
                del self._kept[mail_id]


def _number(arrived: _Arrived) -> int:
    return arrived[0]
