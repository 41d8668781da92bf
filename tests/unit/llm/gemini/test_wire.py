"""Requests in Gemini's words: pure functions over plain data, and the loopback's grammar as the judge."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.wire import INLINE_LIMIT, STAND_IN, clean, own_names, to_config, to_contents, wire_name
from kesoku.messages.turn import (
    Block,
    CallBlock,
    CompiledRequest,
    MediaBlock,
    ResultBlock,
    TextBlock,
    ToolSpec,
    Turn,
)
from kesoku.testing.gemini.grammar import check, sign

NEW = profile_of("gemini-3.5-flash")
OLD = profile_of("gemini-2.5-flash")
anything: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner) | st.tuples(inner),
    max_leaves=20,
)


def user(*blocks: Block) -> Turn:
    return Turn(role="user", blocks=blocks)


def model(*blocks: Block) -> Turn:
    return Turn(role="model", blocks=blocks)


def text(value: str, **more: Any) -> TextBlock:
    return TextBlock(text=value, **more)


def call(name: str = "f", number: int = 1, **more: Any) -> CallBlock:
    return CallBlock(call_id=f"c{number}", name=name, arguments={"n": number}, **more)


def result(name: str = "f", number: int = 1, output: Any = "ok", **more: Any) -> ResultBlock:
    return ResultBlock(call_id=f"c{number}", name=name, output=output, **more)


@given(anything)
def test_clean_values_are_json_without_nul_or_lone_surrogates(value: Any) -> None:
    said = json.dumps(clean(value), allow_nan=False, ensure_ascii=False)
    said.encode()
    assert "\\u0000" not in said
    assert clean(clean(value)) == clean(value)


@given(st.text())
def test_valid_text_without_nul_is_left_as_it_is(value: str) -> None:
    value = value.replace("\0", "")
    assert clean(value) == value


def test_a_surrogate_pair_becomes_its_character() -> None:
    assert clean("\ud83d\ude42") == "🙂"


@given(st.lists(st.text(st.characters(codec=None), min_size=1), unique=True))
def test_names_within_the_rule_and_back(names: list[str]) -> None:
    tools = [ToolSpec(name=name, description="", parameters={}) for name in names]
    back = own_names(tools)
    assert sorted(back.values()) == sorted(names)
    assert all(len(name) <= 64 and name.isascii() for name in back)


def test_a_legal_name_is_left_as_it_is() -> None:
    assert wire_name("run_shell_command") == "run_shell_command"
    assert wire_name("9lives") != "9lives"


def test_signatures_stay_on_their_parts() -> None:
    blocks = (
        text("hm", thought=True),
        text("a"),
        text("", signature=b"\xff\x00"),
        call(signature=b"\xfb", wire_id="w"),
    )
    ((_, said),) = [content.values() for content in to_contents([model(*blocks, call(number=2))], NEW)]
    assert said == [
        {"text": "hm", "thought": True},
        {"text": "a"},
        {"text": "", "thought_signature": b"\xff\x00"},
        {"function_call": {"name": "f", "args": {"n": 1}, "id": "w"}, "thought_signature": b"\xfb"},
        {"function_call": {"name": "f", "args": {"n": 2}}},
    ]


def test_foreign_calls_get_the_stand_in_on_the_first_call_only() -> None:
    turns = [user(text("go")), model(call(), call(number=2)), user(result(), result(number=2))]
    parts = to_contents(turns, NEW)[1]["parts"]
    assert [part.get("thought_signature") for part in parts] == [STAND_IN, None]
    assert all("thought_signature" not in part for part in to_contents(turns, OLD)[1]["parts"])


def test_a_real_signature_wins_over_the_stand_in() -> None:
    parts = to_contents([model(call(), call(number=2, signature=b"s"))], NEW)[0]["parts"]
    assert [part.get("thought_signature") for part in parts] == [None, b"s"]


def test_results_come_first_and_say_output_or_error() -> None:
    turn = user(text("note"), result(wire_id="w"), result(number=2, output="half", error="broke"))
    parts = to_contents([turn], NEW)[0]["parts"]
    assert parts == [
        {"function_response": {"name": "f", "response": {"output": "ok"}, "id": "w"}},
        {"function_response": {"name": "f", "response": {"error": "broke", "output": "half"}}},
        {"text": "note"},
    ]


def test_empty_unsigned_text_and_empty_turns_are_left_out() -> None:
    assert to_contents([user(text("")), user(text("a"), text(""))], NEW) == [{"role": "user", "parts": [{"text": "a"}]}]


def test_media_goes_inline_or_is_named(tmp_path: Path) -> None:
    picture, notes, huge = tmp_path / "p.png", tmp_path / "n.txt", tmp_path / "h.png"
    picture.write_bytes(b"\x89PNG")
    notes.write_text("hé")
    with huge.open("wb") as file:
        file.truncate(INLINE_LIMIT)

    def media(path: Path, mime_type: str) -> MediaBlock:
        return MediaBlock(path=str(path), mime_type=mime_type, name=path.name)

    blocks = (
        media(picture, "image/png"),
        media(notes, "text/plain"),
        media(huge, "image/png"),
        media(tmp_path / "gone.png", "image/png"),
        media(tmp_path / "a.gif", "image/gif"),
        media(picture, "image/png"),
    )
    first, second, third, fourth, fifth, last = to_contents([user(*blocks)], NEW)[0]["parts"]
    assert first == last == {"inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}}
    assert second == {"text": "[File n.txt]\nhé"}
    assert "too large" in third["text"]
    assert "cannot be read" in fourth["text"]
    assert "a.gif (image/gif) is not shown: this model does not take this type" in fifth["text"]


def test_the_inline_limit_counts_all_media_of_a_request(tmp_path: Path) -> None:
    half = tmp_path / "h.png"
    with half.open("wb") as file:
        file.truncate(INLINE_LIMIT // 2 + 1)
    block = MediaBlock(path=str(half), mime_type="image/png", name="h.png")
    turns = [user(block), model(text("ok")), user(block)]
    sent = [part for content in to_contents(turns, NEW) for part in content["parts"] if "inline_data" in part]
    assert len(sent) == 1


def test_media_of_results(tmp_path: Path) -> None:
    picture = tmp_path / "p.png"
    picture.write_bytes(b"png")
    block = result(media=(MediaBlock(path=str(picture), mime_type="image/png", name="p.png"),))
    inline = {"inline_data": {"mime_type": "image/png", "data": b"png"}}
    (part,) = to_contents([user(block)], NEW)[0]["parts"]
    assert part["function_response"]["parts"] == [inline]
    assert to_contents([user(block)], OLD)[0]["parts"][1:] == [inline]


def test_a_request_is_written_as_the_config_of_the_sdk() -> None:
    tools = (ToolSpec(name="a.b", description="d", parameters={"type": "object"}),)
    request = CompiledRequest(
        system="S\0", turns=(), tools=tools, response_format={"type": "object"}, options={"temperature": 0.5, "x": 1}
    )
    config = to_config(request, NEW, {"thinking": "low", "temperature": 1.0, "max_output_tokens": None})
    assert config == {
        "automatic_function_calling": {"disable": True},
        "system_instruction": "S\ufffd",
        "tools": [
            {
                "function_declarations": [
                    {"name": wire_name("a.b"), "description": "d", "parameters_json_schema": {"type": "object"}}
                ]
            }
        ],
        "response_mime_type": "application/json",
        "response_json_schema": {"type": "object"},
        "thinking_config": {"include_thoughts": True, "thinking_level": "low"},
        "temperature": 0.5,
    }


@pytest.mark.parametrize(
    ("name", "thinking", "sent"),
    [
        ("gemini-3.5-flash", "auto", {"include_thoughts": True}),
        ("models/gemini-3.5-flash", "off", {"include_thoughts": True, "thinking_level": "minimal"}),
        ("gemini-3.1-pro-preview", "medium", {"include_thoughts": True, "thinking_level": "medium"}),
        ("gemini-3-pro-preview", "medium", {"include_thoughts": True, "thinking_level": "high"}),
        ("gemini-2.5-flash", "off", {"include_thoughts": True, "thinking_budget": 0}),
        ("gemini-2.5-pro", "off", {"include_thoughts": True, "thinking_budget": 128}),
        ("gemini-2.5-pro", "auto", {"include_thoughts": True, "thinking_budget": -1}),
        ("gemini-2.0-flash", "high", None),
        ("gemini-flash-latest", "high", {"include_thoughts": True, "thinking_level": "high"}),
        ("gemini-4-argon", "low", {"include_thoughts": True, "thinking_level": "low"}),
    ],
)
def test_thinking_by_the_facts_table(name: str, thinking: Any, sent: Any) -> None:
    assert profile_of(name).thinking(thinking) == sent


@st.composite
def histories(draw: st.DrawFn) -> list[Turn]:
    """Histories as the compiler makes them: a user first, each step with its results, notes after results."""
    words = st.text(st.characters(codec=None), max_size=5)
    turns = [user(text(draw(words) + "go"))]
    for step in range(draw(st.integers(0, 4))):
        blocks = [text(draw(words), thought=draw(st.booleans())) for _ in range(draw(st.integers(0, 2)))]
        if draw(st.booleans()):
            blocks.append(text("", signature=sign({"text": ""})))
        ids = draw(st.booleans())
        count = draw(st.integers(1, 3))
        calls = [call(draw(words) + "f", 10 * step + n, wire_id=f"w{n}" if ids else None) for n in range(count)]
        answers = [result(c.name, output=draw(anything), wire_id=c.wire_id) for c in calls]
        notes = [text(draw(words))] if draw(st.booleans()) else []
        turns += [model(*blocks, *_signed(calls, draw(st.booleans()))), user(*answers, *notes)]
    return turns


def _signed(calls: list[CallBlock], own: bool) -> list[CallBlock]:
    if not own:
        return calls
    first = calls[0]
    named = {"function_call": {"name": wire_name(first.name), "args": first.arguments}}
    return [call(first.name, first.arguments["n"], signature=sign(named), wire_id=first.wire_id), *calls[1:]]


@given(histories())
def test_any_compiled_history_is_accepted_and_grows_by_appending(turns: list[Turn]) -> None:
    contents = to_contents(turns, NEW)
    refusal = check({"contents": contents})
    assert refusal is None, refusal.message
    for end in range(1, len(turns), 2):
        assert contents[:end] == to_contents(turns[:end], NEW)
