"""Permissions, computed as Discord does: roles, then overwrites of the channel; a thread has those of its parent."""

from kesoku.testing.discord.error import missing_access, missing_permissions
from kesoku.testing.discord.world.entity import Channel, Guild, Kind, Member, User
from kesoku.testing.discord.world.world import World

ADD_REACTIONS = 1 << 6
ADMINISTRATOR = 1 << 3
MANAGE_CHANNELS = 1 << 4
VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11
MANAGE_MESSAGES = 1 << 13
EMBED_LINKS = 1 << 14
ATTACH_FILES = 1 << 15
READ_MESSAGE_HISTORY = 1 << 16
MENTION_EVERYONE = 1 << 17
MANAGE_THREADS = 1 << 34
CREATE_PUBLIC_THREADS = 1 << 35
SEND_MESSAGES_IN_THREADS = 1 << 38
SEND_VOICE_MESSAGES = 1 << 46
EXTERNAL_EMOJIS = 1 << 18
USE_COMMANDS = 1 << 31
CREATE_PRIVATE_THREADS = 1 << 36
ALL = (1 << 53) - 1
EVERYBODY = (
    ADD_REACTIONS
    | VIEW_CHANNEL
    | SEND_MESSAGES
    | EMBED_LINKS
    | ATTACH_FILES
    | READ_MESSAGE_HISTORY
    | MENTION_EVERYONE
    | EXTERNAL_EMOJIS
    | USE_COMMANDS
    | CREATE_PUBLIC_THREADS
    | CREATE_PRIVATE_THREADS
    | SEND_MESSAGES_IN_THREADS
    | SEND_VOICE_MESSAGES
)
"""What @everyone may do in a new guild."""


def permissions(world: World, channel: Channel, user: User) -> int:
    """What the user may do in the channel, as bits; 0 for who is no member."""
    guild = channel.guild
    if guild is None:
        return ALL & ~(MANAGE_CHANNELS | MANAGE_MESSAGES | MANAGE_THREADS)
    member = guild.members.get(user.id)
    if member is None:
        return 0
    allowed = in_guild(guild, member)
    if allowed == ALL:
        return ALL
    overwrites = (channel.parent if channel.kind.is_thread and channel.parent else channel).overwrites
    for ids in ({guild.id}, {role.id for role in member.roles}, {user.id}):
        found = [overwrites[each] for each in ids if each in overwrites]
        for each in found:
            allowed &= ~each.deny
        for each in found:
            allowed |= each.allow
    invited = channel.kind is not Kind.PRIVATE_THREAD or channel.owner is user or allowed & MANAGE_THREADS
    return allowed if allowed & VIEW_CHANNEL and invited else 0


def in_guild(guild: Guild, member: Member) -> int:
    """What a member may do where no channel says otherwise, as bits."""
    allowed = 0
    for role in (guild.everyone, *member.roles):
        allowed |= role.permissions
    return ALL if allowed & ADMINISTRATOR or guild.owner is member.user else allowed


def may(world: World, channel: Channel, needed: int) -> bool:
    """Whether the bot may do this in the channel."""
    return permissions(world, channel, world.bot) & needed == needed


def viewed(world: World, channel_id: int) -> Channel:
    """The channel; raises Rejected if there is none or the bot does not see it."""
    channel = world.channel(channel_id)
    if not may(world, channel, VIEW_CHANNEL):
        raise missing_access()
    return channel


def require(world: World, channel: Channel, needed: int) -> None:
    """Raises Rejected if the bot may not do this in the channel."""
    if not may(world, channel, needed):
        raise missing_permissions()


def required_to_send(channel: Channel) -> int:
    """What a message in this channel needs."""
    return SEND_MESSAGES_IN_THREADS if channel.kind.is_thread else SEND_MESSAGES
