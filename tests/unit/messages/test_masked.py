"""Calls and results are shown without known secrets in their arguments; nothing else changes."""

from typing import Any

import pytest

from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.masked import masked, masked_record
from kesoku.messages.record import Address, Record
from kesoku.render.mask import NOTHING, Mask

TOKEN = "token-1234"
MASK = Mask({TOKEN})
CALL = make.tool_call("fetch", {"url": f"https://x/?k={TOKEN}", "more": [{TOKEN: 1}]}, provider="p", model="m")
HIDDEN = {"url": "https://x/?k=[secret]", "more": ({"[secret]": 1},)}


def test_arguments_of_calls_and_of_results_are_masked() -> None:
    """Complaint 168."""
    answered, result = make.respond(CALL, "ok")
    for message in (CALL, answered, result):
        shown = masked(message, MASK)
        assert shown.content.arguments == HIDDEN
        assert TOKEN not in shown.rendered
        assert (shown.id, shown.version, shown.source) == (message.id, message.version, message.source)
    assert TOKEN not in masked(CALL, MASK).content.summary


@pytest.mark.parametrize(
    ("message", "mask"),
    [
        (CALL, NOTHING),
        (CALL, Mask({"another secret"})),
        (make.tool_call("fetch", {}, provider="p", model="m"), MASK),
        (make.user_prompt(TOKEN, author="Ada"), MASK),
        (make.answer(TOKEN, provider="p", model="m"), MASK),
    ],
    ids=["no secrets", "another one", "no arguments", "prompt", "answer"],
)
def test_what_holds_none_stays_the_same(message: Any, mask: Mask) -> None:
    assert masked(message, mask) is message
    here = Address(chatbot_id="b", channel_id="c")
    record = Record(message=message, address=here, session_id="s", status=MessageStatus.RESPONDED, seq=1)
    assert masked_record(record, mask) is record
