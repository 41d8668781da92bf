"""The classes of messages and the twelve categories of seed 004 table 3 (decisions.md section 1).

Role and type are fixed by the class, so a contradiction such as (user, tool_call) cannot be built (K-011).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kesoku.errors import UnknownKind
from kesoku.messages.content import (
    AnswerContent,
    CallContent,
    NoticeContent,
    PromptContent,
    ResultContent,
    SystemContent,
    TextContent,
)
from kesoku.messages.enums import MessageRole, MessageStatus, MessageType
from kesoku.messages.freeze import freeze
from kesoku.messages.message import Message, MessageId
from kesoku.messages.party import Party, party
from kesoku.messages.response import model_of, plain_response, response_text
from kesoku.messages.source import ModelSource, Source, source_from_dict

_SYSTEM, _USER, _ASSISTANT = map(party, (MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemPrompt(Message):
    """The master prompt: index 0 of a history, never a delivered row."""

    kind: ClassVar = "system_prompt"
    role: ClassVar = MessageRole.SYSTEM
    type: ClassVar = MessageType.TEXT
    content_class: ClassVar = SystemContent

    sender: Party = _SYSTEM
    recipient: Party = _ASSISTANT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UserPrompt(Message):
    """What a person, a schedule or a command asks of the agent."""

    kind: ClassVar = "user_prompt"
    role: ClassVar = MessageRole.USER
    type: ClassVar = MessageType.TEXT
    content_class: ClassVar = PromptContent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemNote(Message):
    """The machinery speaking to the model: wake-ups, nudges, context from hooks. Never shown to people."""

    kind: ClassVar = "system_note"
    role: ClassVar = MessageRole.SYSTEM
    type: ClassVar = MessageType.TEXT
    content_class: ClassVar = TextContent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Thought(Message):
    """Reasoning before the answer, or text beside a call (N-09)."""

    kind: ClassVar = "thought"
    role: ClassVar = MessageRole.ASSISTANT
    type: ClassVar = MessageType.THOUGHT
    content_class: ClassVar = TextContent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer(Message):
    """The final answer of a turn, or the honest report that it failed."""

    kind: ClassVar = "answer"
    role: ClassVar = MessageRole.ASSISTANT
    type: ClassVar = MessageType.TEXT
    content_class: ClassVar = AnswerContent

    recipient: Party = _USER

    @classmethod
    def from_response(cls, response: Any, *, source: Source | None = None, **fields: Any) -> Self:
        """The answer that a provider's response holds: its text, without anything between several fragments.

        The response itself becomes `metadata["model_response"]`, of several a list; models are never shown it.
        Without a source, one is made of the model that the response names.
        """
        plain = freeze(plain_response(response))
        made = source or ModelSource(provider="unknown", model=model_of(plain))
        metadata = {**(fields.pop("metadata", None) or {}), "model_response": plain}
        return cls.create(source=made, content=AnswerContent(text=response_text(plain)), metadata=metadata, **fields)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Notice(Message):
    """The machinery speaking to people. The model never sees it (K-104)."""

    kind: ClassVar = "notice"
    role: ClassVar = MessageRole.ASSISTANT
    type: ClassVar = MessageType.TEXT
    content_class: ClassVar = NoticeContent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolCall(Message):
    """A request to run a tool."""

    kind: ClassVar = "tool_call"
    role: ClassVar = MessageRole.TOOL
    type: ClassVar = MessageType.TOOL_CALL
    content_class: ClassVar = CallContent

    def is_responded(self) -> bool:
        """Whether a result was linked to this call (L-095)."""
        return self.content.response_id is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolResult(Message):
    """What the tool returned."""

    kind: ClassVar = "tool_result"
    role: ClassVar = MessageRole.TOOL
    type: ClassVar = MessageType.TOOL_RESULT
    content_class: ClassVar = ResultContent

    @property
    def request_id(self) -> MessageId | None:
        """The id of the call."""
        return self.content.request_id  # type: ignore[no-any-return]

    @property
    def result(self) -> Any:
        """What the tool returned, also beside an error."""
        return self.content.output

    @property
    def success(self) -> bool:
        """Whether the tool worked: exactly if there is no error, not even an empty one."""
        return self.content.error is None

    @property
    def outcome(self) -> str:
        """How it went, in a line (L-097, L-099). What the metadata cell holds is `content.summary`."""
        return self.content.outcome  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary(Message):
    """What stands for older messages after a compaction."""

    kind: ClassVar = "summary"
    role: ClassVar = MessageRole.SYSTEM
    type: ClassVar = MessageType.TEXT
    content_class: ClassVar = TextContent


KINDS: dict[str, type[Message]] = {
    each.kind: each
    for each in (
        Message,
        SystemPrompt,
        UserPrompt,
        SystemNote,
        Thought,
        Answer,
        Notice,
        ToolCall,
        ToolResult,
        Summary,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One row of seed 004 table 3: what a message of this kind and source is called and where it starts."""

    title: str
    author: str | None
    """The sender cell; None where it names a person or a tool."""
    status: MessageStatus


_S = MessageStatus
CATEGORIES: dict[tuple[str, str], Category] = {
    ("user_prompt", "user"): Category(title="standard user message", author=None, status=_S.PENDING_AGENT),
    ("user_prompt", "cron"): Category(title="cron trigger", author="Cronjob", status=_S.PENDING_AGENT),
    ("user_prompt", "command"): Category(title="compaction trigger", author="System", status=_S.PENDING_AGENT),
    ("thought", "model"): Category(title="assistant thought", author="Kesoku", status=_S.RESPONDED),
    ("answer", "model"): Category(title="assistant final text", author="Kesoku", status=_S.PENDING),
    ("tool_call", "model"): Category(title="tool call", author="Kesoku", status=_S.RESPONDED),
    ("tool_result", "tool"): Category(title="tool result", author=None, status=_S.RESPONDED),
    ("system_prompt", "system"): Category(title="system prompt", author="System", status=_S.RESPONDED),
    ("system_note", "job"): Category(title="background wakeup alert", author="System", status=_S.PENDING_AGENT),
    ("system_note", "nudge"): Category(title="nudge", author="System", status=_S.RESPONDED),
    ("notice", "notice"): Category(title="user-facing notification", author="Notification", status=_S.PENDING),
    ("answer", "error"): Category(title="system error notification", author="Kesoku", status=_S.PENDING),
}
"""The twelve rows, in the seed's order."""

FURTHER_CATEGORIES: dict[tuple[str, str], Category] = {
    ("system_note", "hook"): Category(title="context from a hook", author="System", status=_S.RESPONDED),
    ("system_note", "relay"): Category(title="wake-up by mail", author="System", status=_S.PENDING_AGENT),
    ("user_prompt", "relay"): Category(title="task from another agent", author="Kesoku", status=_S.PENDING_AGENT),
    ("summary", "compaction"): Category(title="summary", author="System", status=_S.RESPONDED),
}
"""What a message may be besides."""


def category_of(message: Message) -> Category:
    """The category that fixes a message's author and first status. Raises UnknownKind."""
    return category(message.kind, message.source.kind)


def category(kind: str, source_kind: str) -> Category:
    """The category of a kind of message from a kind of source.

    Raises:
        UnknownKind: this kind never comes from this source.
    """
    key = (kind, source_kind)
    found = CATEGORIES.get(key) or FURTHER_CATEGORIES.get(key)
    if found is None:
        raise UnknownKind(
            what="message", kind="/".join(key), valid=tuple("/".join(k) for k in CATEGORIES | FURTHER_CATEGORIES)
        )
    return found


def message_from_dict(data: Mapping[str, Any]) -> Message:
    """The message that `to_dict` wrote: class by `kind`, role and type ignored (C-04).

    Raises:
        UnknownKind: kind or source is not known here.
        IdentityMissing: there is no id.
        TypeError: a field holds what it does not take, or is unknown.
    """
    kind = data.get("kind")
    cls = KINDS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise UnknownKind(what="message", kind=kind, valid=tuple(KINDS))
    fields = dict(data)
    for derived in ("kind", "role", "type"):
        fields.pop(derived, None)
    fields["id"] = data.get("id")
    fields["source"] = source_from_dict(data.get("source") or {})
    return cls.restored(fields)
