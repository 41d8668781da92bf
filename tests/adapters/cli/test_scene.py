"""What the terminal shows of a record."""

from dataclasses import replace

import pytest

from kesoku.adapter import RenderContext
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Address, Record
from kesoku_cli.scene import scene_of


@pytest.mark.parametrize(
    ("seconds", "line"),
    [
        (None, ""),
        (300.0, "\nNo answer within 5 min is a no."),
        (299.99, "\nNo answer within 5 min is a no."),
        (45.0, "\nNo answer within 45 s is a no."),
    ],
)
def test_a_question_says_how_long_it_waits(seconds: float | None, line: str) -> None:
    asked = Question(id="q", text="May I?", choices=("yes", "no"))
    notice = make.notice(asked.text, reason="reply", question=asked)
    if seconds is not None:
        asked = replace(asked, deadline=notice.created_at + seconds)
    here = Address(chatbot_id="cli", channel_id="cli")
    record = Record(message=notice, address=here, session_id="s", status=MessageStatus.PENDING, seq=1)
    scene = scene_of(record, RenderContext(files={}, question=asked))
    assert scene == {"show": "question", "id": "q", "text": f"May I?{line}", "choices": ["yes", "no"]}
