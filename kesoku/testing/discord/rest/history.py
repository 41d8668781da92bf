"""Routes that read messages."""

from collections.abc import Mapping

from kesoku.testing.discord.error import Rejected, invalid
from kesoku.testing.discord.request import Call, Reply, snowflake
from kesoku.testing.discord.rest.revision import message_of
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import Kind, Message
from kesoku.testing.discord.world.world import World, visible

_MOST, _USUAL = 100, 50


class HistoryRoutes:
    """What was written."""

    def __init__(self, world: World) -> None:
        self._world = world

    def one(self, call: Call) -> Reply:
        """GET /channels/{}/messages/{}."""
        channel, message = message_of(self._world, call)
        permission.require(self._world, channel, permission.READ_MESSAGE_HISTORY)
        return Reply(body=wire_message.message(self._world, message))

    def some(self, call: Call) -> Reply:
        """GET /channels/{}/messages: the newest first."""
        channel = permission.viewed(self._world, call.id())
        if channel.kind.has_posts or channel.kind is Kind.CATEGORY:
            raise Rejected(400, 50024, "Cannot execute action on this channel type")
        if not permission.may(self._world, channel, permission.READ_MESSAGE_HISTORY):
            return Reply(body=[])
        chosen = _chosen(visible(channel.messages), call.seen.query)
        return Reply(body=[wire_message.message(self._world, each) for each in reversed(chosen)])


def _chosen(messages: list[Message], query: Mapping[str, str]) -> list[Message]:
    """The messages that a query asks for, the oldest first."""
    limit = query.get("limit", str(_USUAL))
    if not limit.isdecimal() or not 1 <= int(limit) <= _MOST:
        raise invalid("limit", "NUMBER_TYPE_MAX", f"int value should be between 1 and {_MOST}.")
    count = int(limit)
    if len(query.keys() & {"around", "after", "before"}) > 1:
        raise invalid("_", "MUTUALLY_EXCLUSIVE", "Only one of around, after and before may be passed.")
    if "around" in query:
        middle = snowflake(query["around"], "around")
        before = [each for each in messages if each.id < middle][-(count // 2) :]
        return before + [each for each in messages if each.id >= middle][: count - len(before)]
    if "after" in query:
        after = snowflake(query["after"], "after")
        return [each for each in messages if each.id > after][:count]
    if "before" in query:
        before_id = snowflake(query["before"], "before")
        messages = [each for each in messages if each.id < before_id]
    return messages[-count:]
