"""What a hook is told."""

import json
from dataclasses import replace

from kesoku.hooks.call import call_of
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change, ChangeKind
from kesoku.messages.record import Address, Record
from kesoku.render.mask import Mask

RECORD = Record(
    message=make.user_prompt("grüße \ud800", author="Ada", user_id="1"),
    address=Address(chatbot_id="discord", channel_id="1"),
    session_id="s",
    status=MessageStatus.PENDING_AGENT,
    seq=4,
)
CHANGE = Change(
    seq=17,
    at=1_767_225_600_250_000,
    kind=ChangeKind.INSERTED,
    record=RECORD,
    after=MessageStatus.PENDING_AGENT,
    actor="inbox",
)


def test_a_call_says_what_happened_when_and_to_which_message() -> None:
    body = json.loads(call_of("ops", CHANGE).body)
    assert body.pop("message") == json.loads(json.dumps(RECORD.to_dict()))
    assert body == {
        "hook": "ops",
        "event": "prompt",
        "event_seq": 17,
        "at": 1767225600.25,
        "before": None,
        "after": "pending_agent",
        "actor": "inbox",
        "reason": "",
    }


def test_known_secrets_are_masked() -> None:
    message = make.tool_call("fetch", {"headers": ["token-1234"]}, provider="p", model="m")
    change = replace(CHANGE, record=replace(RECORD, message=message))
    body = call_of("ops", change, Mask({"token-1234"})).body
    assert b"token-1234" not in body
    assert b"[secret]" in body


def test_it_is_ascii_whatever_people_wrote() -> None:
    assert call_of("ops", CHANGE).body.isascii()


def test_the_same_event_has_the_same_keys_each_time() -> None:
    first, second = call_of("ops", CHANGE), call_of("ops", CHANGE)
    assert first == second
    assert (first.message_id, first.event_seq) == (RECORD.id, 17)
