"""A tool: a function that the model may call, with the schema that the model sees made from its signature.

    @tool(effect=Effect.READ)
    def add(a: int, b: Annotated[int, "what to add"] = 1) -> int:
        '''Add two numbers.

        Args:
            a: where to begin
        '''
        return a + b

Values are checked and converted by pydantic before the function runs, so the function gets what its hints say.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from kesoku.errors import ToolArguments, ToolMalformed
from kesoku.messages.freeze import thaw
from kesoku.messages.turn import MediaBlock, ToolSpec
from kesoku.tools.context import ToolContext

DEFAULT_TIMEOUT = 60.0
"""Seconds."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SECTION = re.compile(r"^(Args|Arguments|Returns?|Yields?|Raises):\s*$", re.MULTILINE)
_PARAMETER = re.compile(r"^(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


class Effect(StrEnum):
    """What a tool can do to the world; the default policy follows from it."""

    READ = "read"
    """Looks and changes nothing."""
    WRITE = "write"
    """Changes files or other state."""
    TALK = "talk"
    """Speaks to other agents; what these may do is asked about where they do it."""
    EXECUTE = "execute"
    """Can do anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `run` is a plain function, which is then run in a thread of its own, or a coroutine function.

    It returns text, a value that JSON can hold, or an `Output`. Raises ToolMalformed for a name that models refuse.
    """

    name: str
    """Letters, digits, `_` and `-`, at most 64, no digit or `-` in front."""
    description: str
    """What the model reads to decide whether to call it."""
    parameters: Mapping[str, Any]
    """JSON Schema of an object."""
    effect: Effect
    """What it can do to the world."""
    timeout: float
    """Seconds after which it is stopped."""
    run: Callable[[Mapping[str, Any], ToolContext], Any]
    """Called with the arguments as the model wrote them; raises ToolArguments if they are wrong."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ToolMalformed(tool=self.name, reason=f"its name must match {_NAME.pattern}")
        if not self.timeout > 0:
            raise ToolMalformed(tool=self.name, reason=f"its timeout must be above 0 s, not {self.timeout:g}")

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a tool returns when the output alone does not say everything."""

    output: Any
    """Text, or a value that JSON can hold."""
    summary: str | None = None
    """One line for the status bar; by default the first 200 characters of the output (decision N-12)."""
    error: str | None = None
    """Set if the tool failed and still has an output to show."""
    media: tuple[MediaBlock, ...] = ()
    """Files for the model, copied when the tool returns; what becomes of them then does not matter."""


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, effect: Effect = Effect.EXECUTE, timeout: float = DEFAULT_TIMEOUT
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect = Effect.EXECUTE,
    timeout: float = DEFAULT_TIMEOUT,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function, as a plain decorator or with options. Raises ToolMalformed.

    An effect that nobody stated is taken for the worst, so that people are asked first.
    """

    def make(function: Callable[..., Any]) -> Tool:
        called = str(name or getattr(function, "__name__", repr(function)))
        description, documented = _documentation(function)
        signature = _Signature(called, function, documented)
        return Tool(
            name=called,
            description=description,
            parameters=signature.schema(),
            effect=effect,
            timeout=timeout,
            run=_bound(function, signature),
        )

    return make(function) if function else make


def _bound(function: Callable[..., Any], signature: "_Signature") -> Callable[[Mapping[str, Any], ToolContext], Any]:
    if inspect.iscoroutinefunction(function):

        async def run(arguments: Mapping[str, Any], context: ToolContext) -> Any:
            return await function(**signature.bind(arguments, context))

        return run
    return lambda arguments, context: function(**signature.bind(arguments, context))


class _Untitled(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes up of names: the model would read everything twice."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Signature:
    """A function's parameters as a pydantic model. Aliases carry their names: any name that Python allows will do."""

    def __init__(self, tool: str, function: Callable[..., Any], documented: Mapping[str, str]) -> None:
        self._tool = tool
        self._context: str | None = None
        self._names: dict[str, str] = {}
        fields: dict[str, Any] = {}
        hints = _hints(tool, function)
        for index, parameter in enumerate(inspect.signature(function).parameters.values()):
            hint = self._hint(parameter, hints)
            if hint is ToolContext:
                self._context = parameter.name
                continue
            self._names[f"p{index}"] = parameter.name
            fields[f"p{index}"] = (_described(hint, documented.get(parameter.name)), _field(parameter))
        try:
            self._model: type[BaseModel] = create_model(tool, __config__=ConfigDict(extra="forbid"), **fields)
        except PydanticUserError as error:
            raise ToolMalformed(tool=tool, reason=error.message) from error

    def _hint(self, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            raise ToolMalformed(tool=self._tool, reason=f"parameter {parameter} cannot be given by name")
        if parameter.name not in hints:
            raise ToolMalformed(tool=self._tool, reason=f"parameter {parameter.name} needs a type hint")
        return hints[parameter.name]

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, as the model sees it."""
        try:
            schema = self._model.model_json_schema(schema_generator=_Untitled)
        except PydanticUserError as error:
            raise ToolMalformed(tool=self._tool, reason=error.message) from error
        del schema["title"]
        return schema

    def bind(self, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """Keyword arguments for the function; what the model left out is left to the function's own defaults."""
        try:
            model = self._model.model_validate(thaw(arguments))
        except ValidationError as error:
            raise ToolArguments(tool=self._tool, problems=tuple(map(self._problem, error.errors()))) from error
        bound = {self._names[field]: getattr(model, field) for field in model.model_fields_set}
        return bound | ({self._context: context} if self._context else {})

    def _problem(self, error: Any) -> str:
        where = ".".join(map(str, error["loc"])) or "arguments"
        if error["type"] == "missing":
            return f"`{where}` is missing"
        if error["type"] == "extra_forbidden":
            return f"`{where}` is not known; known are {', '.join(self._names.values()) or '(none)'}"
        given = repr(error["input"])
        return f"`{where}`: {error['msg']} (given: {given if len(given) <= 80 else given[:79] + '…'})"


def _hints(tool: str, function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise ToolMalformed(tool=tool, reason=f"its type hints cannot be read: {error}") from error


def _described(hint: Any, documented: str | None) -> Any:
    """A string in Annotated is the description; the docstring's is taken where the hint has none."""
    extras: Sequence[Any] = getattr(hint, "__metadata__", ())
    text = next((extra for extra in extras if isinstance(extra, str)), documented)
    return Annotated[hint, Field(description=text)] if text else hint


def _field(parameter: inspect.Parameter) -> Any:
    if parameter.default is parameter.empty:
        return Field(alias=parameter.name)
    return Field(default=parameter.default, alias=parameter.name)


def _documentation(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The text before the first section of a docstring, and what `Args:` says of each parameter."""
    text = inspect.getdoc(function) or ""
    description, *sections = _SECTION.split(text)
    arguments = dict(zip(sections[::2], sections[1::2], strict=True))
    return description.strip(), _parameters(arguments.get("Args") or arguments.get("Arguments") or "")


def _parameters(section: str) -> dict[str, str]:
    """Lines of a Google-style `Args:` section; a line that is indented deeper continues the one above."""
    lines = inspect.cleandoc(section).splitlines()
    found: dict[str, str] = {}
    current = ""
    for line in lines:
        if (match := _PARAMETER.match(line)) is not None:
            current, found[match[1]] = match[1], match[2]
        elif current and line.startswith(" "):
            found[current] = f"{found[current]} {line.strip()}".strip()
    return found
