"""Mail in memory, with rollback."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from uuid import UUID

from kesoku.exchange.memory import MemoryMailStore
from kesoku.messages.mail import DeadReason, Letter, Mailbox
from kesoku.messages.message import Message
from kesoku.testing.memory.table import Tables

_KEPT = ("_boxes", "_left", "_names", "_kept", "_queued", "_dead")


class MemoryMail(MemoryMailStore):
    """The mail store of the product, which remembers everything before each change so that it can be undone."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self._journal = tables.journal

    def open(self, mailbox: Mailbox) -> None:
        """See the port."""
        self._remember()
        super().open(mailbox)

    def close(self, owner: UUID, *, at: int) -> None:
        """See the port."""
        self._remember()
        super().close(owner, at=at)

    def name(self, name: str, owner: UUID | None) -> None:
        """See the port."""
        self._remember()
        super().name(name, owner)

    def add(self, message: Message, sender: UUID, *, at: int) -> bool:
        """See the port."""
        self._remember()
        return super().add(message, sender, at=at)

    def forget(self, mail_id: str) -> None:
        """See the port."""
        self._remember()
        super().forget(mail_id)

    def deliver(self, letter: Letter, owners: Sequence[UUID], *, at: int) -> None:
        """See the port."""
        self._remember()
        super().deliver(letter, owners, at=at)

    def settle(self, letter: Letter) -> None:
        """See the port."""
        self._remember()
        super().settle(letter)

    def defer(self, letter: Letter, targets: Sequence[UUID]) -> list[Letter]:
        """See the port."""
        self._remember()
        return super().defer(letter, targets)

    def bury(self, letter: Letter, reason: DeadReason, *, error: str = "", at: int) -> None:
        """See the port."""
        self._remember()
        super().bury(letter, reason, error=error, at=at)

    def revive(self, mail_id: str, target: UUID | None = None) -> list[Letter]:
        """See the port."""
        self._remember()
        return super().revive(mail_id, target)

    def take(self, owner: UUID, message: Message) -> bool:
        """See the port."""
        self._remember()
        return super().take(owner, message)

    def all(self) -> list[Message]:
        """Every message that lies anywhere."""
        return [kept.message for kept in self._kept.values()]

    def overwrite_errors(self, mail_id: str, text: str) -> None:
        """Put another text in the place of what mailboxes said that refused a message."""
        self._remember()
        for number, dead in self._dead.items():
            if dead.id == mail_id and dead.error:
                self._dead[number] = replace(dead, error=text)

    def overwrite(self, message: Message) -> None:
        """Put another body in the place of one, wherever it lies."""
        if message.id not in self._kept:
            return
        self._remember()
        self._kept[message.id].message = message
        inboxes = (inbox for box in self._boxes.values() for inbox in box.inboxes.values())
        for inbox in (each for each in inboxes if message.id in each):
            inbox[message.id] = (inbox[message.id][0], message)
        for letters in self._queued.values():
            for number, letter in letters.items():
                if letter.message.id == message.id:
                    letters[number] = replace(letter, message=message)
        for number, dead in self._dead.items():
            if dead.id == message.id:
                self._dead[number] = replace(dead, letter=replace(dead.letter, message=message))

    def _remember(self) -> None:
        messages = {id(kept.message): kept.message for kept in self._kept.values()}
        before = deepcopy({name: getattr(self, name) for name in _KEPT}, messages)
        self._journal.note(lambda: vars(self).update(before))
