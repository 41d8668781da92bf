"""Requests in Gemini's words: pure functions over plain data, and the loopback's grammar as the judge."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.llm.gemini.profile import Profile, profile_of
from kesoku.llm.gemini.wire import GO_ON, STAND_IN, clean, own_names, to_config, to_contents, wire_name
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


def contents_of(*turns: Turn) -> list[Any]:
    return to_contents(turns, NEW, FILES)


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
    assert to_contents([model(*blocks, call(number=2))], NEW, FILES)[0]["parts"] == [
        {"text": "hm", "thought": True},
        {"text": "a"},
        {"text": "", "thought_signature": b"\xff\x00"},
        {"function_call": {"name": "f", "args": {"n": 1}, "id": "w"}, "thought_signature": b"\xfb"},
        {"function_call": {"name": "f", "args": {"n": 2}}},
    ]


def test_foreign_calls_get_the_stand_in_on_the_first_call_only() -> None:
    turns = [user(text("go")), model(call(), call(number=2)), user(result(), result(number=2))]
    parts = to_contents(turns, NEW, FILES)[1]["parts"]
    assert [part.get("thought_signature") for part in parts] == [STAND_IN, None]
    assert all("thought_signature" not in part for part in to_contents(turns, OLD, FILES)[1]["parts"])


def test_a_real_signature_wins_over_the_stand_in() -> None:
    parts = to_contents([model(call(signature=b"s"), call(number=2))], NEW, FILES)[0]["parts"]
    assert [part.get("thought_signature") for part in parts] == [b"s", None]


def test_the_first_call_is_signed_when_what_was_signed_is_a_later_one() -> None:
    parts = to_contents([model(text("look"), call(), call(number=2, signature=b"s"))], NEW, FILES)[0]["parts"]
    assert [part.get("thought_signature") for part in parts] == [None, STAND_IN, b"s"]


@pytest.mark.parametrize("turns", [[], [user(text("go")), model(text("half a sen"))]], ids=["nothing", "the model"])
def test_the_last_words_are_the_users(turns: list[Turn]) -> None:
    contents = to_contents(turns, NEW, FILES)
    assert len(contents) == len(turns) + 1
    assert contents[-1] == {"role": "user", "parts": [{"text": GO_ON}]}


def test_media_of_results_stand_before_what_is_said_later() -> None:
    returned = replace(result(), media=(PICTURE,))
    before, after = (to_contents([user(returned, *more)], OLD, FILES)[0]["parts"] for more in ((), (text("note"),)))
    assert after == [*before, {"text": "note"}]


def test_results_come_first_and_say_output_or_error() -> None:
    turn = user(text("note"), result(wire_id="w"), result(number=2, output="half", error="broke"))
    parts = to_contents([turn], NEW, FILES)[0]["parts"]
    assert parts == [
        {"function_response": {"name": "f", "response": {"output": "ok"}, "id": "w"}},
        {"function_response": {"name": "f", "response": {"error": "broke", "output": "half"}}},
        {"text": "note"},
    ]


def test_empty_unsigned_text_and_empty_turns_are_left_out() -> None:
    assert to_contents([user(text("")), user(text("a"), text(""))], NEW, FILES) == [
        {"role": "user", "parts": [{"text": "a"}]}
    ]


PICTURE, PAPER, NOTES = (MediaBlock(path=f"/{name}", mime_type="", name=name) for name in ("p`.png", "d.pdf", "n.txt"))
INLINE = {"inline_data": {"mime_type": "image/png", "data": b"png"}}
STORED = {"file_data": {"file_uri": "https://files/1", "mime_type": "application/pdf"}}
FILES = {PICTURE: ({"text": "small"}, INLINE), PAPER: (STORED,), NOTES: ({"text": "[File n.txt]\nhi"},)}


def test_files_become_what_was_prepared() -> None:
    assert contents_of(user(text("look"), PICTURE, PAPER, NOTES))[0]["parts"] == [
        {"text": "look"},
        {"text": "small"},
        INLINE,
        {"text": "[File d.pdf]"},
        STORED,
        {"text": "[File n.txt]\nhi"},
    ]


@pytest.mark.parametrize(("profile", "within"), [(NEW, True), (OLD, False)], ids=["new", "old"])
def test_files_of_results_are_in_them_or_beside_them(profile: Profile, within: bool) -> None:
    turn = user(text("note"), result(media=(PICTURE, NOTES)), result("g", 2, media=(PAPER,)))
    first, second, *rest = to_contents([turn], profile, FILES)[0]["parts"]
    assert first["function_response"]["response"] == {"output": "ok", "notes": ["small", "[File n.txt]\nhi"]}
    assert first["function_response"].get("parts") == ([INLINE] if within else None)
    assert "parts" not in second["function_response"]
    beside = [] if within else [{"text": "[File p'.png from the result of f]"}, INLINE]
    assert rest == [*beside, {"text": "[File d.pdf from the result of g]"}, STORED, {"text": "note"}]


AGAIN = [{"text": f"[File {name} again, the same as before]"} for name in ("p'.png", "n.txt")]


def test_a_file_is_sent_once_and_pointed_at_later() -> None:
    before = [user(PICTURE, NOTES), model(text("ok"))]
    contents = contents_of(*before, user(PICTURE, NOTES))
    assert contents[:2] == contents_of(*before)[:2]
    assert contents[2]["parts"] == AGAIN


@pytest.mark.parametrize("profile", [NEW, OLD], ids=["new", "old"])
def test_a_file_is_sent_once_even_within_a_turn(profile: Profile) -> None:
    turn = user(PICTURE, NOTES, result(media=(PICTURE,)), result("g", 2, media=(PICTURE, PAPER, PAPER)), PAPER)
    ((first, second, *rest),) = (each["parts"] for each in to_contents([turn], profile, FILES))
    beside = [part for part in (first, second) for part in part["function_response"].get("parts", ())] + rest
    assert [beside.count(part) for part in (INLINE, STORED)] == [1, 1]
    assert second["function_response"]["response"]["notes"] == [
        "[File p'.png again, the same as before]",
        "[File d.pdf]",
        "[File d.pdf again, the same as before]",
    ]
    assert rest[-3:] == [AGAIN[0], {"text": "[File n.txt]\nhi"}, {"text": "[File d.pdf again, the same as before]"}]


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
    ("name", "configured", "option", "sent"),
    [
        ("gemini-3.5-flash", None, None, None),
        ("gemini-3.5-flash", 900, None, 900),
        ("gemini-3.5-flash", None, 300, 300),
        ("gemini-3.5-flash", 900, 300, 300),
        ("gemini-3.5-flash", 900, 1_200, 900),
        ("gemini-2.0-flash", None, 60_000, 8_192),
    ],
)
def test_an_option_keeps_a_reply_short_and_never_lengthens_it(
    name: str, configured: int | None, option: int | None, sent: int | None
) -> None:
    request = CompiledRequest(system="", turns=(), options={"max_output_tokens": option})
    config = to_config(request, profile_of(name), {"max_output_tokens": configured})
    assert config.get("max_output_tokens") == sent


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
    contents = to_contents(turns, NEW, FILES)
    refusal = check({"contents": contents})
    assert refusal is None, refusal.message
    for end in range(1, len(turns), 2):
        assert contents[:end] == to_contents(turns[:end], NEW, FILES)
