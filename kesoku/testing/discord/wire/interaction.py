"""Interactions as JSON on the wire."""

from kesoku.testing.discord.check.upload import MAX_FILE
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world.entity import Json, Message
from kesoku.testing.discord.world.interaction import Interaction
from kesoku.testing.discord.world.permission import permissions
from kesoku.testing.discord.world.world import World


def created(world: World, made: Interaction) -> Json:
    """INTERACTION_CREATE."""
    guild = made.channel.guild
    shown: Json = {
        "id": str(made.id),
        "application_id": str(world.application_id),
        "type": made.type,
        "token": made.token,
        "version": 1,
        "attachment_size_limit": MAX_FILE,
        "channel": wire_entity.channel(world, made.channel),
        "channel_id": str(made.channel.id),
        "locale": "en-US",
        "entitlements": [],
        "app_permissions": str(permissions(world, made.channel, world.bot)),
        "authorizing_integration_owners": {"0": str(guild.id) if guild else "0"},
        "context": 0 if guild else 1,
        "data": made.data,
    }
    if made.message is not None:
        shown["message"] = wire_message.message(world, made.message)
    if guild is None:
        return {**shown, "user": wire_entity.user(made.by)}
    member = {
        **wire_entity.member(guild.members[made.by.id]),
        "permissions": str(permissions(world, made.channel, made.by)),
    }
    return {**shown, "guild_id": str(guild.id), "guild_locale": "en-US", "guild": _guild(guild.id), "member": member}


def metadata(made: Interaction) -> Json:
    """`interaction_metadata` of a message that answers it."""
    return {
        "id": str(made.id),
        "type": made.type,
        "user": wire_entity.user(made.by),
        "authorizing_integration_owners": {},
    }


def callback(made: Interaction, kind: int, message: Message | None, world: World) -> Json:
    """The answer to a callback with `with_response`."""
    about: Json = {"id": str(made.id), "type": made.type, "activity_instance_id": None}
    if message is not None:
        about |= {
            "response_message_id": str(message.id),
            "response_message_loading": kind == 5,
            "response_message_ephemeral": message.ephemeral,
        }
    resource: Json = {"type": kind}
    if message is not None:
        resource["message"] = wire_message.message(world, message)
    return {"interaction": about, "resource": resource}


def _guild(guild_id: int) -> Json:
    return {"id": str(guild_id), "locale": "en-US", "features": []}
