"""Messages by role and source, for who speaks that vocabulary (D-001..D-024).

The helpers return the very classes of `kinds`: there is no second shape of a message. All but `freeze_message` mint
the id and refuse one; `freeze_message` is the way for a message that has its identity already.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from kesoku.errors import IdentityMissing, KindFixed, UnknownKind
from kesoku.messages.content_block import result_content, said_in_blocks
from kesoku.messages.enums import MessageRole, MessageType
from kesoku.messages.freeze import current_fields
from kesoku.messages.kinds import (
    CATEGORIES,
    FURTHER_CATEGORIES,
    KINDS,
    Answer,
    ToolResult,
    UserPrompt,
    category,
    message_from_dict,
)
from kesoku.messages.message import Message, MessageId
from kesoku.messages.source import ModelSource, Source, ToolSource, source_from_dict

M = TypeVar("M", bound=Message)

_CLASSES: dict[tuple[MessageRole, str], type[Message]] = {
    (KINDS[kind].role, source): KINDS[kind]
    for kind, source in (*CATEGORIES, *FURTHER_CATEGORIES)
    if KINDS[kind].type is not MessageType.THOUGHT
}
"""What a message of this role from this source is; a thought is made by its own maker."""


def create_message(
    *, role: MessageRole | str, content: Any, source: Source | Mapping[str, Any], **more: Any
) -> Message:
    """A new message of the class that role and source name; without a role (`unset`) a base message.

    `content` is text, a list of blocks such as {"type": "text", "text": "hi"}, a content, or the plain dict of one.
    `more` are sender, recipient, channel, author, metadata.

    Raises:
        IdentityGiven: an id, time or version was passed; creation is not import.
        UnknownKind: nothing of this role comes from this source.
        TypeError: content or a field that the message does not take.
    """
    said = source if isinstance(source, Source) else source_from_dict(source)
    return _created(_class_of(MessageRole(role), said), content, said, more)


def create_user_message(*, content: Any, source: Source | Mapping[str, Any], **more: Any) -> UserPrompt:
    """A new prompt of a person, a schedule or a command. Raises as `create_message` does; KindFixed for a role."""
    said = source if isinstance(source, Source) else source_from_dict(source)
    category(UserPrompt.kind, said.kind)
    return _created(UserPrompt, content, said, more)


def create_assistant_message(
    *, content: Any, provider: str, model: str, replay_state: Any = None, **more: Any
) -> Answer:
    """A new answer of a model. `replay_state` is opaque and goes back to that provider only.

    Raises as `create_message` does; KindFixed for a role, kind or source.
    """
    source = ModelSource(provider=provider, model=model, replay_state=replay_state)
    return _created(Answer, content, source, more)


def create_tool_result_message(
    *, call_id: MessageId, content: Any, is_error: bool = False, tool: str = "", **more: Any
) -> ToolResult:
    """A new result of the call `call_id`: of an error `content` is what went wrong.

    The call does not learn of it; `make.respond` links both ways. Raises as `create_message` does.
    """
    said = result_content(content, call_id=call_id, is_error=is_error, tool=tool)
    return _created(ToolResult, said, ToolSource(call_id=call_id), {"author": tool, **more})


def freeze_message(message: Message | Mapping[str, Any]) -> Message:
    """A message that has its id already, detached and frozen to the bottom; nothing is minted.

    A mapping names its class by `kind`, or by role and source.

    Raises:
        IdentityMissing: there is no id; to make a new message create it.
        UnknownKind: kind, source, or role and source name no class.
    """
    if isinstance(message, Message):
        return message.__class__.restore(**current_fields(message))
    data = dict(message)
    if not data.get("id"):
        raise IdentityMissing(kind=str(data.get("kind", Message.kind)))
    if "kind" in data:
        return message_from_dict(data)
    source = data.get("source") or {}
    said = source if isinstance(source, Source) else source_from_dict(source)
    cls = _class_of(MessageRole(data.get("role", MessageRole.UNSET)), said)
    rest = {key: value for key, value in data.items() if key not in ("role", "type", "source", "content")}
    return cls.restore(**rest, source=said, content=_content(cls, data.get("content"), said))


def _class_of(role: MessageRole, source: Source) -> type[Message]:
    if role is MessageRole.UNSET:
        return Message
    found = _CLASSES.get((role, source.kind))
    if found is None:
        valid = tuple("/".join(key) for key in _CLASSES)
        raise UnknownKind(what="message", kind=f"{role}/{source.kind}", valid=valid)
    return found


def _created(cls: type[M], content: Any, source: Source, more: dict[str, Any]) -> M:
    for fixed in ("role", "kind", "type", "source"):
        if fixed in more:
            raise KindFixed(kind=cls.kind, field=fixed)
    if "author" not in more and cls.type is not None:
        more["author"] = category(cls.kind, source.kind).author or ""
    return cls.create(source=source, content=_content(cls, content, source), **more)


def _content(cls: type[Message], content: Any, source: Source) -> Any:
    if cls.content_class is None or isinstance(content, cls.content_class):
        return content
    if cls is ToolResult and isinstance(source, ToolSource) and not isinstance(content, Mapping):
        return result_content(content, call_id=source.call_id)
    return said_in_blocks(content)
