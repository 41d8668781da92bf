"""What a stream means: every finish reason, every emptiness, and the order of parts."""

from typing import Any

import pytest
from google.genai import types

from kesoku.llm.gemini.reply import FINISHES, ReplyBuilder
from kesoku.messages.turn import CallBlock, Delta, Finish, Reply, TextBlock, Usage


def read(*chunks: dict[str, Any], names: dict[str, str] | None = None) -> tuple[list[Delta], Reply]:
    builder = ReplyBuilder(provider="gemini", model="m", names=names or {})
    deltas = [d for chunk in chunks for d in builder.feed(types.GenerateContentResponse.model_validate(chunk))]
    return deltas, builder.reply()


def parts(*given: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(given)}, **candidate}]}


STOP = {"finish_reason": "STOP"}


def test_every_finish_reason_of_the_sdk_is_mapped() -> None:
    known = {reason.value for reason in types.FinishReason} - {"FINISH_REASON_UNSPECIFIED"}
    assert known <= FINISHES.keys(), known - FINISHES.keys()


def test_parts_keep_their_order_and_signed_ones_stay_alone() -> None:
    deltas, reply = read(
        parts({"text": "h", "thought": True}),
        parts({"text": "m", "thought": True}, {"text": "He"}),
        parts({"text": "llo"}),
        parts({"text": "!", "thought_signature": b"\x01"}),
        parts({"text": "?"}),
        parts({"text": "", "thought_signature": b"\x02"}, **STOP),
    )
    assert reply.blocks == (
        TextBlock(text="hm", thought=True),
        TextBlock(text="Hello"),
        TextBlock(text="!", signature=b"\x01"),
        TextBlock(text="?"),
        TextBlock(text="", signature=b"\x02"),
    )
    assert [delta.text for delta in deltas] == ["h", "m", "He", "llo", "!", "?"]
    assert (reply.finish, reply.detail) == (Finish.STOP, None)


def test_calls_keep_signature_wire_id_and_our_name() -> None:
    _, reply = read(
        parts(
            {"function_call": {"name": "a_b", "args": {"n": 1, "x": None}, "id": "w1"}, "thought_signature": b"s"},
            {"function_call": {"name": "other"}},
            **STOP,
        ),
        names={"a_b": "a.b"},
    )
    first, second = reply.calls
    assert first == CallBlock(
        call_id=first.call_id, name="a.b", arguments={"n": 1, "x": None}, signature=b"s", wire_id="w1"
    )
    assert (second.name, second.arguments, second.wire_id, second.signature) == ("other", {}, None, None)
    assert first.call_id != second.call_id


@pytest.mark.parametrize(
    ("chunks", "finish", "detail"),
    [
        ([{}], Finish.CUT, "the stream ended without a finish reason, no candidate"),
        ([{"candidates": [{}]}], Finish.CUT, "the stream ended without a finish reason, no content"),
        ([{"candidates": [{"content": {}}]}], Finish.CUT, "the stream ended without a finish reason, no part"),
        ([parts({"text": "a"})], Finish.CUT, "the stream ended without a finish reason"),
        ([{"candidates": [STOP]}], Finish.STOP, "no content"),
        ([{"candidates": [{"content": {"role": "model"}, **STOP}]}], Finish.STOP, "no part"),
        ([parts({"text": "a"}, finish_reason="MAX_TOKENS")], Finish.CUT, "MAX_TOKENS"),
        (
            [{"candidates": [{"finish_reason": "MALFORMED_FUNCTION_CALL", "finish_message": "bad call"}]}],
            Finish.MALFORMED,
            "MALFORMED_FUNCTION_CALL: bad call",
        ),
        ([parts({"text": "a"}), {"candidates": [{"finish_reason": "SAFETY"}]}], Finish.BLOCKED, "SAFETY"),
        ([{"prompt_feedback": {"block_reason": "JAILBREAK"}}], Finish.BLOCKED, "prompt blocked: JAILBREAK"),
        ([parts({"text": "a"}, finish_reason="LANGUAGE")], Finish.OTHER, "LANGUAGE"),
    ],
)
def test_finish_and_detail(chunks: list[dict[str, Any]], finish: Finish, detail: str | None) -> None:
    _, reply = read(*chunks)
    assert (reply.finish, reply.detail) == (finish, detail)


@pytest.mark.filterwarnings("ignore:BRAND_NEW is not a valid FinishReason")
def test_an_unknown_finish_reason_is_named() -> None:
    _, reply = read(parts({"text": "a"}, finish_reason="BRAND_NEW"))
    assert (reply.finish, reply.detail) == (Finish.OTHER, "BRAND_NEW")


def test_the_last_usage_counts() -> None:
    _, reply = read(
        {**parts({"text": "a"}), "usage_metadata": {"prompt_token_count": 10}},
        {
            **parts({"text": "b"}, **STOP),
            "usage_metadata": {
                "prompt_token_count": 10,
                "tool_use_prompt_token_count": 2,
                "cached_content_token_count": 4,
                "thoughts_token_count": 3,
                "candidates_token_count": 5,
                "total_token_count": 20,
            },
        },
        parts(),
    )
    assert reply.usage == Usage(prompt=12, cached=4, thoughts=3, answer=5)
    assert reply.usage.total == 20


def test_unknown_parts_are_passed_over_but_a_signature_is_kept() -> None:
    _, reply = read(
        parts({"executable_code": {"code": "1", "language": "PYTHON"}}, {"thought_signature": b"x"}, **STOP)
    )
    assert reply.blocks == (TextBlock(text="", signature=b"x"),)
