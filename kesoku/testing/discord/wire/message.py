"""Messages as JSON on the wire."""

from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world.entity import Attachment, Flag, Json, Message, MessageType, User
from kesoku.testing.discord.world.world import World


def attachment(each: Attachment) -> Json:
    """A file."""
    shown: Json = {
        "id": str(each.id),
        "filename": each.name,
        "size": len(each.data),
        "url": each.url,
        "proxy_url": each.url,
        "content_type": each.content_type,
    }
    more = {"description": each.description, "duration_secs": each.duration, "waveform": each.waveform}
    return shown | {name: value for name, value in more.items() if value is not None}


def message(world: World, each: Message, *, deep: bool = True) -> Json:
    """A message; with `deep` the one that it answers is in it."""
    shown: Json = {
        "id": str(each.id),
        "channel_id": str(each.channel.id),
        "author": wire_entity.user(each.author),
        "content": each.content,
        "timestamp": wire_entity.timestamp(each.at),
        "edited_timestamp": wire_entity.timestamp(each.edited_at[-1]) if each.edited_at else None,
        "tts": False,
        "mention_everyone": each.mention_everyone,
        "mentions": [_mentioned(each, who) for who in each.mentions],
        "mention_roles": [str(role) for role in each.mention_roles],
        "attachments": [attachment(one) for one in each.attachments],
        "embeds": [] if each.flags & Flag.SUPPRESS_EMBEDS else each.embeds,
        "components": each.components,
        "pinned": False,
        "type": int(each.type),
        "flags": each.flags,
    }
    if each.poll is not None:
        shown["poll"] = each.poll
    if each.stickers:
        shown["sticker_items"] = each.stickers
    if each.snapshots:
        shown["message_snapshots"] = each.snapshots
    if each.reactions:
        shown["reactions"] = [_reaction(world, emoji, users) for emoji, users in each.reactions.items()]
    if each.author.webhook:
        shown["webhook_id"] = str(each.author.id)
    if each.reference is not None:
        shown["message_reference"] = each.reference
        if deep and each.type in {MessageType.REPLY, MessageType.THREAD_STARTER}:
            answered = world.messages.get(int(each.reference.get("message_id", 0)))
            gone = answered is None or answered.deleted
            shown["referenced_message"] = None if answered is None or gone else message(world, answered, deep=False)
    if each.thread is not None:
        shown["thread"] = wire_entity.channel(world, each.thread)
    if each.interaction is not None:
        ours = str(world.application_id)
        shown |= {"interaction_metadata": each.interaction, "application_id": ours, "webhook_id": ours}
    return shown


def snapshot(world: World, each: Message) -> Json:
    """A message as one that forwards it holds it: what it says, and not who said it."""
    kept = (
        *("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags"),
        *("mentions", "mention_roles", "sticker_items", "components"),
    )
    shown = message(world, each, deep=False)
    return {"message": {name: shown[name] for name in kept if name in shown}}


def told(world: World, each: Message) -> Json:
    """A message as the gateway brings it: with guild, member and nonce."""
    shown = message(world, each)
    if each.nonce is not None:
        shown["nonce"] = each.nonce
    guild = each.channel.guild
    if guild is not None:
        shown["guild_id"] = str(guild.id)
        if found := guild.members.get(each.author.id):
            shown["member"] = wire_entity.member(found, with_user=False)
    return shown


def _mentioned(each: Message, who: User) -> Json:
    guild = each.channel.guild
    found = guild.members.get(who.id) if guild else None
    return (
        {**wire_entity.user(who), "member": wire_entity.member(found, with_user=False)}
        if found
        else wire_entity.user(who)
    )


def _reaction(world: World, emoji: str, users: list[int]) -> Json:
    name, _, id_ = emoji.partition(":")
    shown = {"id": id_ or None, "name": name}
    return {"emoji": shown, "count": len(users), "me": world.bot.id in users, "burst_colors": []}
