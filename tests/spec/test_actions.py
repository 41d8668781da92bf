"""Tool calls and their results: what a call may be made of, how a result went, and the link between the two."""

import random
from functools import partial
from typing import Any

import pytest

from kesoku import CallContent, Message, ModelSource, ToolCall, ToolResult, ToolSource, from_json, to_json
from kesoku.errors import AlreadyAnswered, CallInvalid, NotACall
from kesoku.messages import make

MODEL: dict[str, Any] = {"provider": "p", "model": "m"}


def search() -> None:
    """A tool."""


class Tool:
    """What some have for a tool: an object that names a function."""

    def __init__(self, function: Any) -> None:
        self.function = function


def called(function: Any, arguments: Any = None) -> ToolCall:
    return ToolCall.create(source=ModelSource(**MODEL), content={"function": function, "arguments": arguments})


def result(**content: Any) -> ToolResult:
    return ToolResult.create(source=ToolSource(call_id="c"), content=content)


@pytest.mark.parametrize(
    ("function", "name"),
    [("bar", "bar"), (search, "search"), (Tool("bar"), "bar"), (Tool(search), "search")],
    ids=["a name", "L-090", "L-091", "L-091 of a callable"],
)
def test_a_call_names_its_tool(function: Any, name: str) -> None:
    for call in (called(function), make.tool_call(function, {}, **MODEL)):
        assert (call.content.tool, call.content.function) == (name, name)


@pytest.mark.parametrize("function", [3, None, Tool(3), b"x", partial(search)], ids=lambda each: type(each).__name__)
def test_what_has_no_name_cannot_be_called(function: Any) -> None:
    # L-092
    with pytest.raises(ValueError, match="function of a tool call cannot be read"):
        called(function)


def test_arguments_are_a_copy_to_the_bottom() -> None:
    # L-093, D-014
    mine: dict[str, Any] = {"a": {"b": [1]}}
    for call in (called("t", mine), make.tool_call("t", mine, **MODEL), make.tool_call("t", mine, **MODEL).clone()):
        mine["a"]["b"].append(2)
        mine["c"] = 3
        assert call.content.arguments == {"a": {"b": (1,)}}
        mine = {"a": {"b": [1]}}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': 1,}", {"a": 1}),
        (" {'a': None, 'b': [True]} ", {"a": None, "b": (True,)}),
        ("", {}),
        (" \n", {}),
        ("{}", {}),
    ],
)
def test_arguments_are_read_as_json_or_as_python_writes_them(text: str, arguments: dict[str, Any]) -> None:
    # L-094
    assert called("t", text).content.arguments == arguments


@pytest.mark.parametrize(
    "text", ["{", "[1]", "1", "a", "{'a': open('x')}", "{[]: 1}", "(" * 5000, "{'a': 1} {'b': 2}", 5, ["a"]], ids=str
)
def test_other_arguments_are_refused_and_nothing_is_run(text: Any) -> None:
    # L-094
    with pytest.raises(CallInvalid, match="arguments of a tool call cannot be read") as refused:
        called("t", text)
    assert len(str(refused.value)) < 250


def test_a_call_knows_whether_it_was_answered() -> None:
    # L-095
    call = called("t")
    answered, _ = make.respond(call, 7)
    assert (call.is_responded(), answered.is_responded()) == (False, True)


@pytest.mark.parametrize(
    ("content", "success", "outcome"),
    [
        ({"output": "it rains"}, True, "it rains"),
        ({"output": None}, True, "ok"),
        ({"output": "half", "error": "boom"}, False, "error: boom"),
        ({"error": ""}, False, "error: "),
        ({"output": 0}, True, "0"),
    ],
    ids=["L-096", "L-099", "L-097", "L-098", "a falsy output"],
)
def test_a_result_says_how_it_went(content: dict[str, Any], success: bool, outcome: str) -> None:
    answer = result(**content)
    assert (answer.success, answer.content.success) == (success, success)
    assert (answer.outcome, answer.content.outcome) == (outcome, outcome)


def test_a_result_is_read_under_either_name() -> None:
    # L-100
    answer = result(action_request_id="c", output=7)
    assert answer.request_id == answer.content.action_request_id == answer.content.request_id == "c"
    assert answer.result == answer.content.result == answer.content.output == 7
    assert result(request_id="c", result=7).content == answer.content


def test_a_result_copies_the_call_and_both_name_each_other() -> None:
    # L-101
    call = called("t", {"a": [1]})
    answered, answer = make.respond(call, 7)
    assert (answer.content.function, answer.content.arguments) == ("t", {"a": (1,)})
    assert answer.request_id == call.id == answered.id
    assert answered.content.action_response_id == answer.id
    assert answer.source == ToolSource(call_id=call.id)
    assert (call.content.response_id, answered.version) == (None, 2)


@pytest.mark.parametrize("given", [make.notice("x"), make.respond(called("t"))[1], "call", None, CallContent()])
def test_only_a_call_is_answered(given: Any) -> None:
    # L-102
    with pytest.raises(ValueError, match="a result answers a ToolCall"):
        make.respond(given, 7)
    with pytest.raises(NotACall):
        make.respond(given, 7, existing=result())


def test_an_existing_result_gets_its_next_version_and_no_link() -> None:
    # L-103
    call, existing = called("t"), result(output=7)
    same, answer = make.respond(call, 9, existing=existing)
    assert (answer.id, answer.version, answer.result) == (existing.id, 2, 9)
    assert (answer.request_id, same.is_responded()) == (None, False)
    assert same is call
    assert existing.result == 7


def test_the_link_needs_no_neighbours() -> None:
    # L-104
    answered, answer = make.respond(called("t"), 7)
    others: list[Message] = [make.notice(str(number)) for number in range(50)]
    rows = [to_json(each) for each in (answered, *others, answer)]
    random.Random(1).shuffle(rows)
    known = {message.id: message for message in map(from_json, rows)}
    call, read = known[answered.id], known[answer.id]
    assert known[call.content.response_id] == read
    assert known[read.content.request_id] == call


def test_a_second_answer_must_ask_to_replace_the_first() -> None:
    # L-105
    answered, first = make.respond(called("t"), 7)
    with pytest.raises(AlreadyAnswered, match="replace=True"):
        make.respond(answered, 8)
    again, second = make.respond(answered, 8, replace=True)
    assert (again.id, again.version, again.content.response_id) == (answered.id, 3, second.id)
    assert first.result == 7
