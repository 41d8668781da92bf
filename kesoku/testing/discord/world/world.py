"""Everything that there is on a loopback Discord, by id."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from kesoku.testing.discord.error import unknown
from kesoku.testing.discord.world.entity import Attachment, Channel, Guild, Message, User
from kesoku.testing.discord.world.interaction import Interaction
from kesoku.testing.discord.world.snowflake import Snowflakes

Emit = Callable[..., None]


class World:
    """Everything that there is, and the way its changes are told: `emit(name, data, channel=..., guild=...)`."""

    def __init__(self, *, now: Callable[[], float], bot_name: str, emit: Emit) -> None:
        self.now, self.emit = now, emit
        self.snowflakes = Snowflakes(now)
        self.users: dict[int, User] = {}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.messages: dict[int, Message] = {}
        self.interactions: dict[str, Interaction] = {}
        """By token."""
        self.files_url = ""
        """What the addresses of attachments begin with."""
        self.bot = self.add_user(bot_name, username=bot_name.lower(), bot=True)
        self.application_id = self.bot.id

    def add_user(self, name: str, *, username: str, bot: bool = False, webhook: bool = False) -> User:
        """Somebody new."""
        user = User(id=self.snowflakes.next(), name=name, username=username, bot=bot, webhook=webhook)
        self.users[user.id] = user
        return user

    def add_channel(self, channel: Channel) -> Channel:
        """A channel is there from now on."""
        self.channels[channel.id] = channel
        return channel

    def channel(self, channel_id: int) -> Channel:
        """A channel or thread; raises Rejected if there is none."""
        found = self.channels.get(channel_id)
        if found is None or found.deleted:
            raise unknown("Channel")
        return found

    def message(self, channel: Channel, message_id: int) -> Message:
        """A message that is visible in the channel; raises Rejected if there is none."""
        found = self.messages.get(message_id)
        if found is None or found.deleted or found.channel is not channel or found.ephemeral:
            raise unknown("Message")
        return found

    def threads(self, guild: Guild) -> list[Channel]:
        """The threads of a guild that are not archived."""
        return [each for each in self.of_guild(guild) if each.kind.is_thread and not each.archived]

    def threads_in(self, channel: Channel) -> list[Channel]:
        """The threads of a channel, or the posts of a forum, archived ones too, in order."""
        return [each for each in self.channels.values() if each.parent is channel and not each.deleted]

    def of_guild(self, guild: Guild) -> list[Channel]:
        """The channels and threads of a guild."""
        return [each for each in self.channels.values() if each.guild is guild and not each.deleted]

    def attachment(self, channel: Channel, name: str, data: bytes, content_type: str, **facts: Any) -> Attachment:
        """A new file with an address from which it can be fetched."""
        made = self.snowflakes.next()
        url = f"{self.files_url}/attachments/{channel.id}/{made}/{quote(name, safe='')}"
        return Attachment(id=made, name=name, data=data, content_type=content_type, url=url, **facts)


def visible(messages: Iterable[Message]) -> list[Message]:
    """Those that everybody in the channel sees."""
    return [each for each in messages if not each.deleted and not each.ephemeral]
