"""What a stream means: every finish reason, every emptiness, and the order of parts."""

import math
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from kesoku.llm.gemini.ending import BLOCKS, FINISHES
from kesoku.llm.gemini.reply import ReplyBuilder
from kesoku.messages.turn import CallBlock, Delta, Finish, Reply, TextBlock, Usage


def fed(*chunks: dict[str, Any]) -> ReplyBuilder:
    builder = ReplyBuilder(provider="gemini", model="m", names={})
    for chunk in chunks:
        list(builder.feed(types.GenerateContentResponse.model_validate(chunk)))
    return builder


def read(*chunks: dict[str, Any], names: dict[str, str] | None = None) -> tuple[list[Delta], Reply]:
    builder = ReplyBuilder(provider="gemini", model="m", names=names or {})
    deltas = [d for chunk in chunks for d in builder.feed(types.GenerateContentResponse.model_validate(chunk))]
    return deltas, builder.reply()


def parts(*given: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(given)}, **candidate}]}


STOP = {"finish_reason": "STOP"}


def test_every_reason_of_the_sdk_has_its_words() -> None:
    known = {reason.value for reason in types.FinishReason} - {"FINISH_REASON_UNSPECIFIED"}
    assert known == FINISHES.keys()
    known = {reason.value for reason in types.BlockedReason} - {"BLOCKED_REASON_UNSPECIFIED"}
    assert known == BLOCKS.keys()


@given(st.text(), st.integers(1, 4))
def test_a_character_that_comes_in_halves_is_whole_again(text: str, units: int) -> None:
    data = text.encode("utf-16-le")
    torn = [data[at : at + 2 * units].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2 * units)]
    deltas, reply = read(*(parts({"text": piece}) for piece in torn), parts(**STOP))
    assert "".join(delta.text for delta in deltas) == reply.text == text


def test_half_a_character_is_none() -> None:
    _, reply = read(parts({"text": "a\ud83d"}), parts({"text": "b\ude42c\ud83d"}), parts(**STOP))
    assert reply.text == "abc"


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


def test_only_the_first_candidate_is_read() -> None:
    others = ({"content": {"parts": [{"text": "b"}]}, "index": 1}, {"content": {"parts": [{"text": "a"}]}, "index": 0})
    deltas, reply = read({"candidates": list(others[:1])}, {"candidates": list(others)}, parts({"text": "!"}, **STOP))
    assert ([delta.text for delta in deltas], reply.text) == (["a", "!"], "a!")


def test_arguments_that_no_json_holds_are_made_so() -> None:
    _, reply = read(parts({"function_call": {"name": "f", "args": {"x": math.nan, "y": [math.inf, "\ud800"]}}}, **STOP))
    assert reply.calls[0].arguments == {"x": "nan", "y": ["inf", "\ufffd"]}


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
    ("chunks", "missing"),
    [
        ([], "no chunk"),
        ([{}], "no candidate"),
        ([{"candidates": [{}]}], "no content"),
        ([{"candidates": [{"content": {}}]}], "no part"),
        ([parts({"text": "a"})], ""),
        ([parts({"text": "a", "thought": True}, finish_reason="FINISH_REASON_UNSPECIFIED")], ""),
        ([{"prompt_feedback": {"block_reason": "BLOCKED_REASON_UNSPECIFIED"}}], "no candidate"),
        ([parts({"function_call": {"name": "f"}}, continuation_token=b"more")], ""),
    ],
)
def test_a_stream_without_a_finish_reason_is_no_answer(chunks: list[dict[str, Any]], missing: str) -> None:
    builder = fed(*chunks)
    assert builder.missing == f"the stream ended without a finish reason{', ' if missing else ''}{missing}"
    assert not builder.finished


def test_complete_calls_are_an_answer_without_a_finish_reason() -> None:
    builder = fed(parts({"text": "I look."}, {"function_call": {"name": "f"}}))
    assert builder.missing is None
    reply = builder.reply()
    assert (reply.finish, reply.detail) == (
        Finish.STOP,
        "the stream ended without a finish reason, after complete calls",
    )
    assert [call.name for call in reply.calls] == ["f"]
    assert builder.broken("why").calls == ()


@pytest.mark.parametrize(
    ("chunks", "finish", "detail"),
    [
        ([{"candidates": [STOP]}], Finish.STOP, "no content"),
        ([{"candidates": [{"content": {"role": "model"}, **STOP}]}], Finish.STOP, "no part"),
        ([parts({"text": ""}, **STOP)], Finish.STOP, None),
        (
            [{"candidates": [{"finish_reason": "MALFORMED_FUNCTION_CALL", "finish_message": "bad\ncall"}]}],
            Finish.MALFORMED,
            "the model wrote a tool call that cannot be read (MALFORMED_FUNCTION_CALL: bad call)",
        ),
        (
            [parts({"text": "a"}), {"candidates": [{"finish_reason": "SAFETY"}]}],
            Finish.BLOCKED,
            "a safety filter stopped the answer (SAFETY)",
        ),
        (
            [parts({"text": "a"}), {"prompt_feedback": {"block_reason": "JAILBREAK", "block_reason_message": "no"}}],
            Finish.REFUSED,
            "the request was taken for an attempt to break the rules (JAILBREAK: no)",
        ),
    ],
)
def test_finish_and_detail(chunks: list[dict[str, Any]], finish: Finish, detail: str | None) -> None:
    _, reply = read(*chunks)
    assert (reply.finish, reply.detail) == (finish, detail)


@pytest.mark.parametrize("reason", sorted(FINISHES))
def test_every_finish_reason_is_told_in_words(reason: str) -> None:
    _, reply = read(parts({"text": "a"}, finish_reason=reason))
    ending = FINISHES[reason]
    assert (reply.finish, reply.cure) == (ending.finish, ending.cure)
    assert reply.detail == (f"{ending.words} ({reason})" if ending.words else None)


@pytest.mark.parametrize("reason", sorted(BLOCKS))
def test_every_block_reason_is_told_in_words(reason: str) -> None:
    _, reply = read({"prompt_feedback": {"block_reason": reason}})
    ending = BLOCKS[reason]
    assert (reply.finish, reply.detail) == (Finish.REFUSED, f"{ending.words} ({reason})")
    assert (reply.cure, reply.hint) == (ending.cure, "")


@pytest.mark.parametrize(
    ("reason", "names", "hint"),
    [
        # complaint 61
        ("TOO_MANY_TOOL_CALLS", {"f": "f"}, "called too many tools at once. Call fewer tools at once."),
        (
            "UNEXPECTED_TOOL_CALL",
            {"a_b": "a.b", "f": "f"},
            "called a tool that does not exist now. These tools exist: a.b, f.",
        ),
        ("UNEXPECTED_TOOL_CALL", {}, "called a tool, but there are no tools now. Answer in words."),
        ("MALFORMED_FUNCTION_CALL", {"f": "f"}, ""),
        ("MALFORMED_RESPONSE", {"f": "f"}, ""),
    ],
)
def test_the_model_can_be_told_what_went_wrong_with_its_call(reason: str, names: dict[str, str], hint: str) -> None:
    _, reply = read(parts(finish_reason=reason), names=names)
    assert reply.hint == (f"Your previous response {hint}" if hint else "")


@pytest.mark.parametrize(
    ("reason", "cure"),
    [
        # complaint 68
        ("SAFETY", "Please ask in other words."),
        ("RECITATION", "Ask for a summary, or for the model's own words."),
        ("SPII", "Please leave personal data out."),
        ("MODEL_ARMOR", "Please ask in other words, or change the rule of your own project."),
        ("IMAGE_SAFETY", "Please use another picture, or ask in other words."),
        ("PUP_LIMITED_DISABLED", "Please ask the provider about the account."),
        ("LANGUAGE", "Please ask in another language, or use another model."),
        ("MALFORMED_RESPONSE", "Please try again, or use another model."),
        ("TOO_MANY_TOOL_CALLS", "Please ask for less at once, or use another model."),
        ("OTHER", ""),
    ],
)
def test_people_can_be_told_what_to_do(reason: str, cure: str) -> None:
    _, reply = read(parts(finish_reason=reason))
    assert reply.cure == cure


@pytest.mark.filterwarnings("ignore:BRAND_NEW is not a valid")
def test_new_reasons_are_named() -> None:
    _, reply = read(parts({"text": "a"}, finish_reason="BRAND_NEW"))
    assert (reply.finish, reply.detail) == (Finish.OTHER, "the provider ended the answer (BRAND_NEW)")
    _, reply = read({"prompt_feedback": {"block_reason": "BRAND_NEW"}})
    assert (reply.finish, reply.detail) == (
        Finish.REFUSED,
        "the provider stopped the request (BRAND_NEW)",
    )


def test_the_last_usage_of_a_request_counts_and_requests_add_up() -> None:
    last = {
        "prompt_token_count": 10,
        "tool_use_prompt_token_count": 2,
        "cached_content_token_count": 4,
        "thoughts_token_count": 3,
        "candidates_token_count": 5,
        "total_token_count": 20,
    }
    builder = fed(
        {**parts({"text": "a"}), "usage_metadata": {"prompt_token_count": 10}},
        {**parts({"text": "b"}, **STOP), "usage_metadata": last},
        parts(),
    )
    assert builder.reply().usage == Usage(prompt=12, cached=4, thoughts=3, answer=5)
    assert builder.reply().usage.total == 20
    builder.begin()
    list(builder.feed(types.GenerateContentResponse.model_validate({"usage_metadata": last})))
    assert builder.reply().usage == Usage(prompt=24, cached=8, thoughts=6, answer=10, last=12)


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ({"inline_data": {"mime_type": "image/png", "data": b"x"}}, "inline data (image/png)"),
        ({"file_data": {"mime_type": "video/mp4", "file_uri": "u"}}, "file data (video/mp4)"),
        ({"executable_code": {"code": "1", "language": "PYTHON"}, "thought_signature": b"x"}, "executable code"),
        ({"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}}, "code execution result"),
        ({"function_response": {"name": "f", "response": {}}}, "function response"),
        ({}, "a part of an unknown kind"),
    ],
)
def test_what_cannot_be_carried_is_named(part: dict[str, Any], named: str) -> None:
    _, reply = read(parts({"text": "a"}, part, part, **STOP))
    assert (reply.blocks, reply.detail) == ((TextBlock(text="a"),), f"left out: {named}")
    _, reply = read(parts(part, finish_reason="MAX_TOKENS"))
    assert reply.detail == f"the output limit was reached (MAX_TOKENS); left out: {named}"


def test_a_lone_signature_and_an_empty_thought_are_no_unknown_kind() -> None:
    _, reply = read(parts({"thought_signature": b"x"}, {"thought": True}, **STOP))
    assert (reply.blocks, reply.detail) == ((TextBlock(text="", signature=b"x"),), None)


TEXT = st.builds(
    lambda text, thought, signed: {"text": text, "thought": thought, **({"thought_signature": b"s"} if signed else {})},
    st.text(max_size=4),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(st.tuples(TEXT, st.sampled_from([b"", b"t1", b"t2"])), max_size=8))
def test_a_rewind_leaves_what_the_last_token_covers(stream: list[tuple[dict[str, Any], bytes]]) -> None:
    builder = fed(*(parts(part, **({"continuation_token": token} if token else {})) for part, token in stream))
    covered = max((place for place, (_, token) in enumerate(stream, 1) if token), default=0)
    expected = fed(*(parts(part) for part, _ in stream[:covered]))
    seen = list(builder.deltas())
    assert builder.rewind() == (seen != list(expected.deltas()))
    assert builder.reply().blocks == expected.reply().blocks
    assert not builder.rewind()
