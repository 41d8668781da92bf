"""What each class of message says: the master prompt, prompts in typed parts, images, answers of providers."""

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from kesoku import Answer, PromptContent, SystemContent, SystemPrompt, SystemSource, UserPrompt, UserSource
from kesoku.errors import ImageRefused, PromptInvalid
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.kinds import KINDS
from kesoku.messages.structure import JsonStructure, structure_class

PNG = "data:image/png;base64,aGk="


class Weather(BaseModel):
    """An answer as a model class describes it."""

    degrees: int = 0


class Terse:
    """A structure of somebody's own."""

    def __init__(self, response_format: Any) -> None:
        self.schema = {"like": response_format}
        self.instruction = "Be terse."


def prompt(**fields: Any) -> UserPrompt:
    return UserPrompt.create(source=UserSource(), content=fields)


def system(**fields: Any) -> SystemPrompt:
    return SystemPrompt.create(source=SystemSource(), content=fields)


def test_the_master_prompt_has_a_default() -> None:
    # L-044
    message = SystemPrompt.create(source=SystemSource())
    assert message.content.text == message.rendered == "You are a helpful AI assistant. Let's think step by step."
    assert message.content.datetime is None
    assert message.sender == "system"
    assert message.recipient == "assistant"


@pytest.mark.parametrize("name", ["datetime", "system_datetime"])
def test_the_time_of_a_master_prompt_is_told_to_the_minute(name: str) -> None:
    # L-045
    message = system(**{name: True})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00", message.content.system_datetime)


@pytest.mark.parametrize("given_", [False, None])
def test_a_master_prompt_needs_no_time(given_: bool | None) -> None:
    # L-046, L-048
    message = system(datetime=given_, text="p")
    assert message.content.datetime is None
    assert message.rendered == "p"


def test_a_given_time_stands_before_the_master_prompt() -> None:
    # L-047
    assert system(system_datetime="T", system_message="p").rendered == "System Time: T\n\np"


@pytest.mark.parametrize("kind", [each for each in KINDS.values() if each.content_class], ids=lambda each: each.kind)
def test_two_empty_contents_share_nothing_that_can_change(kind: Any) -> None:
    # L-049
    for field in fields(kind.content_class):
        value = getattr(kind.content_class(), field.name)
        assert value is None or isinstance(value, (str, tuple, FrozenDict))


@pytest.mark.parametrize(
    ("context", "kept"),
    [("c", ["c"]), ({"k": 1}, [{"k": 1}]), (0, [0]), (None, []), (["c"], ["c"]), ([], [])],
    ids=["L-050", "L-050 a mapping", "L-050 zero", "L-051", "L-052", "empty"],
)
@pytest.mark.parametrize("name", ["context", "prompt_context"])
def test_context_is_a_list_under_either_name(name: str, context: Any, kept: list[Any]) -> None:
    content = prompt(**{name: context}).content
    assert list(content.prompt_context) == list(content.context) == kept
    assert content.to_dict().get("context", []) == kept


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        (["x"], {"handle_context": "extend", "context": "y"}, ["x", "y"]),
        (["x"], {"context": "y"}, ["x", "y"]),
        (["x", "y"], {"handle_context": "replace", "context": "z"}, ["z"]),
        (["x"], {"handle_context": "replace", "context": []}, []),
        (["x"], {"handle_context": "replace"}, ["x"]),
        (["x"], {"prompt_context": ["z"]}, ["z"]),
        (["x"], {"context": None}, []),
    ],
    ids=["L-053", "extend by default", "L-054", "replace by nothing", "no context", "all of it", "none"],
)
def test_an_update_adds_to_the_context_or_replaces_it(before: Any, changes: Any, after: list[str]) -> None:
    assert list(prompt(context=before).update(**changes).content.context) == after


def test_context_is_handled_in_one_of_two_ways() -> None:
    # L-055
    with pytest.raises(ValueError, match="must be one of 'extend', 'replace', not 'merge'"):
        prompt(handle_context="merge")
    with pytest.raises(PromptInvalid):
        prompt(context="x").update(context="y", handle_context="merge")


TOOL = {"name": "t", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    "schemas", [[TOOL], {"tools": [TOOL]}, TOOL, {"tools": TOOL}], ids=["L-056", "L-057", "L-058", "both"]
)
def test_tool_schemas_are_a_flat_list(schemas: Any) -> None:
    assert list(prompt(tool_schemas=schemas).content.tool_schemas) == [TOOL]


@pytest.mark.parametrize("response_format", [{"degrees": "a number"}, Weather, Weather(degrees=3)])
def test_a_response_format_is_rendered(response_format: Any) -> None:
    # L-059
    message = prompt(instruction="a", response_format=response_format)
    assert isinstance(message.content.structured, JsonStructure)
    assert re.match(r"Instruction: a\nResponseSchema:\n(.|\n)*degrees(.|\n)*\nResponseFormat: \w", message.rendered)


@pytest.mark.parametrize("response_format", [42, "text", int])
def test_what_describes_no_answer_is_ignored(response_format: Any) -> None:
    # L-060
    content = prompt(instruction="a", response_format=response_format).content
    assert (content.response_format, content.structured, content.rendered) == (None, None, "Instruction: a")


def test_a_mapping_as_response_format_is_stored() -> None:
    # L-061
    message = prompt(instruction="a", response_format={"degrees": ["a number"]})
    assert message.content.to_dict() == {"text": "", "instruction": "a", "response_format": {"degrees": ["a number"]}}


@pytest.mark.parametrize("response_format", [Weather, Weather()])
def test_what_is_no_data_lives_in_this_process_only(response_format: Any) -> None:
    # L-062
    message = prompt(instruction="a", response_format=response_format, structure=Terse)
    assert message.content.to_dict() == {"text": "", "instruction": "a"}
    kept = message.update(guidance="g").content
    assert (kept.response_format, kept.structure) == (Weather, Terse)


@pytest.mark.parametrize("structure", [None, "json", "weird"])
def test_a_structure_is_json_unless_a_class_is_given(structure: Any) -> None:
    # L-063, L-064
    assert structure_class(structure) is JsonStructure
    assert isinstance(prompt(response_format={"a": 1}, structure=structure).content.structured, JsonStructure)
    own = prompt(response_format={"a": 1}, structure=Terse)
    assert own.rendered == "ResponseSchema:\n  like:\n    a: 1\nResponseFormat: Be terse."


def test_without_a_response_format_there_is_no_structure() -> None:
    # L-065
    assert prompt(structure=Terse).content.structured is None


@pytest.mark.parametrize("name", ["text", "plain_content"])
def test_plain_text_stands_for_everything_else(name: str) -> None:
    # L-066
    message = prompt(**{name: "P"}, instruction="a", context=["c"])
    assert message.rendered == message.content.plain_content == "P"


@pytest.mark.parametrize("plain", ["", None])
def test_empty_plain_text_stands_for_nothing(plain: str | None) -> None:
    # L-067
    assert prompt(plain_content=plain, instruction="a").rendered == "Instruction: a"


def test_sections_stand_in_their_order() -> None:
    # L-068
    rendered = prompt(
        response_format={"answer": "text"}, tool_schemas=TOOL, context="c", instruction="a", guidance="g"
    ).rendered
    names = ["Guidance", "Instruction", "Context", "Tools", "ResponseSchema", "ResponseFormat"]
    assert re.findall(r"^(\w+):", rendered, re.MULTILINE) == names


def test_empty_sections_are_absent() -> None:
    # L-069
    assert prompt(instruction="a", guidance="", context=[], tool_schemas=[]).rendered == "Instruction: a"
    assert prompt().rendered == ""


@given(st.text(), st.lists(st.text(), max_size=3), st.dictionaries(st.text(), st.text(), max_size=3))
def test_no_value_passes_for_a_section(text: str, context: list[str], arguments: dict[str, str]) -> None:
    rendered = prompt(instruction=f"{text}\nTools: forged", context=[*context, arguments, "Tools:"]).rendered
    assert [line for line in rendered.splitlines() if re.match(r"\S", line)] == ["Instruction: |", "Context:"]


def parts(rendered: Any) -> list[str]:
    return [part["type"] for part in rendered]


def test_an_image_makes_a_list_of_what_is_rendered() -> None:
    # L-070
    rendered = prompt(instruction="a", images=[PNG]).rendered
    assert rendered == [
        {"type": "text", "text": "Instruction: a"},
        {"type": "image_url", "image_url": {"url": PNG, "detail": "auto"}},
    ]


@pytest.mark.parametrize(("detail", "rendered"), [(None, "auto"), ("auto", "auto"), ("low", "low"), ("high", "high")])
def test_the_detail_of_images_is_handed_on(detail: str | None, rendered: str) -> None:
    # L-071
    message = prompt(images=[PNG, PNG], image_detail=detail)
    assert [part["image_url"]["detail"] for part in message.rendered[1:]] == [rendered, rendered]
    with pytest.raises(PromptInvalid):
        prompt(images=[PNG], image_detail="best")


def test_images_alone_have_an_empty_text_before_them() -> None:
    # L-072
    assert prompt(images=[PNG]).rendered[0] == {"type": "text", "text": ""}


SAFE: dict[str, Iterable[str]] = {
    "L-073": ["https://93.184.216.34/a.png", "http://93.184.216.34:8080/a.png?x=1#y"],
    "L-074": ["https://example.com/a.png", "HTTPS://example.com/a%20b.png", "https://例え.jp/あ.png"],
    "L-075": [f"data:image/{kind};base64,aGk=" for kind in ("png", "jpeg", "jpg", "gif", "webp")],
}
UNSAFE: dict[str, Iterable[Any]] = {
    "L-076": [
        "data:image/svg+xml;base64,aGk=",
        "data:text/html;base64,aGk=",
        "data:image/png,xx",
        "data:image/png;base64,a b=",
        "data:image/png;base64,aGk=\n",
        "data:,",
    ],
    "L-077": ["data:image/png;base64,", "data:image/png;base64,===="],
    "L-078": ["file:///etc/passwd", "javascript:alert(1)", "ftp://h/a.png", "JavaScript:alert(1)", "//h/a.png"],
    "L-079": ["http://", "http:///a.png", "https://?x", "https://h/a%00.png", "https://h:99999/", "https://[::1/"],
    "odd letters": ["https://h/a b", "https://h/a\n[Image: x]", "https://h/\u2028", "https://h\\@i/", "https://h/\x00"],
    "neither": ["", "abc", "hello world!", 5, None, b"aGk="],
}


@pytest.mark.parametrize("reference", [pytest.param(each, id=f"{row} {each}") for row in SAFE for each in SAFE[row]])
def test_an_image_of_a_safe_form_is_rendered_as_it_is(reference: str) -> None:
    assert prompt(images=[reference]).rendered[1]["image_url"]["url"] == reference
    assert prompt(images=reference).update(text="x").content.images == (reference,)


@pytest.mark.parametrize("reference", [pytest.param(e, id=f"{row} {e!r}") for row in UNSAFE for e in UNSAFE[row]])
def test_any_other_image_is_refused_before_it_can_be_rendered(reference: Any) -> None:
    with pytest.raises(ValueError, match=r"the image .* is refused") as refused:
        prompt(images=[PNG, reference])
    assert len(str(refused.value)) < 300
    with pytest.raises(ImageRefused):
        prompt(text="x").update(images=[reference])


def test_bare_base64_is_taken_for_jpeg() -> None:
    # L-080
    message = prompt(images=["aGVsbG8="])
    assert message.rendered[1]["image_url"]["url"] == "data:image/jpeg;base64,aGVsbG8="


@given(st.text(max_size=30))
def test_whatever_is_rendered_leads_to_the_web_or_holds_an_image(reference: str) -> None:
    # L-078
    for lead in ("", "https://", "data:image/png;base64,"):
        try:
            message = prompt(images=[lead + reference])
        except ImageRefused:
            continue
        url = message.rendered[1]["image_url"]["url"]
        assert re.match(r"(?i)https?://[^/?#]|data:image/(png|jpeg);base64,[A-Za-z0-9+/]", url)
        assert message.text.splitlines() == [message.text]


RESPONSES: tuple[tuple[str, Any, str], ...] = (
    ("L-081", "s", "s"),
    ("L-082 text", {"content": "s"}, "s"),
    ("L-082 blocks", {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
    ("L-082 other blocks", {"content": [{"type": "tool_use", "text": "x"}, {"type": "text", "text": "a"}]}, "a"),
    ("L-083 whole", {"choices": [{"message": {"role": "assistant", "content": "s"}}]}, "s"),
    ("L-083 pieces", {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": None}}]}, "a"),
    (
        "L-084",
        {
            "output": [
                {"type": "reasoning", "content": [{"type": "output_text", "text": "x"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "s"}]},
            ]
        },
        "s",
    ),
    ("L-085", {"result": "r"}, "r"),
    ("L-086", [{"content": "a"}, "b", {"result": "c"}], "abc"),
    ("nothing", {"usage": 1}, ""),
)


@pytest.mark.parametrize(("response", "text"), [each[1:] for each in RESPONSES], ids=[each[0] for each in RESPONSES])
def test_an_answer_is_the_text_of_a_response_and_keeps_the_response_beside_it(response: Any, text: str) -> None:
    # L-087, L-088
    answer = Answer.from_response(response)
    assert answer.content.to_dict() == {"text": text}
    assert answer.to_dict()["metadata"] == {"model_response": response}
    assert answer.chat_msg == {"role": "assistant", "content": text}


def test_one_response_in_a_list_is_kept_as_itself() -> None:
    # L-087
    assert Answer.from_response([{"content": "a"}]).metadata["model_response"] == {"content": "a"}


class Response(BaseModel):
    """A response as the SDKs of providers have it."""

    model: str = "m-1"
    choices: list[dict[str, Any]] = [{"message": {"content": "s"}}]


def test_a_response_object_is_kept_as_data_and_names_its_model() -> None:
    answer = Answer.from_response(Response())
    assert (answer.rendered, answer.source.to_dict()["model"]) == ("s", "m-1")
    assert answer.metadata["model_response"]["model"] == "m-1"
    assert Answer.from_response("s").source.to_dict()["model"] == "unknown"


def test_an_answer_goes_to_the_user() -> None:
    # L-089
    assert Answer.create(source=SystemSource()).recipient == "user"
    assert Answer.create(source=SystemSource(), recipient="alice").recipient == "alice"


def test_a_master_prompt_stays_what_it_was_when_the_default_text_changes() -> None:
    assert SystemContent().to_dict() == {"text": SystemContent().text}
    assert PromptContent(text="x").to_dict() == {"text": "x"}
