"""What a tool call asks, and what it returned."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from kesoku.messages.argument import arguments_of, tool_name
from kesoku.messages.dialogue_content import Attachment, attachments_of
from kesoku.messages.freeze import EMPTY, Form, FrozenDict, changed_fields, thaw
from kesoku.messages.indented import indented
from kesoku.messages.text_content import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContent(Content):
    """A tool call. `response_id` names the result once there is one (R-5).

    `tool` may be given as a callable or as an object with a `function`, `arguments` as the text that a model wrote.

    Raises:
        CallInvalid: no name, or no arguments, can be made of what is given.
    """

    other_names: ClassVar[Mapping[str, str]] = {"function": "tool", "action_response_id": "response_id"}

    tool: str = ""
    arguments: FrozenDict = EMPTY
    response_id: str | None = None

    def __post_init__(self) -> None:
        if type(self.tool) is not str:
            object.__setattr__(self, "tool", tool_name(self.tool))
        if type(self.arguments) is not FrozenDict:
            object.__setattr__(self, "arguments", arguments_of(self.arguments))
        if self.response_id is not None:
            Form.__post_init__(self)

    @property
    def rendered(self) -> str:
        """The long form of trajectory 6.1 (K-232)."""
        return f"Calling tool `{self.tool}` with arguments:\n```json\n{indented(self.arguments)}\n```"

    @property
    def summary(self) -> str:
        """The one-line form (K-069, C-29)."""
        return f"Calling tool {self.tool} with args: {thaw(self.arguments)}"

    @property
    def function(self) -> str:
        """The name of the tool."""
        return self.tool

    @property
    def action_response_id(self) -> str | None:
        """The id of the result."""
        return self.response_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultContent(Content):
    """What a tool returned. It failed exactly if `error` is not None; `summary` is the metadata cell (N-12).

    `tool` and `arguments` are those of the call.
    """

    other_names: ClassVar[Mapping[str, str]] = {
        "function": "tool",
        "action_request_id": "request_id",
        "result": "output",
    }

    tool: str = ""
    arguments: FrozenDict = EMPTY
    output: Any = None
    error: str | None = None
    summary: str = ""
    request_id: str | None = None
    attachments: tuple[Attachment, ...] = ()

    SUMMARY_LENGTH: ClassVar[int] = 200

    def __post_init__(self) -> None:
        if type(self.arguments) is not FrozenDict:
            object.__setattr__(self, "arguments", arguments_of(self.arguments))
        Form.__post_init__(self)

    @property
    def success(self) -> bool:
        """Whether the tool worked."""
        return self.error is None

    @property
    def outcome(self) -> str:
        """How it went, in a line: `ok`, the beginning of the output, or `error: ` and the error (L-097, L-099)."""
        if self.error is not None:
            return f"error: {self.error}"
        return "ok" if self.output is None else self.summary or self.rendered[: self.SUMMARY_LENGTH]

    @property
    def rendered(self) -> str:
        """The output as text; of a failed call the error, behind what there was of output."""
        return result_text(self.output, self.error)

    @property
    def function(self) -> str:
        """The name of the tool."""
        return self.tool

    @property
    def action_request_id(self) -> str | None:
        """The id of the call."""
        return self.request_id

    @property
    def result(self) -> Any:
        """The output."""
        return self.output

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        plain = changed_fields(self)
        if self.attachments:
            plain["attachments"] = [each.to_dict() for each in self.attachments]
        return plain

    @classmethod
    def _arguments(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        known = super(ResultContent, cls)._arguments(data)
        if "attachments" in known:
            known["attachments"] = attachments_of(known["attachments"])
        return known


def result_text(output: Any, error: str | None) -> str:
    """What a tool returned as text: the output, and behind it the error if there is one."""
    shown = "" if output is None else output
    text = shown if isinstance(shown, str) else json.dumps(thaw(shown), ensure_ascii=False, indent=2)
    if error is None:
        return text
    return f"{text}\n{error}" if text else error
