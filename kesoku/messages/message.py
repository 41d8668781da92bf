"""The one message value: identified, deep-frozen, with its role fixed by its class (seeds 000 and 002).

There are exactly two ways to get one. `create` mints the id and the time, and refuses an id; `restore` keeps both and
is what import, the database and tests use. Whatever changes how a message is represented keeps its id and raises
`version`; whatever says something new is a new message.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Self

import uuid_utils

from kesoku.errors import IdentityGiven, IdentityMissing, KindFixed
from kesoku.messages.content import Content
from kesoku.messages.enums import MessageRole, MessageType
from kesoku.messages.field_type import checked, mistyped
from kesoku.messages.freeze import EMPTY, FrozenDict, current_fields, freeze, thaw
from kesoku.messages.image import in_words
from kesoku.messages.party import BROADCAST, UNADDRESSED, Broadcast, Direct, Party, party
from kesoku.messages.source import SOURCES, Source

MessageId = str
"""Opaque: nothing is read from it. One type for messages of every class (D-013)."""
ContentClass = type[Content]
"""Named here, because in the body of a message's class `type` is that of the message."""

_IDENTITY = frozenset(("id", "created_at", "version"))
_FIXED = ("kind", "role", "type")
_CHECKED = ("id", "created_at", "source", "channel", "author", "version")
"""Fields that are kept as they are given; the others are made into what they must be."""
_SOURCE_CLASSES = frozenset(SOURCES.values())
_PLAIN = object()
"""Of content that does not render itself."""
_MICROSECOND, _SECOND = 1_000, 1_000_000


def mint_id() -> MessageId:
    """A new message id: opaque text that happens to sort by time, so that indexes stay local (N-08)."""
    return str(uuid_utils.uuid7())


def timestamp() -> float:
    """Now, in Unix seconds at microsecond precision, so that it survives the database unchanged."""
    return time.time_ns() // _MICROSECOND / _SECOND


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Message:
    """A frozen message. Equality and hash go by (id, version); `same_content` compares what was said (C-38)."""

    kind: ClassVar[str] = "message"
    role: ClassVar[MessageRole] = MessageRole.UNSET
    type: ClassVar[MessageType | None] = None
    content_class: ClassVar[ContentClass | None] = None

    id: str
    created_at: float
    content: Any = None
    source: Source
    sender: Party = UNADDRESSED
    recipient: Party = UNADDRESSED
    channel: str | None = None
    author: str = ""
    metadata: FrozenDict = EMPTY
    version: int = 1

    @classmethod
    def create(cls, *, source: Source, content: Any = None, **fields: Any) -> Self:
        """A new message with a fresh id.

        Raises:
            IdentityGiven: an id, time or version was passed; creation is not import (D-004).
            InvalidParty: sender or recipient is nothing that can be addressed.
            TypeError: content that the class does not take, or an unknown field of the message or its content.
        """
        if cls.content_class is not None and isinstance(content, Mapping):
            cls.content_class.admit(content)
        if fields:
            if not _IDENTITY.isdisjoint(fields):
                raise IdentityGiven(kind=cls.kind)
            fields.pop("role", None)
        return cls(id=mint_id(), created_at=timestamp(), source=source, content=content, **fields)

    @classmethod
    def restore(cls, *, id: MessageId, source: Source, **fields: Any) -> Self:  # noqa: A002
        """A message that already has an identity: from the database, an import, a fixture (D-020..D-024).

        A `role` among the fields is dropped: the class decides (L-005). Without `created_at` it is now.

        Raises as `create` does, and IdentityMissing for an empty id.
        """
        return cls.restored({**fields, "id": id, "source": source})

    @classmethod
    def restored(cls, fields: dict[str, Any]) -> Self:
        """The same of a dict, which is used up: the quick way for whoever has one."""
        if not fields["id"]:
            raise IdentityMissing(kind=cls.kind)
        fields.pop("role", None)
        if "created_at" not in fields:
            fields["created_at"] = timestamp()
        return cls(**fields)

    @classmethod
    def _typed(cls, content: Any) -> Any:
        wanted = cls.content_class
        if type(content) is wanted:
            return content
        if wanted is None:
            return freeze(content)
        if content is None:
            return wanted()
        if type(content) is dict or isinstance(content, Mapping):
            return wanted.from_dict(content)
        raise mistyped(cls, "content", content, wanted, dict, NoneType)

    def __post_init__(self) -> None:
        """Bring what was given into the form in which it is kept, however the value was made, and refuse the rest."""
        cls: Any = self.__class__
        if type(self.content) is not cls.content_class and self.content is not (kept := cls._typed(self.content)):
            object.__setattr__(self, "content", kept)
        if type(self.metadata) is not FrozenDict:
            object.__setattr__(self, "metadata", _cells(cls, self.metadata))
        if (kept := party(self.sender)) is not self.sender:
            object.__setattr__(self, "sender", kept)
        if (kept := party(self.recipient)) is not self.recipient:
            object.__setattr__(self, "recipient", kept)
        if not self._is_plain():
            for name in _CHECKED:
                checked(cls, name, getattr(self, name))

    def _is_plain(self) -> bool:
        """Whether every field is of the very type that it should be, which is told quickly."""
        return (
            type(self.id) is str
            and type(self.created_at) is float
            and type(self.source) in _SOURCE_CLASSES
            and (self.channel is None or type(self.channel) is str)
            and type(self.author) is str
            and type(self.version) is int
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.id, self.version) == (other.id, other.version)

    def __hash__(self) -> int:
        return hash((self.id, self.version))

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def rendered(self) -> Any:
        """What the content renders, a list of parts if it holds images; else its `str`, '' for None (L-032..L-034)."""
        if self.content is None:
            return ""
        rendered = getattr(self.content, "rendered", _PLAIN)
        return str(self.content) if rendered is _PLAIN else rendered

    @property
    def text(self) -> str:
        """The same as one text, for people and for models that read text: images are named in lines of their own."""
        return in_words(self.rendered)

    @property
    def chat_msg(self) -> dict[str, Any] | None:
        """The role and what is rendered, as chat models commonly take it; None if it cannot be rendered."""
        try:
            return {"role": str(self.role), "content": self.rendered}
        except Exception:  # noqa: BLE001 - the content of a base message is somebody else's object
            return None

    @property
    def is_turn(self) -> bool:
        """Whether this is a turn of a conversation with a model; without a role it can only be routed (L-043)."""
        return self.role is not MessageRole.UNSET

    @property
    def is_broadcast(self) -> bool:
        """Whether this goes to everyone but the sender."""
        return isinstance(self.recipient, Broadcast)

    @property
    def is_direct(self) -> bool:
        """Whether this goes to the owner of one mailbox."""
        return isinstance(self.recipient, Direct)

    @property
    def user_id(self) -> str | None:
        """The platform's id of the person who said it, if a person did and the platform has one."""
        return getattr(self.source, "user_id", None)

    def update(self, *, sender: Any = None, recipient: Any = None, **content: Any) -> Self:
        """The same message, said differently: same id, next version (R-1, C-01).

        A falsy sender or recipient keeps the old one, and so does Broadcast, which stands for None. `content` takes the
        place of the whole content; the other names are fields of it, and one that is set to None is set to None.

        Raises:
            KindFixed: kind, role or type; that would be another message (D-033).
            TypeError: content that the class does not take, or a field that it lacks.
        """
        changes: dict[str, Any] = {"version": self.version + 1}
        for side, value in (("sender", sender), ("recipient", recipient)):
            if value and value != BROADCAST:
                changes[side] = party(value)
        if content:
            changes["content"] = self._rebuilt(content)
        return self._changed(changes)

    def _rebuilt(self, fields: dict[str, Any]) -> Any:
        for fixed in _FIXED:
            if fixed in fields:
                raise KindFixed(kind=self.kind, field=fixed)
        whole = self._typed(fields.pop("content")) if "content" in fields else self.content
        if not fields:
            return whole
        if isinstance(whole, Content):
            return whole.updated(fields)
        if isinstance(whole, Mapping):
            return FrozenDict({**whole, **fields})
        raise TypeError(f"the content of this {self.kind} has no fields; pass content= to replace all of it")

    def with_sender(self, value: Any) -> Self:
        """The next version with exactly this sender, None included."""
        return self._changed({"sender": party(value), "version": self.version + 1})

    def with_recipient(self, value: Any) -> Self:
        """The next version with exactly this recipient, None included."""
        return self._changed({"recipient": party(value), "version": self.version + 1})

    def clone(self) -> Self:
        """A new message with the same class and content; `metadata.clone_from` names the origin (L-041)."""
        metadata = FrozenDict({**self.metadata, "clone_from": self.id})
        return self._changed({"id": mint_id(), "created_at": timestamp(), "metadata": metadata, "version": 1})

    def _changed(self, changes: Mapping[str, Any]) -> Self:
        return self.__class__(**{**current_fields(self), **changes})

    def to_dict(self) -> dict[str, Any]:
        """The complete JSON form; `role` and `type` are derived data, ignored when read back (L-008, L-009)."""
        content = thaw(self.content) if self.content_class is None else self.content.to_dict()
        return {
            "id": self.id,
            "created_at": self.created_at,
            "kind": self.kind,
            "role": str(self.role),
            "type": str(self.type) if self.type else None,
            "content": content,
            "source": self.source.to_dict(),
            "sender": self.sender.to_json(),
            "recipient": self.recipient.to_json(),
            "channel": self.channel,
            "author": self.author,
            "metadata": thaw(self.metadata),
            "version": self.version,
        }


def _cells(cls: type[Message], metadata: Any) -> FrozenDict:
    if metadata is None or (type(metadata) is dict and not metadata):
        return EMPTY
    if not isinstance(metadata, Mapping):
        raise mistyped(cls, "metadata", metadata, dict)
    return FrozenDict(metadata)


def same_content(one: Message, other: Message) -> bool:
    """Whether two messages of one kind say the same, whoever they are."""
    return one.kind == other.kind and bool(one.content == other.content)
