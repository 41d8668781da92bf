"""Routes of channels and threads."""

from typing import Any

from kesoku.testing.discord.error import Faults, Rejected, unknown
from kesoku.testing.discord.request import NOTHING, Call, Reply, snowflake
from kesoku.testing.discord.rest.forum import published
from kesoku.testing.discord.rest.posting import changed, post, thread_changed
from kesoku.testing.discord.rest.revision import reference
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import Channel, Flag, Kind, Message, MessageType, User
from kesoku.testing.discord.world.world import World

_NAME = 100
_OLD = 60.0
"""Seconds after which a thread from a message is told in the channel, too; Discord does not say after how many."""
_MINUTES = (60, 1440, 4320, 10080)


class ChannelRoutes:
    """Channels, threads, typing."""

    def __init__(self, world: World) -> None:
        self._world = world

    def one(self, call: Call) -> Reply:
        """GET /channels/{}."""
        return Reply(body=wire_entity.channel(self._world, permission.viewed(self._world, call.id())))

    def typing(self, call: Call) -> Reply:
        """POST /channels/{}/typing."""
        channel = permission.viewed(self._world, call.id())
        permission.require(self._world, channel, permission.required_to_send(channel))
        channel.typing.append(self._world.now())
        return NOTHING

    def open_direct(self, call: Call) -> Reply:
        """POST /users/@me/channels."""
        user = self._world.users.get(snowflake(call.body.get("recipient_id"), "recipient_id"))
        if user is None:
            raise unknown("User")
        if user.bot or user.webhook:
            raise Rejected(400, 50007, "Cannot send messages to this user")
        return Reply(body=wire_entity.channel(self._world, direct(self._world, user)))

    def thread_from_message(self, call: Call) -> Reply:
        """POST /channels/{}/messages/{}/threads."""
        world = self._world
        channel = permission.viewed(world, call.id())
        message = world.message(channel, call.id(1))
        _check(call.body)
        if channel.kind not in {Kind.TEXT, Kind.NEWS} or message.type.is_system:
            raise Rejected(400, 50024, "Cannot execute action on this channel type")
        permission.require(world, channel, permission.CREATE_PUBLIC_THREADS)
        if message.thread is not None:
            raise Rejected(400, 160004, "A thread has already been created for this message")
        minutes = call.body.get("auto_archive_duration") or 1440
        thread = start(world, channel, call.body["name"], by=world.bot, message=message, minutes=minutes)
        return Reply(body=wire_entity.channel(world, thread), status=201)

    def thread(self, call: Call) -> Reply:
        """POST /channels/{}/threads."""
        world = self._world
        channel = permission.viewed(world, call.id())
        _check(call.body)
        if channel.kind.has_posts:
            return published(world, channel, call)
        kind = call.body.get("type", Kind.PRIVATE_THREAD)
        if channel.kind not in {Kind.TEXT, Kind.NEWS} or kind not in {Kind.PUBLIC_THREAD, Kind.PRIVATE_THREAD}:
            raise Rejected(400, 50024, "Cannot execute action on this channel type")
        public = kind == Kind.PUBLIC_THREAD
        needed = permission.CREATE_PUBLIC_THREADS if public else permission.CREATE_PRIVATE_THREADS
        permission.require(world, channel, needed)
        minutes = call.body.get("auto_archive_duration") or 1440
        thread = start(world, channel, call.body["name"], by=world.bot, kind=Kind(kind), minutes=minutes)
        return Reply(body=wire_entity.channel(world, thread), status=201)

    def change(self, call: Call) -> Reply:
        """PATCH /channels/{}: of threads the name, whether it is put away, and after how many minutes."""
        world, body = self._world, call.body
        channel = permission.viewed(world, call.id())
        if channel.kind is Kind.DIRECT:
            raise Rejected(400, 50024, "Cannot execute action on this channel type")
        _check({"name": channel.name, **body})
        if not channel.kind.is_thread:
            permission.require(world, channel, permission.MANAGE_CHANNELS)
        elif channel.locked or "locked" in body or (channel.owner is not world.bot and body != {"archived": False}):
            permission.require(world, channel, permission.MANAGE_THREADS)
        if channel.archived and body.get("archived") is not False:
            raise Rejected(400, 50083, "Thread is archived")
        renamed = body.get("name", channel.name) != channel.name
        channel.name = body.get("name", channel.name)
        channel.archived = body.get("archived", channel.archived)
        channel.locked = body.get("locked", channel.locked)
        channel.auto_archive_minutes = body.get("auto_archive_duration", channel.auto_archive_minutes)
        if channel.kind.is_thread:
            thread_changed(world, channel)
            if renamed and not channel.archived:
                post(world, channel, world.bot, content=channel.name, type=MessageType.NAME_CHANGE)
        else:
            world.emit("CHANNEL_UPDATE", wire_entity.channel(world, channel), channel=channel)
        return Reply(body=wire_entity.channel(world, channel))

    def join(self, call: Call) -> Reply:
        """PUT /channels/{}/thread-members/@me: the bot is in all threads that it sees."""
        channel = permission.viewed(self._world, call.id())
        if not channel.kind.is_thread:
            raise Rejected(400, 50024, "Cannot execute action on this channel type")
        if channel.archived:
            raise Rejected(400, 50083, "Thread is archived")
        return NOTHING


def direct(world: World, user: User) -> Channel:
    """The talk between the bot and a user; the same one each time."""
    for each in world.channels.values():
        if each.recipient is user:
            return each
    made = Channel(id=world.snowflakes.next(), name=user.name, kind=Kind.DIRECT, recipient=user)
    return world.add_channel(made)


def start(
    world: World,
    channel: Channel,
    name: str,
    *,
    by: User,
    message: Message | None = None,
    kind: Kind = Kind.PUBLIC_THREAD,
    minutes: int = 1440,
) -> Channel:
    """A new thread, from a message or by itself, and what Discord tells and writes about it."""
    made = message.id if message else world.snowflakes.next()
    thread = Channel(
        id=made, name=name, kind=kind, guild=channel.guild, parent=channel, owner=by, auto_archive_minutes=minutes
    )
    world.add_channel(thread)
    world.emit("THREAD_CREATE", {**wire_entity.channel(world, thread), "newly_created": True}, channel=thread)
    if message is not None:
        message.thread = thread
        message.flags |= Flag.HAS_THREAD
        changed(world, message)
        post(world, thread, message.author, type=MessageType.THREAD_STARTER, reference=reference(message))
    if kind is Kind.PUBLIC_THREAD and (message is None or world.now() - message.at > _OLD):
        named: dict[str, Any] = {"channel_id": str(thread.id)}
        if channel.guild:
            named["guild_id"] = str(channel.guild.id)
        post(world, channel, by, content=name, type=MessageType.THREAD_CREATED, reference=named)
    return thread


def _check(body: dict[str, Any]) -> None:
    faults = Faults()
    if "name" not in body:
        faults.add("name", "BASE_TYPE_REQUIRED", "This field is required")
    else:
        faults.length("name", body["name"], 1, _NAME)
        if isinstance(body["name"], str) and body["name"] and not body["name"].strip():
            faults.add("name", "BASE_TYPE_REQUIRED", "This field is required")
    minutes = body.get("auto_archive_duration")
    if minutes is not None and minutes not in _MINUTES:
        faults.add("auto_archive_duration", "BASE_TYPE_CHOICES", f"Value must be one of {_MINUTES}.")
    for name in ("archived", "locked"):
        if not isinstance(body.get(name, False), bool):
            faults.add(name, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
    faults.raise_any()
