"""Gateway sessions: what each wants to hear, what it heard, and what it missed."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from kesoku.testing.discord.rules import Rules
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world.entity import Channel, Guild, Json
from kesoku.testing.discord.world.permission import VIEW_CHANNEL, may
from kesoku.testing.discord.world.world import World

GUILDS, MEMBERS, MODERATION, PRESENCES, MESSAGE_CONTENT = 1 << 0, 1 << 1, 1 << 2, 1 << 8, 1 << 15
GUILD_MESSAGES, GUILD_REACTIONS, GUILD_TYPING = 1 << 9, 1 << 10, 1 << 11
DIRECT_MESSAGES, DIRECT_REACTIONS, DIRECT_TYPING = 1 << 12, 1 << 13, 1 << 14
PRIVILEGED = MEMBERS | PRESENCES | MESSAGE_CONTENT
KNOWN = (1 << 17) - 1 | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25
_INTENTS = {
    "MESSAGE_CREATE": (GUILD_MESSAGES, DIRECT_MESSAGES),
    "MESSAGE_UPDATE": (GUILD_MESSAGES, DIRECT_MESSAGES),
    "MESSAGE_DELETE": (GUILD_MESSAGES, DIRECT_MESSAGES),
    "MESSAGE_DELETE_BULK": (GUILD_MESSAGES, GUILD_MESSAGES),
    "MESSAGE_REACTION_ADD": (GUILD_REACTIONS, DIRECT_REACTIONS),
    "MESSAGE_REACTION_REMOVE": (GUILD_REACTIONS, DIRECT_REACTIONS),
    "TYPING_START": (GUILD_TYPING, DIRECT_TYPING),
    "GUILD_MEMBER_ADD": (MEMBERS, MEMBERS),
    "GUILD_MEMBER_UPDATE": (MEMBERS, MEMBERS),
    "GUILD_MEMBER_REMOVE": (MEMBERS, MEMBERS),
    "GUILD_BAN_ADD": (MODERATION, MODERATION),
    "INTERACTION_CREATE": (0, 0),
}
_FOR_EVERYBODY = {
    *("GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"),
    *("GUILD_BAN_ADD", "INTERACTION_CREATE"),
}
_FOR_VIEWERS = frozenset(_INTENTS) - _FOR_EVERYBODY | {"THREAD_CREATE", "THREAD_UPDATE"}
_HIDDEN: Json = {"content": "", "attachments": [], "embeds": [], "components": []}


class Line(Protocol):
    """A connection that a session speaks over."""

    def push(self, frame: Json) -> None:
        """Send a frame after those before it."""
        ...


@dataclass(eq=False, slots=True, kw_only=True)
class Session:
    """One session of the bot."""

    id: str
    intents: int
    shard: tuple[int, int] = (0, 1)
    sequence: int = 0
    sent: list[Json] = field(default_factory=list)
    """Everything since the beginning, also what was missed."""
    line: Line | None = None
    """None while it is not connected."""
    resumable: bool = True

    def tell(self, name: str, data: Json) -> None:
        """Number an event, keep it, and send it if somebody listens."""
        self.sequence += 1
        frame = {"op": 0, "t": name, "s": self.sequence, "d": data}
        self.sent.append(frame)
        if self.line is not None:
            self.line.push(frame)

    def missed(self, sequence: int) -> Iterator[Json]:
        """The frames after a number."""
        return (frame for frame in self.sent if frame["s"] > sequence)

    def has(self, guild: Guild | None) -> bool:
        """Whether the guild, or direct messages, are told on this shard."""
        number, count = self.shard
        return (0 if guild is None else (guild.id >> 22) % count) == number


class Sessions:
    """All sessions. `emit` is what the world calls."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.known: dict[str, Session] = {}
        self.identifies = self.resumes = 0
        self.acknowledges = True
        """Whether heartbeats are answered."""

    def begin(self, world: World, line: Line, *, intents: int, shard: tuple[int, int]) -> Session:
        """A new session: READY and the guilds."""
        self.identifies += 1
        session = Session(id=secrets.token_hex(16), intents=intents, shard=shard, line=line)
        self.known[session.id] = session
        guilds = [each for each in world.guilds.values() if world.bot.id in each.members and session.has(each)]
        ready: Json = {
            "v": 10,
            "user": {**wire_entity.user(world.bot), "mfa_enabled": False, "verified": True, "email": None},
            "guilds": [{"id": str(each.id), "unavailable": True} for each in guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self._rules.gateway_url,
            "private_channels": [],
            "relationships": [],
            "shard": list(shard),
            "application": {"id": str(world.application_id), "flags": 0},
        }
        session.tell("READY", ready)
        if intents & GUILDS:
            for guild in guilds:
                session.tell("GUILD_CREATE", wire_entity.guild_create(world, guild))
        return session

    def find(self, session_id: str) -> Session | None:
        """A session that can be resumed."""
        found = self.known.get(session_id)
        return found if found is not None and found.resumable else None

    def forget(self) -> None:
        """No session can be resumed any more; those that are connected go on."""
        for session in list(self.known.values()):
            session.resumable = False
            self.left(session, over=False)

    def left(self, session: Session, *, over: bool) -> None:
        """The connection of a session has ended; with `over` the session has, too."""
        if over or (session.line is None and not session.resumable):
            self.known.pop(session.id, None)

    def resume(self, session: Session, line: Line, sequence: int) -> None:
        """Send what was missed, and RESUMED."""
        self.resumes += 1
        session.line = None
        for frame in session.missed(sequence):
            line.push(frame)
        session.line = line
        session.tell("RESUMED", {})

    def emit(self, world: World, name: str, data: Json, *, channel: Channel | None, guild: Guild | None) -> None:
        """Tell an event to the sessions that want it and may hear it."""
        guild = channel.guild if channel is not None else guild
        if channel is not None and name in _FOR_VIEWERS and not may(world, channel, VIEW_CHANNEL):
            return
        of_guild, of_direct = _INTENTS.get(name, (GUILDS, 0))
        needed = of_guild if guild is not None else of_direct
        if name == "GUILD_MEMBER_UPDATE" and data["user"]["id"] == str(world.bot.id):
            needed = 0
        for session in list(self.known.values()):
            if session.has(guild) and session.intents & needed == needed:
                session.tell(name, _shown(world, session, name, data))


def _shown(world: World, session: Session, name: str, data: Json) -> Json:
    """The event as this session may see it: without MESSAGE_CONTENT most messages come empty."""
    if session.intents & MESSAGE_CONTENT or name not in {"MESSAGE_CREATE", "MESSAGE_UPDATE"}:
        return data
    if "guild_id" not in data:
        return data
    shown = _bared(data, str(world.bot.id))
    if answered := shown.get("referenced_message"):
        shown = {**shown, "referenced_message": _bared(answered, str(world.bot.id))}
    return shown


def _bared(message: Json, me: str) -> Json:
    """Without its content, unless it is by the bot or mentions it."""
    told = any(each["id"] == me for each in message["mentions"])
    if told or message["author"]["id"] == me:
        return message
    return {name: value for name, value in {**message, **_HIDDEN}.items() if name != "poll"}


def intents_of(value: Any) -> int | None:
    """The intents as a number; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and not value & ~KNOWN else None
