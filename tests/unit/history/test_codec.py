"""Replies through JSON and back (complaints 57 and 58)."""

import json

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.codec import call_block, replay_state, reply_from_json, reply_to_json
from kesoku.messages.freeze import thaw
from kesoku.messages.turn import CallBlock, Finish, Reply, TextBlock, Usage

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
signatures = st.none() | st.binary(max_size=40)
texts = st.builds(TextBlock, text=st.text(), thought=st.booleans(), signature=signatures)
calls = st.builds(
    CallBlock,
    call_id=st.text(min_size=1),
    name=st.text(min_size=1),
    arguments=st.dictionaries(st.text(), json_values),
    signature=signatures,
    wire_id=st.none() | st.text(),
)
replies = st.builds(
    Reply,
    blocks=st.lists(texts | calls).map(tuple),
    provider=st.text(),
    model=st.text(),
    finish=st.sampled_from(Finish),
    detail=st.none() | st.text(),
    cure=st.text(),
    hint=st.text(),
    usage=st.builds(Usage, prompt=st.integers(0), answer=st.integers(0)),
)


@given(replies)
def test_a_reply_survives_json_byte_for_byte(reply: Reply) -> None:
    # D-053
    stored = json.loads(json.dumps(thaw(reply_to_json(reply))))
    assert reply_from_json(stored, reply.usage) == reply


@given(replies)
def test_a_reply_survives_the_frozen_form(reply: Reply) -> None:
    again = reply_from_json(reply_to_json(reply), reply.usage)
    assert [thaw(getattr(block, "arguments", None)) for block in again.blocks] == [
        thaw(getattr(block, "arguments", None)) for block in reply.blocks
    ]
    assert [block.signature for block in again.blocks] == [block.signature for block in reply.blocks]


@given(calls)
def test_a_call_gets_its_opaque_part_back(call: CallBlock) -> None:
    assert call_block(call.call_id, call.name, call.arguments, replay_state(call)) == call


def test_nothing_opaque_is_stored_as_nothing() -> None:
    assert replay_state(CallBlock(call_id="c", name="n", arguments={})) is None
