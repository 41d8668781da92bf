"""What people do on a loopback Discord besides writing: they make places, join, permit, and go."""

from collections.abc import Sequence

from kesoku.testing.discord.people.writing import Writing
from kesoku.testing.discord.rest.channel import direct, start
from kesoku.testing.discord.rest.posting import remove_all, thread_changed
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import (
    Channel,
    Guild,
    Json,
    Kind,
    Member,
    Message,
    Overwrite,
    Role,
    User,
)
from kesoku.testing.discord.world.world import visible


class People(Writing):
    """The side of the people; the server is one of these."""

    def guild(self, name: str) -> Guild:
        """A guild that the bot is a member of."""
        world, made = self.world, self.world.snowflakes.next()
        everyone = Role(id=made, name="@everyone", permissions=permission.EVERYBODY)
        owner = world.add_user(f"Owner of {name}", username=f"owner{made}")
        guild = Guild(id=made, name=name, owner=owner, everyone=everyone, roles={made: everyone})
        world.guilds[made] = guild
        self.join(guild, owner)
        self.join(guild, world.bot)
        return guild

    def channel(self, name: str, *, guild: Guild, kind: Kind = Kind.TEXT, topic: str | None = None) -> Channel:
        """A channel of a guild."""
        made = Channel(id=self.world.snowflakes.next(), name=name, guild=guild, kind=kind, topic=topic)
        self.world.add_channel(made)
        self.world.emit("CHANNEL_CREATE", wire_entity.channel(self.world, made), channel=made)
        return made

    def user(self, name: str, *, username: str = "", bot: bool = False) -> User:
        """Somebody."""
        return self.world.add_user(name, username=username or name.lower(), bot=bot)

    def role(self, guild: Guild, name: str, *, permissions: int = 0) -> Role:
        """A role of a guild."""
        made = Role(id=self.world.snowflakes.next(), name=name, permissions=permissions)
        guild.roles[made.id] = made
        data = {"guild_id": str(guild.id), "role": wire_entity.role(guild, made)}
        self.world.emit("GUILD_ROLE_CREATE", data, guild=guild)
        return made

    def join(self, guild: Guild, user: User, *, nick: str | None = None, roles: Sequence[Role] = ()) -> Member:
        """The user is a member from now on, or has another name and other roles; the bot comes with a GUILD_CREATE."""
        known = user.id in guild.members
        member = guild.members[user.id] = Member(user=user, nick=nick, roles=list(roles))
        if user is self.world.bot and not known:
            self.world.emit("GUILD_CREATE", wire_entity.guild_create(self.world, guild), guild=guild)
        else:
            name = "GUILD_MEMBER_UPDATE" if known else "GUILD_MEMBER_ADD"
            self.world.emit(name, {**wire_entity.member(member), "guild_id": str(guild.id)}, guild=guild)
        return member

    def leave(self, guild: Guild, user: User) -> None:
        """The user is no member any more."""
        del guild.members[user.id]
        self.world.emit("GUILD_MEMBER_REMOVE", _of(guild, user), guild=guild)

    def ban(self, guild: Guild, user: User) -> None:
        """The user is thrown out, with all that they wrote."""
        self.leave(guild, user)
        self.world.emit("GUILD_BAN_ADD", _of(guild, user), guild=guild)
        for channel in self.world.of_guild(guild):
            if theirs := [each for each in visible(channel.messages) if each.author is user]:
                remove_all(self.world, channel, theirs)

    def expel(self, guild: Guild) -> None:
        """The bot is no member any more."""
        self.world.emit("GUILD_DELETE", {"id": str(guild.id)}, guild=guild)
        del guild.members[self.world.bot.id]

    def outage(self, guild: Guild) -> None:
        """Discord has trouble with a guild, and takes it away for a while."""
        self.world.emit("GUILD_DELETE", {"id": str(guild.id), "unavailable": True}, guild=guild)

    def back(self, guild: Guild) -> None:
        """The trouble is over."""
        self.world.emit("GUILD_CREATE", wire_entity.guild_create(self.world, guild), guild=guild)

    def direct(self, user: User) -> Channel:
        """The talk between the user and the bot."""
        return direct(self.world, user)

    def thread(
        self,
        channel: Channel,
        title: str,
        *,
        from_message: Message | None = None,
        by: User | None = None,
        private: bool = False,
    ) -> Channel:
        """A thread that somebody begins, the author of the message unless told otherwise."""
        kind = Kind.PRIVATE_THREAD if private else Kind.PUBLIC_THREAD
        owner = by or (from_message.author if from_message else channel.guild.owner if channel.guild else None)
        return start(self.world, channel, title, by=owner or self.world.bot, message=from_message, kind=kind)

    def permit(self, channel: Channel, *, allow: int = 0, deny: int = 0) -> None:
        """What the bot may and may not do in a channel from now on, as bits."""
        channel.overwrites[self.world.bot.id] = Overwrite(allow=allow, deny=deny, of_member=True)
        self.world.emit("CHANNEL_UPDATE", wire_entity.channel(self.world, channel), channel=channel)

    def slow(self, channel: Channel, seconds: int) -> None:
        """People wait so long between two messages; bots do not."""
        channel.slowmode = seconds
        if channel.kind.is_thread:
            thread_changed(self.world, channel)
        else:
            self.world.emit("CHANNEL_UPDATE", wire_entity.channel(self.world, channel), channel=channel)

    def archive(self, thread: Channel, *, locked: bool = False) -> None:
        """The thread is put away; a locked one can only be opened by who may manage threads."""
        thread.archived, thread.locked = True, locked
        thread_changed(self.world, thread)

    def remove(self, channel: Channel) -> None:
        """The channel or thread is deleted, and with a channel its threads, of which nothing is told."""
        for each in (channel, *self.world.threads_in(channel)):
            each.deleted = True
        name = "THREAD_DELETE" if channel.kind.is_thread else "CHANNEL_DELETE"
        self.world.emit(name, wire_entity.channel(self.world, channel), channel=channel)

    def messages(self, channel: Channel) -> list[Message]:
        """What everybody sees in a channel, in order; without what Discord itself writes."""
        return [each for each in visible(channel.messages) if not each.type.is_system]

    def everything(self, channel: Channel) -> list[Message]:
        """All that was ever written: deleted, for one person only, by Discord itself."""
        return list(channel.messages)

    def typing(self, channel: Channel) -> list[float]:
        """When the bot typed there, in seconds of the server's clock."""
        return list(channel.typing)


def _of(guild: Guild, user: User) -> Json:
    return {"guild_id": str(guild.id), "user": wire_entity.user(user)}
