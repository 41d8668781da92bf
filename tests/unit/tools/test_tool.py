"""Schema from signature, hints and docstring; arguments checked before the call."""

import json
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from kesoku.errors import ToolArguments, ToolMalformed
from kesoku.tools import Effect, ToolContext, tool


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    title: str = "origin"


@tool(effect=Effect.READ, timeout=3)
def paint(
    schema: int,
    context: ToolContext,
    colour: Annotated[Colour, "which one"] = Colour.RED,
    _title: list[str] = [],  # noqa: B006 - that it is never shared is part of the test
    *,
    level: Annotated[float, Field(ge=0, le=1)] = 0.5,
) -> dict[str, Any]:
    """Paint something.

    It stays painted.

    Args:
        schema: how many
            times
        colour: overruled by the hint
        _title (list): what to write

    Returns:
        nothing that the model needs to know before
    """
    _title.append("seen")
    return {"schema": schema, "colour": colour, "title": _title, "level": level, "session": context.session_id}


def test_the_model_sees_what_the_signature_says() -> None:
    assert paint.spec.name == "paint"
    assert paint.spec.description == "Paint something.\n\nIt stays painted."
    parameters = paint.spec.parameters
    assert set(parameters) == {"type", "properties", "required", "additionalProperties", "$defs"}
    assert parameters["required"] == ["schema"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["schema"] == {"type": "integer", "description": "how many times"}
    assert parameters["properties"]["colour"]["description"] == "which one"
    assert parameters["properties"]["_title"]["description"] == "what to write"
    assert parameters["properties"]["level"] == {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5}
    assert "context" not in parameters["properties"]
    assert (paint.effect, paint.timeout) == (Effect.READ, 3)


def test_arguments_are_converted_and_the_context_is_given(context: ToolContext) -> None:
    frozen = MappingProxyType({"schema": "7", "colour": "blue", "_title": ("a",)})
    assert paint.run(frozen, context) == {
        "schema": 7,
        "colour": Colour.BLUE,
        "title": ["a", "seen"],
        "level": 0.5,
        "session": "sess",
    }


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "`schema` is missing"),
        ({"schema": 1, "color": "red"}, "`color` is not known; known are schema, colour, _title, level"),
        ({"schema": 1, "colour": "green"}, "`colour`: Input should be 'red' or 'blue' (given: 'green')"),
        ({"schema": 1, "level": 2}, "`level`: Input should be less than or equal to 1 (given: 2)"),
        ({"schema": 1, "_title": ["a", 2]}, "`_title.1`: Input should be a valid string (given: 2)"),
        ({"schema": "x" * 500}, f"(given: '{'x' * 78}…)"),
        ({"schema": 1, "context": 2}, "`context` is not known"),
        (["schema"], "`arguments`: "),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_valid(context: ToolContext, arguments: Any, problem: str) -> None:
    with pytest.raises(ToolArguments) as caught:
        paint.run(arguments, context)
    assert len(caught.value.problems) == 1
    assert problem in str(caught.value)
    assert "paint was not run" in str(caught.value)


def test_arguments_out_of_a_frozen_message_are_plain_again(context: ToolContext) -> None:
    @tool
    def dump(value: Any) -> str:
        return json.dumps(value)

    frozen = MappingProxyType({"value": MappingProxyType({"a": (MappingProxyType({"b": ()}),)})})
    assert dump.run(frozen, context) == '{"a": [{"b": []}]}'


def test_nested_models_keep_a_field_that_is_called_title(context: ToolContext) -> None:
    @tool
    def move(point: Point, how: Literal["fast", "slow"] = "slow") -> str:
        return f"{point.x} {point.title} {how}"

    assert set(move.parameters["$defs"]["Point"]["properties"]) == {"x", "title"}
    assert move.run({"point": {"x": 1}}, context) == "1 origin slow"
    assert move.description == ""


async def test_a_coroutine_function_stays_one(context: ToolContext) -> None:
    @tool(name="other-name")
    async def wait(seconds: int = 0) -> int:
        """Wait."""
        return seconds

    assert wait.name == "other-name"
    assert await wait.run({"seconds": "4"}, context) == 4


def test_an_effect_that_nobody_stated_is_the_worst() -> None:
    assert tool(test_an_effect_that_nobody_stated_is_the_worst).effect is Effect.EXECUTE


def _unhinted(a) -> None: ...  # type: ignore[no-untyped-def]
def _variable(*a: int) -> None: ...
def _keywords(**a: int) -> None: ...
def _positional(a: int, /) -> None: ...
def _unresolved(a: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def _opaque(a: Callable[..., int]) -> None: ...
def _unschematic(a: memoryview) -> None: ...


@pytest.mark.parametrize(
    "function", [_unhinted, _variable, _keywords, _positional, _unresolved, _opaque, _unschematic, lambda: None]
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_made(function: Callable[..., Any]) -> None:
    with pytest.raises(ToolMalformed, match="cannot be a tool"):
        tool(function)


@pytest.mark.parametrize("name", ["", "a b", "1a", "-a", "a" * 65, "a\n", "é"])
def test_a_name_that_models_refuse_is_refused(name: str) -> None:
    with pytest.raises(ToolMalformed, match="its name must match"):
        replace(paint, name=name)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_timeout_is_above_zero(seconds: float) -> None:
    with pytest.raises(ToolMalformed, match="timeout"):
        replace(paint, timeout=seconds)


def test_a_path_is_what_its_hint_says(context: ToolContext) -> None:
    @tool
    def touch(path: Path) -> str:
        return type(path).__name__

    assert touch.run({"path": "a"}, context) == type(Path()).__name__
