"""Posts of a forum: threads, each with a first message that has its id and stands in it."""

from collections.abc import Callable
from typing import Any

from kesoku.testing.discord.check.message import check_form, check_shows
from kesoku.testing.discord.check.upload import attachments
from kesoku.testing.discord.error import Faults
from kesoku.testing.discord.request import Call, Reply
from kesoku.testing.discord.rest.posting import post
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import Attachment, Channel, Kind, User
from kesoku.testing.discord.world.mention import pinged
from kesoku.testing.discord.world.world import World


def publish(
    world: World,
    forum: Channel,
    title: str,
    *,
    by: User,
    minutes: int = 1440,
    attach: Callable[[Channel], list[Attachment]],
    **facts: Any,
) -> Channel:
    """A new post; `attach` makes the files of its first message, and `facts` are more of it."""
    thread = Channel(
        id=world.snowflakes.next(),
        name=title,
        kind=Kind.PUBLIC_THREAD,
        guild=forum.guild,
        parent=forum,
        owner=by,
        auto_archive_minutes=minutes,
    )
    files = attach(thread)
    world.add_channel(thread)
    world.emit("THREAD_CREATE", {**wire_entity.channel(world, thread), "newly_created": True}, channel=thread)
    post(world, thread, by, number=thread.id, attachments=files, **facts)
    return thread


def published(world: World, forum: Channel, call: Call) -> Reply:
    """POST /channels/{}/threads of a forum. Raises Rejected."""
    body = call.body.get("message")
    if not isinstance(body, dict):
        faults = Faults()
        faults.add("message", "BASE_TYPE_REQUIRED", "This field is required")
        raise faults.rejection()
    check_form(body)
    check_shows(body, call.files)
    permission.require(world, forum, permission.SEND_MESSAGES)
    if call.files:
        permission.require(world, forum, permission.ATTACH_FILES)
    content = body.get("content") or ""
    told = pinged(world, forum, world.bot, content, body.get("allowed_mentions"))
    thread = publish(
        world,
        forum,
        call.body["name"],
        by=world.bot,
        minutes=call.body.get("auto_archive_duration") or 1440,
        content=content.strip(),
        attach=lambda thread: attachments(world, thread, body, call.files),
        embeds=body.get("embeds") or [],
        components=body.get("components") or [],
        mentions=told.users,
        mention_roles=told.roles,
        mention_everyone=told.everyone,
    )
    first = wire_message.message(world, thread.messages[0])
    return Reply(body={**wire_entity.channel(world, thread), "message": first}, status=201)
