"""A message whose words were taken away: what is left of it, and how to know it (C-16)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kesoku.messages.content import CallContent, Content, ResultContent
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.message import Message
from kesoku.messages.source import ModelSource, Source

REDACTED = "[redacted]"
"""What stands where words stood."""
_MARK = "redacted"
_ORIGIN = "clone_from"


def redacted(message: Message) -> Message:
    """The next version of a message, without its words, files and metadata: who said it, when, and of what it is the
    copy is left; of a call the tool, of a result whether the tool worked."""
    kept = {_ORIGIN: message.metadata[_ORIGIN]} if _ORIGIN in message.metadata else {}
    return replace(
        message,
        content=_emptied(message.content),
        source=_unsealed(message.source),
        metadata=FrozenDict({_MARK: True, **kept}),
        version=message.version + 1,
    )


def without_arguments(result: Message) -> Message:
    """The next version of a result that does not repeat the arguments of its call."""
    return replace(result, content=replace(result.content, arguments=EMPTY), version=result.version + 1)


def is_redacted(message: Message) -> bool:
    """Whether the words of a message were taken away, and none was put there since."""
    return message.metadata.get(_MARK) is True and bool(message.content == _emptied(message.content))


def _emptied(content: Any) -> Any:
    match content:
        case CallContent():
            return replace(content, arguments=EMPTY)
        case ResultContent(error=None):
            return replace(content, output=REDACTED, summary=REDACTED, attachments=())
        case ResultContent():
            return replace(content, output=None, error=REDACTED, summary=REDACTED, attachments=())
        case Content():
            made: Any = content.__class__
            return made(text=REDACTED)
        case Mapping():
            return FrozenDict(text=REDACTED)
    return REDACTED


def _unsealed(source: Source) -> Source:
    """Without what a provider gave along with the words, which only it can read."""
    return replace(source, replay_state=None) if isinstance(source, ModelSource) else source
