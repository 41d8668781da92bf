"""Earlier bodies of messages in memory, and overwriting."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import thaw
from kesoku.messages.lifecycle import Delivery, Step
from kesoku.messages.message import Message
from kesoku.testing.memory.mail import MemoryMail
from kesoku.testing.memory.messages import MemoryMessages
from kesoku.testing.memory.table import Tables


class MemoryArchive:
    """`Archive` over dicts."""

    def __init__(self, tables: Tables, messages: MemoryMessages, mail: MemoryMail) -> None:
        self._tables, self._messages, self._mail = tables, messages, mail

    def versions(self, message_id: str) -> list[Message]:
        """See the port."""
        kept = [key for key in self._tables.versions if key[0] == message_id]
        return [self._tables.versions[key] for key in sorted(kept, key=lambda key: key[1])]

    def naming(self, message_id: str) -> list[str]:
        """See the port."""

        def names(message: Message) -> bool:
            relayed = message.source.kind == "relay" and _names(message.source.to_dict(), message_id)
            return relayed or _names(message.metadata, message_id)

        return self._where(names)

    def letters(self, message_id: str) -> list[Message]:
        """See the port."""
        return [each for each in self._mail.all() if each.id != message_id and _names(each.to_dict(), message_id)]

    def holding(self, text: str) -> list[str]:
        """See the port."""
        return self._where(lambda message: _json(text)[1:-1] in _json(message.content.to_dict()))

    def overwrite(self, message: Message, *, actor: str, at: int) -> int:
        """See the port."""
        self._messages.rewrite(message, actor=actor, at=at)
        earlier = [key for key in self._tables.versions if key[0] == message.id and key[1] < message.version]
        for key in earlier:
            self._tables.versions.put(key, replace(message, version=key[1]))
        return len(earlier)

    def overwrite_step(self, step: Step) -> None:
        """See the port."""
        known = self._tables.steps.get((step.turn_id, step.n))
        if known is not None:
            self._tables.steps.put((step.turn_id, step.n), replace(known, reply=step.reply))

    def overwrite_part(self, part: Delivery) -> None:
        """See the port."""
        key = (part.message_id, part.purpose, part.part)
        known = self._tables.deliveries.get(key)
        if known is not None:
            self._tables.deliveries.put(key, replace(known, body=part.body, hash=part.hash, error=part.error))

    def overwrite_errors(self, id_: str, text: str) -> None:
        """See the port."""
        for failure in self._tables.hook_failures.values():
            if failure.message_id == id_ and failure.error:
                key = (failure.hook, failure.event_seq)
                self._tables.hook_failures.put(key, replace(failure, error=text))
        for each in self._tables.events.values():
            if each.record.id == id_ and each.after is MessageStatus.ERROR and each.reason:
                self._tables.events.put(each.seq, replace(each, reason=text))
        self._mail.overwrite_errors(id_, text)

    def overwrite_question(self, question: Question) -> None:
        """See the port."""
        asked = self._tables.questions.get(question.id)
        if asked is not None:
            self._tables.questions.put(question.id, replace(asked, question=question))

    def overwrite_mail(self, message: Message) -> None:
        """See the port."""
        self._mail.overwrite(message)

    def _where(self, wanted: Callable[[Message], bool]) -> list[str]:
        return [each.id for each in self._tables.messages.values() if wanted(each.message)]


def _names(value: Any, text: str) -> bool:
    """Whether a text stands in a JSON value as a whole string."""
    return _json(text) in _json(value)


def _json(value: Any) -> str:
    return json.dumps(thaw(value), ensure_ascii=False)
