"""Messages come, change and go, and the gateway tells it: what the bot, people and interactions have in common."""

from typing import Any

from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world.entity import Channel, Message, User
from kesoku.testing.discord.world.world import World


def post(
    world: World, channel: Channel, author: User, *, ago: float = 0.0, number: int | None = None, **facts: Any
) -> Message:
    """A new message, told to whoever may see it. `ago` makes it that many seconds older, `number` is its id."""
    made = world.snowflakes.before(ago) if ago else world.snowflakes.next()
    message = Message(id=number or made, channel=channel, author=author, **facts)
    world.messages[message.id] = message
    channel.messages.append(message)
    if ago:
        channel.messages.sort(key=lambda each: each.id)
    if channel.archived:
        channel.archived = False
        thread_changed(world, channel)
    tell(world, message)
    return message


def tell(world: World, message: Message) -> None:
    """MESSAGE_CREATE; what one person only sees is not told."""
    if not message.ephemeral:
        world.emit("MESSAGE_CREATE", wire_message.told(world, message), channel=message.channel)


def edited(world: World, message: Message) -> None:
    """The message was edited by its author."""
    message.edits.append(message.content)
    message.edited_at.append(world.now())
    changed(world, message)


def changed(world: World, message: Message) -> None:
    """MESSAGE_UPDATE: always the whole message."""
    if not message.ephemeral:
        world.emit("MESSAGE_UPDATE", wire_message.told(world, message), channel=message.channel)


def remove(world: World, message: Message) -> None:
    """The message is gone; whoever reads `everything` still sees it."""
    message.deleted = True
    data = {"id": str(message.id), "channel_id": str(message.channel.id)}
    if message.channel.guild:
        data["guild_id"] = str(message.channel.guild.id)
    if not message.ephemeral:
        world.emit("MESSAGE_DELETE", data, channel=message.channel)


def remove_all(world: World, channel: Channel, messages: list[Message]) -> None:
    """Several messages are gone at once."""
    for each in messages:
        each.deleted = True
    data: dict[str, Any] = {"ids": [str(each.id) for each in messages], "channel_id": str(channel.id)}
    if channel.guild:
        data["guild_id"] = str(channel.guild.id)
    world.emit("MESSAGE_DELETE_BULK", data, channel=channel)


def thread_changed(world: World, thread: Channel) -> None:
    """THREAD_UPDATE."""
    world.emit("THREAD_UPDATE", wire_entity.channel(world, thread), channel=thread)
