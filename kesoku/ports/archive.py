"""What messages said before, and how what was said is overwritten wherever it stands (C-16)."""

from typing import Protocol

from kesoku.messages.content import Question
from kesoku.messages.lifecycle import Delivery, Step
from kesoku.messages.message import Message


class Archive(Protocol):
    """Every body that a message ever had, and the only way to lose one.

    What `overwrite...` replaces is wiped out of the file as far as one transaction can do that; `Store.scrub` does the
    rest.
    """

    def versions(self, message_id: str) -> list[Message]:
        """Every body that a message had, the first one first and the current one last; nothing if it is not known."""
        ...

    def naming(self, message_id: str) -> list[str]:
        """Ids of the messages of all sessions that name another one in their metadata, or as the mail that they came
        from. Reads everything."""
        ...

    def letters(self, message_id: str) -> list[Message]:
        """Mail that names a message in its metadata or its source. Reads everything."""
        ...

    def holding(self, text: str) -> list[str]:
        """Ids of the messages of all sessions in whose content a text stands, such as the path of a file. Reads
        everything."""
        ...

    def overwrite(self, message: Message, *, actor: str, at: int) -> int:
        """Store the next version, as `MessageStore.rewrite` does, and let every earlier one say the same; how many
        earlier ones there are.

        Raises VersionConflict, UnknownMessage.
        """
        ...

    def overwrite_step(self, step: Step) -> None:
        """Store another reply of a step."""
        ...

    def overwrite_part(self, part: Delivery) -> None:
        """Store another body and error of a part that is there, whatever its state."""
        ...

    def overwrite_errors(self, id_: str, text: str) -> None:
        """Store another text wherever somebody said why they failed with a message or a letter, which may quote it:
        platforms in the event log, event hooks, and who could not take mail."""
        ...

    def overwrite_question(self, question: Question) -> None:
        """Store another text of a question that is there."""
        ...

    def overwrite_mail(self, message: Message) -> None:
        """Store another body of mail, wherever it lies."""
        ...
