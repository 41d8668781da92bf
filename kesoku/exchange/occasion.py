"""One id for one occasion: what is done again after a crash makes the same child, and sends the same letter."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

from kesoku.messages.freeze import EMPTY
from kesoku.messages.message import Message
from kesoku.messages.source import RelaySource

_SPACE = UUID("1a0f2f4e-6f1f-5c6b-8f57-7d5f3c1e9b42")


def derived_id(text: str) -> str:
    """One id for one occasion, whoever comes to it and however often."""
    return str(uuid5(_SPACE, text))


def letter(
    cause: str,
    *,
    at: int,
    sender: UUID,
    recipient: Any,
    content: Any,
    channel: str | None,
    metadata: Mapping[str, Any] = EMPTY,
) -> Message:
    """The mail that is sent because of `cause`, a message's id or another text, at `at` microseconds."""
    return Message.restore(
        id=derived_id(cause),
        created_at=at / 1_000_000,
        source=RelaySource(),
        content=content,
        sender=sender,
        recipient=recipient,
        channel=channel,
        metadata=metadata,
    )
