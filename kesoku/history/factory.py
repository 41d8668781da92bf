"""Which message `add` makes of what it is told, and the refusal of what would be two (L-119..L-125, C-41).

A keyword that names a kind means that kind, also where its value is empty text; None is as if nothing had been said.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, TypeVar

from kesoku.errors import FieldRefused, NotACall, NotAMessage, NotASystemPrompt, SeveralKinds, WrongKind
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.kinds import Answer, SystemPrompt, ToolCall, ToolResult, UserPrompt, category
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.messages.source import ModelSource, Source, SystemSource, UserSource

M = TypeVar("M", bound=Message)


class Said(TypedDict, total=False):
    """What `add` may be told: what names a kind, what belongs to one kind, and what every message has."""

    message: Message | Record | None
    """A ready message, or one that was stored."""
    instruction: Any
    """Words of a person, or their prompt, which gets the fields given beside it."""
    assistant_response: Any
    """Words of the assistant, its answer, or what a provider returned."""
    system: Any
    """The words of the system prompt, or a system prompt."""
    action_request: Any
    """A call, or the tool that is to be called; with an output beside it, the call that is answered."""
    action_response: Any
    """A ready result."""

    action_output: Any
    action_error: str | None
    action_arguments: Any
    replace: bool
    """Whether a second result takes the place of the first."""

    text: str | None
    plain_content: str | None
    guidance: Any
    context: Any
    prompt_context: Any
    handle_context: str | None
    tool_schemas: Any
    response_format: Any
    structure: Any
    images: Any
    image_detail: str | None
    attachments: Iterable[Attachment] | None
    system_datetime: Any

    sender: Any
    recipient: Any
    channel: str | None
    author: str | None
    metadata: Mapping[str, Any] | None
    source: Source | None


_MODEL = ModelSource(provider="unknown", model="unknown")
INSTRUCTION = "instruction"
RESPONSE = "action_response"
_KINDS = ("message", INSTRUCTION, "assistant_response", "system", "action_request", RESPONSE)
_OUTPUTS = ("action_output", "action_error")
_SIDES = ("sender", "recipient")
_ENVELOPE = (*_SIDES, "channel", "author", "metadata", "source")
_PROMPT = (
    *("text", "plain_content", "guidance", "context", "prompt_context", "handle_context", "tool_schemas"),
    *("response_format", "structure", "images", "image_detail", "attachments"),
)


def told(said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said: everything but None."""
    return {name: value for name, value in said.items() if value is not None}


def kind_of(said: Mapping[str, Any]) -> str:
    """The keyword of the one message that is meant; without any it is an instruction.

    Raises:
        SeveralKinds: more than one is meant.
    """
    named = [kind for kind in _KINDS if kind in said]
    if not said.keys().isdisjoint(_OUTPUTS) and RESPONSE not in named:
        named.append(RESPONSE)
    if RESPONSE in named and "action_request" in named:
        named.remove("action_request")
    if len(named) > 1:
        raise SeveralKinds(kinds=tuple(named))
    return named[0] if named else INSTRUCTION


def answers(said: Mapping[str, Any]) -> bool:
    """Whether a call is answered, which makes a result and changes the call."""
    return RESPONSE not in said and kind_of(said) == RESPONSE


def answered_call(said: Mapping[str, Any]) -> ToolCall:
    """The call that is answered. Raises NotACall, FieldRefused."""
    _only(said, RESPONSE, "action_request", *_OUTPUTS, "attachments", "replace")
    call = said.get("action_request")
    if not isinstance(call, ToolCall):
        raise NotACall(given=call)
    return call


def made(said: Mapping[str, Any]) -> Message:
    """The message that is meant, where it is no answer to a call.

    Raises:
        SeveralKinds: more than one is meant.
        FieldRefused: something was said that this kind of message does not have.
        NotAMessage, NotASystemPrompt, WrongKind: a ready message is none, or another one than its name says.
    """
    return _MAKERS[kind_of(said)](said)


def _ready(said: Mapping[str, Any]) -> Message:
    _only(said, "message")
    given = said["message"]
    message = given.message if isinstance(given, Record) else given
    if not isinstance(message, Message):
        raise NotAMessage(given=given)
    return message


def _prompt(said: Mapping[str, Any]) -> Message:
    given = said.get(INSTRUCTION)
    fields = {name: said[name] for name in _PROMPT if name in said}
    if isinstance(given, Message):
        return _changed(given, UserPrompt, said, INSTRUCTION, fields)
    _only(said, INSTRUCTION, *_PROMPT, *_ENVELOPE)
    if given is not None:
        fields["instruction"] = given
    return _new(UserPrompt, UserSource(), fields, said)


def _answer(said: Mapping[str, Any]) -> Message:
    given = said["assistant_response"]
    if isinstance(given, Message):
        return _changed(given, Answer, said, "assistant_response", {})
    _only(said, "assistant_response", *_ENVELOPE)
    if isinstance(given, str):
        return _new(Answer, _MODEL, {"text": given}, said)
    envelope = _envelope(Answer, _MODEL, said)
    return Answer.from_response(given, **{**envelope, "source": said.get("source")})


def _system(said: Mapping[str, Any]) -> Message:
    given = said["system"]
    fields = {"datetime": said["system_datetime"]} if "system_datetime" in said else {}
    if isinstance(given, SystemPrompt):
        return _changed(given, SystemPrompt, said, "system", fields, takes=("system_datetime",))
    if not isinstance(given, str):
        raise NotASystemPrompt(given=given)
    _only(said, "system", "system_datetime", *_ENVELOPE)
    return _new(SystemPrompt, SystemSource(), {"text": given, **fields}, said)


def _call(said: Mapping[str, Any]) -> Message:
    given = said["action_request"]
    if isinstance(given, Message):
        return _changed(given, ToolCall, said, "action_request", {})
    _only(said, "action_request", "action_arguments", *_ENVELOPE)
    content = {"tool": given, "arguments": said.get("action_arguments", {})}
    return _new(ToolCall, _MODEL, content, said)


def _result(said: Mapping[str, Any]) -> Message:
    """A ready result; with a new output its next version, which links nothing (L-103)."""
    given = said[RESPONSE]
    if said.keys().isdisjoint(_OUTPUTS):
        beside = {name: value for name, value in said.items() if name != "action_request"}
        return _changed(given, ToolResult, beside, RESPONSE, {})
    _only(said, RESPONSE, "action_request", *_OUTPUTS)
    if not isinstance(given, ToolResult):
        raise WrongKind(kind=RESPONSE, wanted=ToolResult, given=given)
    call: Any = said.get("action_request")
    return make.respond(call, said.get("action_output"), error=said.get("action_error"), existing=given)[1]


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Message]] = {
    "message": _ready,
    INSTRUCTION: _prompt,
    "assistant_response": _answer,
    "system": _system,
    "action_request": _call,
    RESPONSE: _result,
}


def _new(kind: type[M], source: Source, content: Mapping[str, Any], said: Mapping[str, Any]) -> M:
    return kind.create(content=content, **_envelope(kind, source, said))


def _envelope(kind: type[Message], source: Source, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of the message as a whole; its category names the author unless that is a person or a tool."""
    envelope = {name: said[name] for name in _ENVELOPE if name in said}
    source = envelope.setdefault("source", source)
    envelope.setdefault("author", category(kind.kind, source.kind).author or "")
    return envelope


def _changed(
    given: Any, kind: type[M], said: Mapping[str, Any], name: str, fields: Mapping[str, Any], takes: Iterable[str] = ()
) -> M:
    """A ready message, or its next version if there is something to change."""
    if not isinstance(given, kind):
        raise WrongKind(kind=name, wanted=kind, given=given)
    _only(said, name, *takes, *fields, *_SIDES)
    sides = {side: said[side] for side in _SIDES if side in said}
    return given.update(**sides, **fields) if sides or fields else given


def _only(said: Mapping[str, Any], kind: str, *takes: str) -> None:
    """Raise FieldRefused for what a message of this kind does not have."""
    if refused := tuple(name for name in said if name != kind and name not in takes):
        raise FieldRefused(kind=kind, fields=refused, takes=takes)
