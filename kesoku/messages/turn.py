"""What a chat model reads and says, without any vendor's words.

A `CompiledRequest` is the whole input of one model step. A model answers with a stream of `Delta`s, lossy and only for
showing, that ends with exactly one `Reply`, the authority. Blocks carry the ids of the messages they were made from,
so live events, the log and the request can be matched by id.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from kesoku.messages.freeze import EMPTY

_NOTICED = 1.0
"""Seconds from which on people are told that they wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Text, or a thought. `signature` is opaque provider data that belongs to this very block."""

    text: str
    thought: bool = False
    signature: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBlock:
    """One function call. `call_id` is ours; `wire_id` is the provider's, only if it gave one."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    signature: bytes | None = None
    wire_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaBlock:
    """A file for the model: a path in staging and its MIME type; providers read the bytes when they send."""

    path: str
    mime_type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultBlock:
    """What a call returned. `error` is set when the tool failed; `output` then holds what there was."""

    call_id: str
    name: str
    output: Any
    error: str | None = None
    wire_id: str | None = None
    media: tuple[MediaBlock, ...] = ()


Block = TextBlock | CallBlock | MediaBlock | ResultBlock


class _Canonical:
    """A frozen value that stands in many requests: what is computed of its canonical form is computed once."""

    __slots__ = ("_known",)
    _known: str

    def _keep(self, known: str) -> str:
        object.__setattr__(self, "_known", known)
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(_Canonical):
    """One entry of the alternating history. `sources` names (message id, version) of what went in, in order."""

    role: Literal["user", "model"]
    blocks: tuple[Block, ...]
    sources: tuple[tuple[str, int], ...] = ()

    def digest(self) -> str:
        """SHA-256 over the canonical form."""
        try:
            return self._known
        except AttributeError:
            return self._keep(_sha256(_canonical(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec(_Canonical):
    """A tool as the model sees it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def canonical(self) -> str:
        """The canonical form."""
        try:
            return self._known
        except AttributeError:
            return self._keep(_canonical(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What an operation asks of the model, apart from history: never stored in messages."""

    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    response_format: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRequest:
    """The whole input of one model step: pure data, the same for the live turn, `/context` and replay."""

    system: str
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] = ()
    response_format: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = EMPTY

    def digest(self) -> str:
        """SHA-256 over the canonical form of all fields, in which the digest of each turn stands for the turn.

        Equal digests mean that the model was sent the same.
        """
        tools = ", ".join([tool.canonical() for tool in self.tools])
        turns = ", ".join([f'"{turn.digest()}"' for turn in self.turns])
        return _sha256(
            f'{{"options": {_canonical(self.options)}, "response_format": {_canonical(self.response_format)}, '
            f'"system": {_canonical(self.system)}, "tools": [{tools}], "turns": [{turns}]}}'
        )


class Finish(StrEnum):
    """Why a model stopped, told apart as far as a turn must act on it."""

    STOP = "stop"
    """Done; also the normal end of a step that calls tools."""
    CUT = "cut"
    """The output limit was reached."""
    BROKEN = "broken"
    """The stream ended early, after a part of the answer was shown; `Reply.detail` says how. It can be continued."""
    BLOCKED = "blocked"
    """A rule withheld the answer; `Reply.detail` says which."""
    REFUSED = "refused"
    """A rule refused the prompt, which must not be sent again; `Reply.detail` says which."""
    MALFORMED = "malformed"
    """The model tried to call a tool and failed to write the call, or called what it may not."""
    GARBLED = "garbled"
    """The model wrote an answer that cannot be read."""
    OTHER = "other"
    """Anything else; `Reply.detail` says what."""

    @property
    def is_unreadable(self) -> bool:
        """Whether the model did not get out what it meant, so that it is asked again."""
        return self in {Finish.MALFORMED, Finish.GARBLED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one step, as the provider counted them. `prompt` includes `cached`."""

    prompt: int = 0
    cached: int = 0
    thoughts: int = 0
    answer: int = 0
    last: int = 0
    """What the last request of the step read, where it took several; they are summed up in `prompt`."""

    @property
    def context(self) -> int:
        """How much the model had before it when it answered."""
        return self.last or self.prompt

    @property
    def total(self) -> int:
        """Everything that was read and written."""
        return self.prompt + self.thoughts + self.answer

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            thoughts=self.thoughts + other.thoughts,
            answer=self.answer + other.answer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of a running reply, for people who watch. Never stored, never an authority."""

    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The step begins anew: what was streamed of it is void. Never stored.

    The model is asked in `after` seconds, because of `reason`, one line for people who wait, without the time.
    """

    after: float
    reason: str

    @property
    def wait(self) -> float | None:
        """`after`, if it is long enough to be told."""
        return self.after if self.after >= _NOTICED else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Everything that the model said in one step, blocks in the order in which it said them."""

    blocks: tuple[TextBlock | CallBlock, ...]
    provider: str
    model: str
    finish: Finish = Finish.STOP
    detail: str | None = None
    """Why it ended so, in the provider's words."""
    cure: str = ""
    """What people can do about it, in one sentence; empty if the provider knows no better than to try again."""
    hint: str = ""
    """What the model is told when it is asked again after an unreadable reply; empty if the provider knows no more."""
    usage: Usage = field(default_factory=Usage)

    @property
    def calls(self) -> tuple[CallBlock, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.blocks if isinstance(block, CallBlock))

    @property
    def text(self) -> str:
        """All text that is no thought."""
        return "".join(b.text for b in self.blocks if isinstance(b, TextBlock) and not b.thought)

    @property
    def thoughts(self) -> str:
        """All thought text."""
        return "".join(b.text for b in self.blocks if isinstance(b, TextBlock) and b.thought)


StreamItem = Delta | Retry | Reply
"""What a model's stream yields: Deltas and Retries in any order, then one Reply."""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_SIMPLE = frozenset({type(None), str, int, float, bool})
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode


def _canonical(value: Any) -> str:
    """JSON with sorted keys, bytes in hex, values with the names of their types and fields."""
    return _encode(_plain(value))


def _plain(value: Any) -> Any:
    if type(value) in _SIMPLE or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        named = {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
        return {"is": type(value).__name__, **named}
    if isinstance(value, (dict, Mapping)):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
