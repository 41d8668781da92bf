"""Questions that wait for a person, in SQL."""

from sqlalchemy import select, update

from kesoku.messages.content import Question
from kesoku.messages.lifecycle import Asked
from kesoku.messages.record import Address
from kesoku.store.engine import Link, Row, plain
from kesoku.store.mapping import UNREADABLE, from_json, mapping_of, to_json
from kesoku.store.statement import Statement, insert_into, param
from kesoku.store.tables import questions

_q = questions.c
_ASKED = (
    _q.question,
    _q.turn_id,
    _q.chatbot_id,
    _q.channel_id,
    _q.purpose,
    _q.who,
    _q.answer,
    _q.answered_by,
    _q.answered_at,
)

ADD = Statement(insert_into(questions, "seq"), bulky=True)
GET = Statement(select(*_ASKED).where(_q.id == param("id")))
OPEN = Statement(
    select(*_ASKED)
    .where(_q.chatbot_id == param("chatbot_id"), _q.channel_id == param("channel_id"), _q.answer.is_(None))
    .order_by(_q.seq)
)
ANSWER = Statement(
    update(questions)
    .where(_q.id == param("question_id"), _q.answer.is_(None))
    .values(answer=param("choice"), answered_by=param("by"), answered_at=param("at"))
)


class SqlQuestionStore:
    """See `kesoku.ports.store.QuestionStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(self, asked: Asked) -> None:
        """Store a question; a known id is a StoreConflict."""
        self._link.change(
            ADD,
            id=asked.question.id,
            turn_id=asked.turn_id,
            chatbot_id=asked.address.chatbot_id,
            channel_id=asked.address.channel_id,
            question=to_json(asked.question.to_dict()),
            purpose=to_json(asked.purpose),
            who=to_json(asked.who),
            answer=asked.answer,
            answered_by=asked.answered_by,
            answered_at=asked.answered_at,
        )

    def get(self, question_id: str) -> Asked | None:
        """The question, or None."""
        row = self._link.row(GET, id=question_id)
        return None if row is None else _asked_of(row)

    def open(self, address: Address) -> list[Asked]:
        """Unanswered questions of a channel."""
        rows = self._link.rows(OPEN, chatbot_id=address.chatbot_id, channel_id=address.channel_id)
        return [asked for row in rows if (asked := _asked_of(row)) is not None]

    def answer(self, question_id: str, *, choice: str, by: str, at: int) -> bool:
        """Answer once."""
        return self._link.change(ANSWER, question_id=question_id, choice=choice, by=by, at=at) == 1


def _asked_of(row: Row) -> Asked | None:
    """The question of a row; None for a damaged one, which nobody can answer any more."""
    question, turn_id, bot, channel, purpose, who, answer, answered_by, answered_at = row
    try:
        return Asked(
            question=Question.from_dict(dict(from_json(question))),
            turn_id=plain(turn_id),
            address=Address(chatbot_id=plain(bot), channel_id=plain(channel)),
            purpose=mapping_of(purpose),
            who=from_json(who),
            answer=plain(answer),
            answered_by=plain(answered_by),
            answered_at=answered_at,
        )
    except UNREADABLE:
        return None
