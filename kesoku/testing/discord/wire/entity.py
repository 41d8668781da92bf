"""What there is, as JSON on the wire."""

from datetime import UTC, datetime

from kesoku.testing.discord.world.entity import (
    Channel,
    Guild,
    Json,
    Kind,
    Member,
    Role,
    User,
)
from kesoku.testing.discord.world.permission import VIEW_CHANNEL, may
from kesoku.testing.discord.world.snowflake import seconds_of
from kesoku.testing.discord.world.world import World, visible


def timestamp(seconds: float) -> str:
    """A moment in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def user(who: User) -> Json:
    """A user."""
    return {
        "id": str(who.id),
        "username": who.username,
        "discriminator": "0000" if who.bot or who.webhook else "0",
        "global_name": None if who.bot or who.webhook else who.name,
        "avatar": None,
        "bot": who.bot or who.webhook,
        "public_flags": 0,
    }


def role(guild: Guild, each: Role) -> Json:
    """A role."""
    return {
        "id": str(each.id),
        "name": each.name,
        "permissions": str(each.permissions),
        "position": list(guild.roles).index(each.id),
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def member(each: Member, *, with_user: bool = True) -> Json:
    """A member; within messages and such it comes without its user."""
    shown: Json = {
        "nick": each.nick,
        "avatar": None,
        "roles": [str(role.id) for role in each.roles],
        "joined_at": timestamp(seconds_of(each.user.id)),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "communication_disabled_until": None,
        "flags": 0,
    }
    return {**shown, "user": user(each.user)} if with_user else shown


def channel(world: World, each: Channel) -> Json:
    """A channel, a thread or a direct talk."""
    last = _last(world, each)
    if each.kind is Kind.DIRECT:
        recipients = [user(each.recipient)] if each.recipient else []
        return {"id": str(each.id), "type": 1, "last_message_id": last, "recipients": recipients, "flags": 0}
    shown: Json = {
        "id": str(each.id),
        "type": int(each.kind),
        "guild_id": str(each.guild.id) if each.guild else None,
        "name": each.name,
        "parent_id": str(each.parent.id) if each.parent else None,
        "last_message_id": last,
        "rate_limit_per_user": each.slowmode,
        "flags": 0,
    }
    return {**shown, **(_thread(world, each) if each.kind.is_thread else _room(each))}


def _last(world: World, each: Channel) -> str | None:
    """The newest message; of a forum its newest post."""
    found = world.threads_in(each) if each.kind.has_posts else each.messages
    return str(found[-1].id) if found else None


def _room(each: Channel) -> Json:
    overwrites = [
        {"id": str(of), "type": int(what.of_member), "allow": str(what.allow), "deny": str(what.deny)}
        for of, what in each.overwrites.items()
    ]
    more: Json = {"bitrate": 64_000, "user_limit": 0} if each.kind is Kind.VOICE else {}
    if each.kind.has_posts:
        more = {
            "available_tags": [],
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
            "template": "",
        }
    return {"position": 0, "topic": each.topic, "nsfw": False, "permission_overwrites": overwrites, **more}


def _thread(world: World, each: Channel) -> Json:
    count = len([message for message in visible(each.messages) if not message.type.is_system])
    archived = seconds_of(each.messages[-1].id if each.messages else each.id)
    tags: Json = {"applied_tags": []} if each.parent and each.parent.kind.has_posts else {}
    return {
        **tags,
        "owner_id": str(each.owner.id) if each.owner else None,
        "message_count": count,
        "total_message_sent": len(each.messages),
        "member_count": 1,
        "thread_metadata": {
            "archived": each.archived,
            "auto_archive_duration": each.auto_archive_minutes,
            "archive_timestamp": timestamp(archived),
            "locked": each.locked,
            "create_timestamp": timestamp(seconds_of(each.id)),
        },
        "member": {
            "id": str(each.id),
            "user_id": str(world.bot.id),
            "join_timestamp": timestamp(seconds_of(each.id)),
            "flags": 0,
        },
    }


def guild(world: World, each: Guild) -> Json:
    """A guild as GUILD_CREATE and `GET /guilds/{}` have it, without its channels and members."""
    return {
        "id": str(each.id),
        "name": each.name,
        "icon": None,
        "splash": None,
        "description": None,
        "owner_id": str(each.owner.id),
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 1,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "preferred_locale": "en-US",
        "system_channel_id": None,
        "system_channel_flags": 0,
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [role(each, one) for one in each.roles.values()],
        "application_id": None,
    }


def guild_create(world: World, each: Guild) -> Json:
    """A guild as the gateway brings it: what the bot sees of it."""
    seen = [one for one in world.of_guild(each) if may(world, one, VIEW_CHANNEL)]
    return {
        **guild(world, each),
        "joined_at": timestamp(seconds_of(each.id)),
        "large": False,
        "unavailable": False,
        "member_count": len(each.members),
        "members": [member(one) for one in each.members.values() if one.user is world.bot],
        "channels": [channel(world, one) for one in world.of_guild(each) if not one.kind.is_thread],
        "threads": [channel(world, one) for one in seen if one.kind.is_thread and not one.archived],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def application(world: World, *, flags: int) -> Json:
    """The application of the bot; `flags` say which privileged intents it has."""
    owner = next((each for each in world.users.values() if not each.bot), world.bot)
    return {
        "id": str(world.application_id),
        "name": world.bot.name,
        "icon": None,
        "description": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": flags,
        "team": None,
        "owner": user(owner),
        "bot": user(world.bot),
        "approximate_guild_count": len(world.guilds),
        "install_params": {"scopes": ["bot", "applications.commands"], "permissions": "0"},
    }
