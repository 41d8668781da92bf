"""Routes of reactions."""

from urllib.parse import unquote

from kesoku.testing.discord.error import Rejected, unknown
from kesoku.testing.discord.request import NOTHING, Call, Reply
from kesoku.testing.discord.rest.revision import message_of
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import Json, Message
from kesoku.testing.discord.world.world import World

_REACTIONS = 20


class ReactionRoutes:
    """Emojis that the bot puts under messages."""

    def __init__(self, world: World) -> None:
        self._world = world

    def react(self, call: Call) -> Reply:
        """PUT /channels/{}/messages/{}/reactions/{}/@me."""
        channel, message = message_of(self._world, call)
        if channel.archived:
            raise Rejected(400, 50083, "Thread is archived")
        permission.require(self._world, channel, permission.READ_MESSAGE_HISTORY)
        emoji = _emoji(call.parts[2])
        if emoji not in message.reactions:
            permission.require(self._world, channel, permission.ADD_REACTIONS)
            if len(message.reactions) >= _REACTIONS:
                raise Rejected(400, 30010, "Maximum number of reactions reached (20)")
        users = message.reactions.setdefault(emoji, [])
        if self._world.bot.id not in users:
            users.append(self._world.bot.id)
            self._reaction("MESSAGE_REACTION_ADD", message, emoji)
        return NOTHING

    def unreact(self, call: Call) -> Reply:
        """DELETE /channels/{}/messages/{}/reactions/{}/@me."""
        _, message = message_of(self._world, call)
        emoji = _emoji(call.parts[2])
        users = message.reactions.get(emoji, [])
        if self._world.bot.id not in users:
            raise unknown("Emoji")
        users.remove(self._world.bot.id)
        if not users:
            del message.reactions[emoji]
        self._reaction("MESSAGE_REACTION_REMOVE", message, emoji)
        return NOTHING

    def _reaction(self, name: str, message: Message, emoji: str) -> None:
        shown, _, id_ = emoji.partition(":")
        data: Json = {
            "user_id": str(self._world.bot.id),
            "channel_id": str(message.channel.id),
            "message_id": str(message.id),
            "emoji": {"id": id_ or None, "name": shown},
            "burst": False,
            "type": 0,
        }
        if message.channel.guild:
            data["guild_id"] = str(message.channel.guild.id)
        self._world.emit(name, data, channel=message.channel)


def _emoji(text: str) -> str:
    emoji = unquote(text)
    name, _, id_ = emoji.partition(":")
    if emoji.isascii() and not (name and id_.isdecimal()):
        raise unknown("Emoji")
    return emoji
