"""The one message value: identified, deep-frozen, with its role fixed by its class (seeds 000 and 002).

There are exactly two ways to get one. `create` mints the id and the time, and refuses an id; `restore` keeps both and
is what import, the database and tests use. Whatever changes how a message is represented keeps its id and raises
`version`; whatever says something new is a new message.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import uuid_utils

from kesoku.errors import IdentityGiven, IdentityMissing
from kesoku.messages.content import Content
from kesoku.messages.enums import MessageRole, MessageType
from kesoku.messages.freeze import EMPTY, FrozenDict, freeze, thaw
from kesoku.messages.party import UNADDRESSED, Broadcast, Direct, Party, party
from kesoku.messages.source import Source

ContentClass = type[Content]
"""Named here, because in the body of a message's class `type` is that of the message."""


def mint_id() -> str:
    """A new message id: opaque text that happens to sort by time, so that indexes stay local (N-08)."""
    return str(uuid_utils.uuid7())


def timestamp() -> float:
    """Now, in Unix seconds at microsecond precision, so that it survives the database unchanged."""
    return round(time.time(), 6)


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
            TypeError: content that the class does not take, or an unknown field.
        """
        if fields.keys() & {"id", "created_at", "version"}:
            raise IdentityGiven(kind=cls.kind)
        return cls.restore(id=mint_id(), created_at=timestamp(), source=source, content=content, **fields)

    @classmethod
    def restore(cls, *, id: str, source: Source, **fields: Any) -> Self:  # noqa: A002
        """A message that already has an identity: from the database, an import, a fixture (D-020..D-024).

        A `role` among the fields is dropped: the class decides (L-005).
        """
        if not id:
            raise IdentityMissing(kind=cls.kind)
        fields.pop("role", None)
        fields.setdefault("created_at", timestamp())
        for side in ("sender", "recipient"):
            if side in fields:
                fields[side] = party(fields[side])
        fields["metadata"] = freeze(fields.get("metadata") or EMPTY)
        fields["content"] = cls._typed(fields.get("content"))
        return cls(id=id, source=source, **fields)

    @classmethod
    def _typed(cls, content: Any) -> Any:
        wanted = cls.content_class
        if wanted is None:
            return freeze(content)
        if content is None:
            return wanted()
        if isinstance(content, wanted):
            return content
        if isinstance(content, Mapping):
            return wanted.from_dict(dict(content))
        raise TypeError(f"{cls.__name__} takes {wanted.__name__}, a mapping or None, not {type(content).__name__}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.id, self.version) == (other.id, other.version)

    def __hash__(self) -> int:
        return hash((self.id, self.version))

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def rendered(self) -> str:
        """The text form: what the content renders, else its `str`, '' for None (L-032..L-034)."""
        rendered = getattr(self.content, "rendered", self.content)
        return "" if rendered is None else str(rendered)

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

        A falsy sender or recipient keeps the old one. Fields of the content are rebuilt through its dict form; a field
        set to None is set to None.
        """
        changes: dict[str, Any] = {"version": self.version + 1}
        for side, value in (("sender", sender), ("recipient", recipient)):
            if value:
                changes[side] = party(value)
        if content:
            changes["content"] = self._typed(self.content.to_dict() | content)
        return replace(self, **changes)

    def with_sender(self, value: Any) -> Self:
        """The next version with exactly this sender, None included."""
        return replace(self, sender=party(value), version=self.version + 1)

    def with_recipient(self, value: Any) -> Self:
        """The next version with exactly this recipient, None included."""
        return replace(self, recipient=party(value), version=self.version + 1)

    def clone(self) -> Self:
        """A new message with the same class and content; `metadata.clone_from` names the origin (L-041)."""
        metadata = FrozenDict({**self.metadata, "clone_from": self.id})
        return replace(self, id=mint_id(), created_at=timestamp(), metadata=metadata, version=1)

    def to_dict(self) -> dict[str, Any]:
        """The complete JSON form; `role` and `type` are derived data, ignored when read back (L-008, L-009)."""
        content = self.content.to_dict() if isinstance(self.content, Content) else thaw(self.content)
        return {
            "id": self.id,
            "created_at": self.created_at,
            "kind": self.kind,
            "role": self.role.value,
            "type": self.type.value if self.type else None,
            "content": content,
            "source": self.source.to_dict(),
            "sender": self.sender.to_json(),
            "recipient": self.recipient.to_json(),
            "channel": self.channel,
            "author": self.author,
            "metadata": thaw(self.metadata),
            "version": self.version,
        }


def same_content(one: Message, other: Message) -> bool:
    """Whether two messages of one kind say the same, whoever they are."""
    return one.kind == other.kind and bool(one.content == other.content)
