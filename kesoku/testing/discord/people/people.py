"""What people do on a loopback Discord: they join, write, change what they wrote, and go."""

import mimetypes
from collections.abc import Sequence
from typing import Any

from kesoku.testing.discord.rest.channel import direct, start
from kesoku.testing.discord.rest.posting import changed, edited, post, remove, tell, thread_changed
from kesoku.testing.discord.rest.revision import reference
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import (
    Attachment,
    Channel,
    Flag,
    Guild,
    Kind,
    Member,
    Message,
    MessageType,
    Overwrite,
    Role,
    User,
)
from kesoku.testing.discord.world.mention import pinged
from kesoku.testing.discord.world.world import World, visible


class People:
    """The side of the people; the server is one of these."""

    world: World

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

    def expel(self, guild: Guild) -> None:
        """The bot is no member any more."""
        self.world.emit("GUILD_DELETE", {"id": str(guild.id)}, guild=guild)
        del guild.members[self.world.bot.id]

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

    async def say(
        self,
        channel: Channel,
        by: User,
        text: str,
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        attachments: Sequence[tuple[str, bytes, str]] = (),
        voice: bool = False,
        webhook: bool = False,
        ago: float = 0.0,
    ) -> Message:
        """Somebody writes; `<@BOT>` in the text is a mention of the bot.

        A reply tells the author of the answered message unless `ping` is False. Attachments are (name, bytes, type).
        `webhook` writes it by a webhook with the name of `by`. `ago` makes it that many seconds old.
        """
        world, content = self.world, text.replace("<@BOT>", f"<@{self.world.bot.id}>")
        author = world.add_user(by.name, username=by.name, webhook=True) if webhook else by
        told = pinged(world, channel, author, content, answers=reply_to if ping else None)
        return post(
            world,
            channel,
            author,
            ago=ago,
            content=content,
            type=MessageType.REPLY if reply_to else MessageType.DEFAULT,
            flags=int(Flag.VOICE) if voice else 0,
            attachments=[self._attachment(channel, each, voice) for each in attachments],
            reply_to=reply_to.id if reply_to else None,
            reference=reference(reply_to) if reply_to else None,
            mentions=told.users,
            mention_roles=told.roles,
            mention_everyone=told.everyone,
        )

    def archive(self, thread: Channel, *, locked: bool = False) -> None:
        """The thread is put away; a locked one can only be opened by who may manage threads."""
        thread.archived, thread.locked = True, locked
        thread_changed(self.world, thread)

    def remove(self, channel: Channel) -> None:
        """The channel or thread is deleted."""
        channel.deleted = True
        name = "THREAD_DELETE" if channel.kind.is_thread else "CHANNEL_DELETE"
        self.world.emit(name, wire_entity.channel(self.world, channel), channel=channel)

    async def redeliver(self, message: Message) -> None:
        """The gateway brings a message once more."""
        tell(self.world, message)

    async def edit(self, message: Message, text: str) -> None:
        """The author changes the text."""
        message.content = text.replace("<@BOT>", f"<@{self.world.bot.id}>")
        message.mentions = pinged(self.world, message.channel, message.author, message.content).users
        edited(self.world, message)

    async def preview(self, message: Message, url: str = "https://example.org/") -> None:
        """Discord adds the preview of a link: an update that changes no text."""
        message.embeds = [*message.embeds, {"type": "link", "url": url, "title": "Example", "description": "A page."}]
        changed(self.world, message)

    async def delete(self, message: Message) -> None:
        """Somebody deletes it."""
        remove(self.world, message)

    def messages(self, channel: Channel) -> list[Message]:
        """What everybody sees in a channel, in order; without what Discord itself writes."""
        return [each for each in visible(channel.messages) if not each.type.is_system]

    def everything(self, channel: Channel) -> list[Message]:
        """All that was ever written: deleted, for one person only, by Discord itself."""
        return list(channel.messages)

    def typing(self, channel: Channel) -> list[float]:
        """When the bot typed there, in seconds of the server's clock."""
        return list(channel.typing)

    def _attachment(self, channel: Channel, given: tuple[str, bytes, str], voice: bool) -> Attachment:
        name, data, kind = given
        kind = kind or mimetypes.guess_type(name)[0] or "application/octet-stream"
        facts: dict[str, Any] = {"duration": 1.5, "waveform": "AAAA"} if voice else {}
        return self.world.attachment(channel, name, data, kind, **facts)
