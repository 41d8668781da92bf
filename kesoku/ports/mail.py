"""Mailboxes, and what lies in them."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from kesoku.messages.mail import DeadLetter, DeadReason, Letter, Mailbox
from kesoku.messages.message import Message


class MailStore(Protocol):
    """Mail between sessions and agents as one transaction sees it. It keeps; `kesoku.exchange` knows the rules.

    A message is stored once, whatever the number of those who get it (C-23). Each copy is a line of its own: queued in
    the sender's outbox, dead there, or in an inbox.
    """

    def open(self, mailbox: Mailbox) -> None:
        """Store a mailbox; one that was given up is there again, and empty."""
        ...

    def close(self, owner: UUID, *, at: int) -> None:
        """Give a mailbox up: what lies in its inbox is gone, and it is known to have left."""
        ...

    def mailbox(self, owner: UUID) -> Mailbox | None:
        """The mailbox of an owner, given up or not; None if there never was one."""
        ...

    def mailbox_of(self, session_id: str) -> Mailbox | None:
        """The open mailbox of a session, or None."""
        ...

    def mailboxes(self) -> Sequence[Mailbox]:
        """Every open mailbox, the oldest first."""
        ...

    def name(self, name: str, owner: UUID | None) -> None:
        """Write an owner into the address book, in place of an earlier one of that name; None strikes the name out."""
        ...

    def names(self) -> dict[str, UUID]:
        """The address book, by name."""
        ...

    def named(self, name: str) -> UUID | None:
        """Who has this name, or None."""
        ...

    def add(self, message: Message, sender: UUID, *, at: int) -> bool:
        """Store a message and queue it in the sender's outbox; False, and nothing, if its id is known.

        Raises NotStorable: content that is no JSON, where that matters.
        """
        ...

    def message(self, mail_id: str) -> Message | None:
        """What was sent under an id, as long as it is kept anywhere; or None."""
        ...

    def forget(self, mail_id: str) -> None:
        """Remove a message wherever it lies."""
        ...

    def senders(self) -> list[UUID]:
        """The owners whose outbox is not empty."""
        ...

    def receivers(self) -> list[UUID]:
        """The owners whose inbox is not empty."""
        ...

    def outbox(self, sender: UUID) -> Sequence[Letter]:
        """What waits in an outbox, the oldest first."""
        ...

    def letter(self, sender: UUID, number: int) -> Letter | None:
        """One letter, if it still waits there."""
        ...

    def deliver(self, letter: Letter, owners: Sequence[UUID], *, at: int) -> None:
        """Put a message into inboxes. Who took it out before gets it again."""
        ...

    def settle(self, letter: Letter) -> None:
        """Take a letter out of its outbox: nothing is left to do for it."""
        ...

    def defer(self, letter: Letter, targets: Sequence[UUID]) -> list[Letter]:
        """Keep a letter for another attempt, one for each recipient that is left, in place of the letter itself."""
        ...

    def bury(self, letter: Letter, reason: DeadReason, *, error: str = "", at: int) -> None:
        """Make a queued letter a dead one."""
        ...

    def dead(self, sender: UUID | None = None) -> list[DeadLetter]:
        """Dead letters of one sender, or of all; the oldest first."""
        ...

    def revive(self, mail_id: str, target: UUID | None = None) -> list[Letter]:
        """Queue the dead letters of a message again, without attempts; to `target` as one letter, if that is given."""
        ...

    def inbox(self, owner: UUID, sender: UUID | None = None) -> list[Message]:
        """What lies in an inbox, from one sender or from all, in order of arrival."""
        ...

    def oldest(self, owner: UUID, sender: UUID | None = None) -> Message | None:
        """The first of it, or None; as cheap as if nothing lay behind it."""
        ...

    def held(self, owner: UUID) -> int:
        """How many letters lie in an inbox."""
        ...

    def take(self, owner: UUID, message: Message) -> bool:
        """Take a message out of an inbox; whether it was there."""
        ...
