"""Signatures and ids of a provider: on the part that they came with, to nobody else (D-053; complaints 57 to 59)."""

from dataclasses import replace
from typing import Any

import pytest

from kesoku.messages import make
from kesoku.messages.turn import CallBlock, CompiledRequest, ResultBlock, TextBlock
from kesoku.testing.talk import Talk

from .reading import blocks, compiled, script


def test_stored_replies_are_used_word_for_word() -> None:
    # D-053; complaint 57
    talk = Talk()
    talk.prompt("go")
    said = (
        TextBlock(text="hm", thought=True),
        TextBlock(text="I will look"),
        TextBlock(text="", signature=b"\x00\xff"),
        CallBlock(call_id="", name="a", arguments={}, signature=b"one", wire_id="w1"),
        CallBlock(call_id="", name="b", arguments={}),
    )
    for call in talk.step(*said):
        talk.result(call)
    request = compiled(talk, provider="scripted")
    given = request.turns[1].blocks
    assert [replace(b, call_id="") if isinstance(b, CallBlock) else b for b in given] == list(said)
    assert [block.wire_id for block in request.turns[2].blocks if isinstance(block, ResultBlock)] == ["w1", None]


def test_another_provider_gets_no_signature() -> None:
    # D-053
    talk = Talk()
    talk.prompt("old")
    talk.round = 1
    talk.result(talk.call("a", signature=b"old"))
    talk.answer("ok")
    talk.prompt("go")
    for call in talk.step(
        TextBlock(text="", signature=b"t"), CallBlock(call_id="", name="b", arguments={}, signature=b"new", wire_id="w")
    ):
        talk.result(call)
    own = compiled(talk, provider="scripted")
    foreign = compiled(talk, provider="other")
    assert [block.signature for block in blocks(own, CallBlock)] == [b"old", b"new"]
    for request in (foreign, compiled(talk)):
        assert [(block.signature, block.wire_id) for block in blocks(request, CallBlock)] == [(None, None)] * 2
        assert [block.wire_id for block in blocks(request, ResultBlock)] == [None, None]
        assert all(block.text for block in blocks(request, TextBlock))


def test_a_signature_stays_on_its_own_call() -> None:
    # complaint 57
    talk = Talk()
    prompt = talk.prompt("go")
    said = (
        TextBlock(text="I will look"),
        CallBlock(call_id="", name="a", arguments={}, signature=b"s", wire_id="w1"),
        CallBlock(call_id="", name="b", arguments={}, wire_id="w2"),
    )
    one, two = talk.step(*said)
    results = [talk.result(call) for call in (one, two)]
    answer = talk.answer("done")
    talk.prompt("next")

    def signed(request: CompiledRequest) -> list[tuple[str, bytes | None, str | None]]:
        return [(block.name, block.signature, block.wire_id) for block in blocks(request, CallBlock)]

    chosen = [prompt.id, one.id, two.id, *(each.id for each in results), answer.id]
    assert signed(compiled(talk, provider="scripted")) == [("a", b"s", "w1"), ("b", None, "w2")]
    cut = [each for each in chosen if each not in {one.id, results[0].id}]
    assert signed(compiled(talk, provider="scripted", selection=cut)) == [("b", None, "w2")]
    talk.records = [each for each in talk.records if each.id != one.id]
    assert signed(compiled(talk, provider="scripted")) == [("b", None, "w2")]


@pytest.mark.parametrize("active", [True, False], ids=["of the active turn", "of a past one"])
def test_a_call_that_was_changed_is_read_as_it_is_now_and_unsigned(active: bool) -> None:
    talk = Talk()
    talk.prompt("go")
    calls = talk.step(
        TextBlock(text="hm", thought=True),
        CallBlock(call_id="", name="a", arguments={"key": "secret"}, signature=b"s"),
        CallBlock(call_id="", name="b", arguments={}),
    )
    for call in calls:
        talk.result(call)
    message = next(each.message for each in talk.records if each.id == calls[0].id).update(arguments={"key": "..."})
    talk.records = [replace(each, message=message) if each.id == message.id else each for each in talk.records]
    if not active:
        talk.prompt("next")
    request = compiled(talk, provider="scripted")
    assert [(each.arguments, each.signature) for each in blocks(request, CallBlock)] == [
        ({"key": "..."}, None),
        ({}, None),
    ]
    assert ("model", "hm" if active else "") in script(request)


JUNK: list[Any] = [5, "text", [1], {"signature": "no base64!"}, {"signature": 5}, {"wire_id": 5}, {"signature": None}]


@pytest.mark.parametrize("state", JUNK, ids=str)
def test_a_forged_state_of_a_call_counts_as_none(state: Any) -> None:
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    talk.result(talk.add(make.tool_call("a", {}, provider="scripted", model="m", replay_state=state)))
    assert [(each.signature, each.wire_id) for each in blocks(compiled(talk, provider="scripted"), CallBlock)] == [
        (None, None)
    ]
