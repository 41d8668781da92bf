"""Messages that a request names, and what an edit makes of them."""

from kesoku.testing.discord.check.message import check_form, check_shows
from kesoku.testing.discord.check.upload import attachments
from kesoku.testing.discord.request import Call
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import Channel, Flag, Json, Message
from kesoku.testing.discord.world.mention import pinged
from kesoku.testing.discord.world.world import World


def message_of(world: World, call: Call) -> tuple[Channel, Message]:
    """The channel and the message in the path; raises Rejected if the bot sees none such."""
    channel = permission.viewed(world, call.id())
    return channel, world.message(channel, call.id(1))


def reference(answered: Message) -> Json:
    """How an answer names the message that it answers."""
    named: Json = {"type": 0, "channel_id": str(answered.channel.id), "message_id": str(answered.id)}
    return {**named, "guild_id": str(answered.channel.guild.id)} if answered.channel.guild else named


def revise(world: World, message: Message, body: Json, call: Call) -> None:
    """Change the fields that an edit names; raises Rejected if the message may not become so."""
    flags = int(Flag.SUPPRESS_EMBEDS | Flag.COMPONENTS_V2) | (message.flags & ~Flag.LOADING)
    check_form(body, settable=flags)
    files = attachments(world, message.channel, body, call.files, message.attachments)
    after: Json = {
        "content": body["content"] or "" if "content" in body else message.content,
        "embeds": (body["embeds"] or [] if "embeds" in body else message.embeds),
        "components": body["components"] or [] if "components" in body else message.components,
    }
    if not files:
        check_shows(after, ())
    told = pinged(world, message.channel, message.author, after["content"], body.get("allowed_mentions"))
    message.content, message.embeds, message.components = after["content"].strip(), after["embeds"], after["components"]
    message.attachments, message.mentions = files, told.users
    message.mention_roles, message.mention_everyone = told.roles, told.everyone
    if body.get("flags") is not None:
        kept = message.flags & ~Flag.SUPPRESS_EMBEDS
        message.flags = int(kept | (body["flags"] & (Flag.SUPPRESS_EMBEDS | Flag.COMPONENTS_V2)))
