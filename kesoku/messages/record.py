"""A message and where it stands, and the flat row of seed 004 section 6 (decision C-11)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict, defaults_of, thaw
from kesoku.messages.kinds import category_of
from kesoku.messages.message import Message
from kesoku.messages.rows import kind_of_row

EVERY_CHANNEL = "*"
"""The channel_id that stands for all channels of a bot."""

Mode = Literal["followup", "steer", "inject"]
"""How a prompt meets a running turn: it waits for a turn of its own, joins at the next step, or joins and wakes nobody
(C-42)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place on a platform: which bot, and which chat, room or thread of it."""

    chatbot_id: str
    channel_id: str

    @property
    def whole(self) -> "Address":
        """All channels of this bot."""
        return replace(self, channel_id=EVERY_CHANNEL)

    def __str__(self) -> str:
        return f"{self.chatbot_id}:{self.channel_id}"


SYSTEM_ADDRESS = Address(chatbot_id="system", channel_id="system")
"""Where virtual entries such as the shown system prompt live (K-049, K-123)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message on its way into the store: what is said, and where it belongs.

    `session_id` None means the session that the address is bound to, made if there is none. `status` None means the
    first status of the message's category. `keys` are platform ids that must map to one message only (N-07).
    """

    message: Message
    address: Address
    session_id: str | None = None
    parent_id: str | None = None
    turn_id: str | None = None
    round: int = 0
    status: MessageStatus | None = None
    keys: tuple[str, ...] = ()
    mode: Mode = "followup"

    @property
    def first_status(self) -> MessageStatus:
        """The status in which the record starts."""
        return category_of(self.message).status if self.status is None else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A stored message with its placement and status. `seq` is the order of commits, `session_n` dense in a session.

    `turn_id` is the id of the prompt that opened the turn, `round` counts the model steps of it from 1. `facts` are
    things known about the message that it does not say itself, such as `turn_metrics` of an answer (C-08).
    """

    message: Message
    address: Address
    session_id: str
    status: MessageStatus
    seq: int = 0
    session_n: int = 0
    parent_id: str | None = None
    turn_id: str | None = None
    round: int = 0
    mode: Mode = "followup"
    superseded_turn: str | None = None
    superseded_by: str | None = None
    facts: FrozenDict = EMPTY

    @property
    def id(self) -> str:
        """The message's id."""
        return self.message.id

    @property
    def kind(self) -> str:
        """The message's kind."""
        return self.message.kind

    @property
    def is_damaged(self) -> bool:
        """Whether the stored message could not be read, and a notice stands in for it."""
        return "damaged" in self.facts

    def beside(self, message: Message) -> Post:
        """A post at this record's place: what is said about a message goes where the message came from."""
        return Post(message=message, address=self.address, session_id=self.session_id, parent_id=self.id)

    @property
    def metadata(self) -> dict[str, Any]:
        """The documented metadata cell, composed from source, content and facts (C-08)."""
        composed = _METADATA.get(self.kind, _no_cells)(self.message)
        return {**composed, **thaw(self.message.metadata), **thaw(self.facts)}

    def to_row(self) -> dict[str, Any]:
        """The flat row of seed 004 section 6; what is not default goes under `envelope`."""
        message = self.message
        row: dict[str, Any] = {
            "id": message.id,
            "session_id": self.session_id,
            "parent_id": self.parent_id,
            "chatbot_id": self.address.chatbot_id,
            "channel_id": self.address.channel_id,
            "sender": message.author,
            "role": message.role.value,
            "type": message.type.value if message.type else None,
            "content": message.text,
            "status": self.status.value,
            "metadata": self.metadata or None,
        }
        row = {key: value for key, value in row.items() if value is not None}
        envelope = _envelope(message, row)
        return row | {"envelope": envelope} if envelope else row

    def to_dict(self) -> dict[str, Any]:
        """The complete JSON form, for exports and machine-readable output."""
        return {
            **self.message.to_dict(),
            "seq": self.seq,
            "session_id": self.session_id,
            "session_n": self.session_n,
            "chatbot_id": self.address.chatbot_id,
            "channel_id": self.address.channel_id,
            "parent_id": self.parent_id,
            "turn_id": self.turn_id,
            "round": self.round,
            "status": self.status.value,
            "facts": thaw(self.facts),
        }


def _envelope(message: Message, row: Mapping[str, Any]) -> dict[str, Any]:
    envelope: dict[str, Any] = {}
    cls: Any = message.__class__
    usual = defaults_of(cls)
    if message.sender != usual["sender"]:
        envelope["sender"] = message.sender.to_json()
    if message.recipient != usual["recipient"]:
        envelope["recipient"] = message.recipient.to_json()
    if message.channel is not None:
        envelope["channel"] = message.channel
    if message.version != _first_version(message):
        envelope["version"] = message.version
    if kind_of_row(row) != (message.kind, message.source.kind):
        envelope["kind"] = message.kind
        envelope["source"] = message.source.to_dict()
    if getattr(message.content, "is_typed", False):
        envelope["content"] = message.content.to_dict()
    return envelope


def _first_version(message: Message) -> int:
    """1, and 2 for a call with a result: the link to it is a version, but nothing that was said (C-02)."""
    return 2 if getattr(message.content, "response_id", None) else 1


def _no_cells(_: Message) -> dict[str, Any]:
    return {}


def _prompt_cells(message: Message) -> dict[str, Any]:
    source: Any = message.source
    cells: dict[str, Any] = {}
    if source.kind == "user":
        cells |= thaw(source.platform_ids)
    elif source.kind == "cron":
        cells |= {"is_cronjob": True, **thaw(source.marks)}
    elif source.kind == "command":
        cells |= {f"is_{'compaction' if source.command == 'compact' else source.command}": True}
    if message.content.attachments:
        cells["attachments"] = [each.to_dict() for each in message.content.attachments]
    return cells


def _call_cells(message: Message) -> dict[str, Any]:
    return {"tool_name": message.content.tool, "tool_arguments": thaw(message.content.arguments)}


def _result_cells(message: Message) -> dict[str, Any]:
    return {"tool_name": message.content.tool, "tool_result": message.content.summary}


_METADATA = {"user_prompt": _prompt_cells, "tool_call": _call_cells, "tool_result": _result_cells}
