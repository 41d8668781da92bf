"""Earlier bodies of messages in SQL, and overwriting of whatever repeats what a message said."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlalchemy import func, or_, select, update

from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import message_from_dict
from kesoku.messages.lifecycle import Delivery, Step
from kesoku.messages.message import Message
from kesoku.store.engine import Link, Row
from kesoku.store.hook_tables import hook_failures
from kesoku.store.mail_tables import mail, mail_entries
from kesoku.store.mapping import UNREADABLE, archived, record_of, records, to_json
from kesoku.store.message import SqlMessageStore
from kesoku.store.statement import Statement, param
from kesoku.store.tables import deliveries, events, message_versions, messages, questions, steps

_m, _v, _s, _d = messages.c, message_versions.c, steps.c, deliveries.c

EARLIER = Statement(select(_v.body).where(_v.id == param("id")).order_by(_v.version))
CURRENT = Statement(records().where(_m.id == param("id")))
NAMING = Statement(
    select(_m.id)
    .where(
        or_(
            func.instr(func.coalesce(_m.metadata, ""), param("quoted")) > 0,
            (_m.source_kind == "relay") & (func.instr(_m.source, param("quoted")) > 0),
        )
    )
    .order_by(_m.seq)
)
LETTERS = Statement(select(mail.c.body).where(func.instr(mail.c.body, param("quoted")) > 0).order_by(mail.c.at))
HOLDING = Statement(select(_m.id).where(func.instr(_m.content, param("inside")) > 0).order_by(_m.seq))
NUMBERS = Statement(select(_v.version).where(_v.id == param("id")))
VERSION = Statement(
    update(message_versions).where(_v.id == param("of"), _v.version == param("number")).values(body=param("said")),
    bulky=True,
)
STEP = Statement(
    update(steps).where(_s.turn_id == param("turn"), _s.n == param("number")).values(reply=param("said")), bulky=True
)
PART = Statement(
    update(deliveries)
    .where(_d.message_id == param("of"), _d.purpose == param("why"), _d.part == param("number"))
    .values(body=param("said"), hash=param("sum"), error=param("failure")),
    bulky=True,
)
QUESTION = Statement(update(questions).where(questions.c.id == param("of")).values(question=param("asked")))
ERRORS = tuple(
    Statement(update(said.table).where(failed, said != "").values({said.name: param("failure")}))
    for said, failed in (
        (events.c.reason, (events.c.message_id == param("of")) & (events.c.after == MessageStatus.ERROR.value)),
        (hook_failures.c.error, hook_failures.c.message_id == param("of")),
        (mail_entries.c.error, mail_entries.c.mail_id == param("of")),
    )
)
MAIL = Statement(update(mail).where(mail.c.id == param("of")).values(body=param("said")), bulky=True)


class SqlArchive:
    """See `kesoku.ports.archive.Archive`."""

    def __init__(self, link: Link, messages: SqlMessageStore) -> None:
        self._link, self._messages = link, messages

    def versions(self, message_id: str) -> list[Message]:
        """Every body, the current one last."""
        row = self._link.row(CURRENT, id=message_id)
        if row is None:
            return []
        return [*_readable(self._link.rows(EARLIER, id=message_id)), record_of(row).message]

    def naming(self, message_id: str) -> list[str]:
        """Messages that name another one."""
        return [id_ for (id_,) in self._link.rows(NAMING, quoted=_quoted(message_id))]

    def letters(self, message_id: str) -> list[Message]:
        """Mail that names a message."""
        found = _readable(self._link.rows(LETTERS, quoted=_quoted(message_id)))
        return [each for each in found if each.id != message_id]

    def holding(self, text: str) -> list[str]:
        """Messages in whose content a text stands."""
        return [id_ for (id_,) in self._link.rows(HOLDING, inside=_quoted(text)[1:-1])]

    def overwrite(self, message: Message, *, actor: str, at: int) -> int:
        """Store the next version, and let every earlier one say the same."""
        self._link.shred()
        self._messages.rewrite(message, actor=actor, at=at)
        numbers = [number for (number,) in self._link.rows(NUMBERS, id=message.id)]
        for number in numbers:
            self._link.change(VERSION, of=message.id, number=number, said=archived(replace(message, version=number)))
        return len(numbers)

    def overwrite_step(self, step: Step) -> None:
        """Store another reply."""
        self._link.shred()
        self._link.change(STEP, turn=step.turn_id, number=step.n, said=to_json(step.reply))

    def overwrite_part(self, part: Delivery) -> None:
        """Store another body of a part."""
        self._link.shred()
        key = {"of": part.message_id, "why": part.purpose.value, "number": part.part}
        self._link.change(PART, **key, said=part.body, sum=part.hash, failure=part.error)

    def overwrite_errors(self, id_: str, text: str) -> None:
        """Store another text wherever somebody failed with a message."""
        self._link.shred()
        for each in ERRORS:
            self._link.change(each, of=id_, failure=text)

    def overwrite_question(self, question: Question) -> None:
        """Store another text of a question."""
        self._link.shred()
        self._link.change(QUESTION, of=question.id, asked=to_json(question.to_dict()))

    def overwrite_mail(self, message: Message) -> None:
        """Store another body of mail."""
        self._link.shred()
        self._link.change(MAIL, of=message.id, said=archived(message))


def _readable(rows: Iterable[Row]) -> Iterator[Message]:
    """The messages of bodies, without those that are damaged."""
    for (body,) in rows:
        with contextlib.suppress(*UNREADABLE):
            yield message_from_dict(json.loads(body))


def _quoted(text: str) -> str:
    """How a text stands in JSON."""
    return to_json(text)
