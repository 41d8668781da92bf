"""The things on a loopback Discord: users, guilds, channels, messages. Changed in place, seen by tests."""

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Any

from kesoku.testing.discord.world.snowflake import seconds_of

Json = dict[str, Any]


class Kind(IntEnum):
    """Kinds of channels."""

    TEXT = 0
    DIRECT = 1
    VOICE = 2
    CATEGORY = 4
    NEWS = 5
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15
    MEDIA = 16
    FUTURE = 200
    """One that no library knows yet."""

    @property
    def has_posts(self) -> bool:
        """Whether it holds threads only, whose first messages have their ids, and no messages of its own."""
        return self in {Kind.FORUM, Kind.MEDIA}

    @property
    def is_thread(self) -> bool:
        """Whether it belongs to a channel."""
        return self in {Kind.PUBLIC_THREAD, Kind.PRIVATE_THREAD}


class Flag(IntFlag):
    """Flags of messages."""

    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SILENT = 1 << 12
    VOICE = 1 << 13
    SNAPSHOT = 1 << 14
    COMPONENTS_V2 = 1 << 15


class MessageType(IntEnum):
    """Kinds of messages."""

    DEFAULT = 0
    NAME_CHANGE = 4
    PIN = 6
    JOIN = 7
    BOOST = 8
    THREAD_CREATED = 18
    REPLY = 19
    COMMAND = 20
    THREAD_STARTER = 21
    POLL_RESULT = 46
    FUTURE = 200
    """One that no library knows yet."""

    @property
    def is_system(self) -> bool:
        """Whether Discord itself writes it."""
        return self not in {MessageType.DEFAULT, MessageType.REPLY, MessageType.COMMAND}


@dataclass(eq=False, slots=True, kw_only=True)
class User:
    """A person, a bot, or a webhook."""

    id: int
    name: str
    """The one that is shown."""
    username: str
    bot: bool = False
    webhook: bool = False
    accepts_direct: bool = True
    """Whether the bot may write to this user directly."""


@dataclass(eq=False, slots=True, kw_only=True)
class Role:
    """A role of a guild."""

    id: int
    name: str
    permissions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """What a role or member may and may not do in one channel, as bits."""

    allow: int = 0
    deny: int = 0
    of_member: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Member:
    """A user in a guild."""

    user: User
    nick: str | None = None
    roles: list[Role] = field(default_factory=list)


@dataclass(eq=False, slots=True, kw_only=True)
class Guild:
    """A server."""

    id: int
    name: str
    owner: User
    everyone: Role
    roles: dict[int, Role] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict, repr=False)


@dataclass(eq=False, slots=True, kw_only=True)
class Channel:
    """A channel of a guild, a thread, or a talk between two."""

    id: int
    name: str
    kind: Kind = Kind.TEXT
    guild: Guild | None = field(default=None, repr=False)
    parent: "Channel | None" = field(default=None, repr=False)
    """Of a thread the channel, of a channel the category."""
    recipient: User | None = None
    owner: User | None = None
    """Who made the thread."""
    overwrites: dict[int, Overwrite] = field(default_factory=dict)
    messages: list["Message"] = field(default_factory=list, repr=False)
    """All of them, in order; deleted ones and those for one person only, too."""
    typing: list[float] = field(default_factory=list)
    """When the bot typed, in seconds of the server's clock."""
    archived: bool = False
    locked: bool = False
    auto_archive_minutes: int = 1440
    topic: str | None = None
    slowmode: int = 0
    """Seconds that people wait between two messages; bots do not."""
    deleted: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Attachment:
    """A file of a message."""

    id: int
    name: str
    data: bytes = field(repr=False)
    content_type: str
    url: str
    description: str | None = None
    duration: float | None = None
    waveform: str | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Message:
    """A message as it is now."""

    id: int
    channel: Channel = field(repr=False)
    author: User
    content: str = ""
    type: MessageType = MessageType.DEFAULT
    flags: int = 0
    nonce: str | int | None = None
    attachments: list[Attachment] = field(default_factory=list)
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    reply_to: int | None = None
    """The message that this one answers."""
    reference: Json | None = None
    mentions: list[User] = field(default_factory=list)
    """The users who were told of it."""
    mention_roles: list[int] = field(default_factory=list)
    mention_everyone: bool = False
    poll: Json | None = None
    stickers: list[Json] = field(default_factory=list)
    snapshots: list[Json] = field(default_factory=list)
    """What it forwards."""
    reactions: dict[str, list[int]] = field(default_factory=dict)
    """Users by emoji."""
    edits: list[str] = field(default_factory=list)
    """The content after each edit."""
    edited_at: list[float] = field(default_factory=list)
    """When these edits were, in seconds of the server's clock."""
    thread: Channel | None = None
    interaction: Json | None = field(default=None, repr=False)
    """`interaction_metadata` of an answer to one."""
    deleted: bool = False

    @property
    def author_id(self) -> int:
        """Whose message it is."""
        return self.author.id

    @property
    def ephemeral(self) -> bool:
        """Whether one person only sees it."""
        return bool(self.flags & Flag.EPHEMERAL)

    @property
    def at(self) -> float:
        """When it was made, in seconds of the epoch."""
        return seconds_of(self.id)
