"""What of a running reply a platform shows."""

import pytest

from kesoku.adapter.drafts import DraftBoard
from kesoku.adapter.outgoing import Draft
from kesoku.adapter.route import visible_draft
from kesoku.messages.record import Address
from kesoku.messages.visibility import Presentation, Visibility

SHOWN, HIDDEN = Presentation.SHOWN, Presentation.HIDDEN


@pytest.mark.parametrize(
    ("thought", "text", "note", "kept"),
    [
        ("hm", "yes", "", ("", "yes", "")),
        ("hm", "", "", None),
        ("hm", "", "rate limit", ("", "", "rate limit")),
        ("", "", "", None),
    ],
)
def test_what_is_hidden_is_left_out_and_a_reason_to_wait_is_kept(
    thought: str, text: str, note: str, kept: tuple[str, str, str] | None
) -> None:
    shown = Visibility(
        user_text=SHOWN, assistant_text=SHOWN, thought=HIDDEN, tool_call=SHOWN, tool_result=SHOWN, notice=SHOWN
    )
    left = visible_draft(Draft(turn_id="t", step=1, thought=thought, text=text, note=note), shown)
    assert (left and (left.thought, left.text, left.note)) == kept


def test_a_draft_is_handed_on_whole() -> None:
    board, seen = DraftBoard(), list[Draft]()
    board.watch(lambda address, draft: seen.append(draft), lambda turn_id: None)
    here = Address(chatbot_id="b", channel_id="c")
    board.publish("t", here, step=2, thought="hm", text="yes", note="rate limit", wait=31.5)
    assert seen == [Draft(turn_id="t", step=2, thought="hm", text="yes", note="rate limit", wait=31.5)]
