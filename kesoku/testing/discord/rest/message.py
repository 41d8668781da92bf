"""Routes of messages: write, edit, delete, read, and react."""

from typing import Any

from kesoku.testing.discord.check.message import check_form, check_shows, check_voice
from kesoku.testing.discord.check.upload import attachments
from kesoku.testing.discord.error import Rejected, invalid, missing_permissions, unknown
from kesoku.testing.discord.request import NOTHING, Call, Reply, snowflake
from kesoku.testing.discord.rest.posting import edited, post, remove
from kesoku.testing.discord.rest.revision import message_of, reference, revise
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world import permission
from kesoku.testing.discord.world.entity import Channel, Flag, Json, Kind, Message, MessageType
from kesoku.testing.discord.world.mention import pinged
from kesoku.testing.discord.world.world import World

_MOST, _USUAL = 100, 50
_REACTIONS = 20


class MessageRoutes:
    """Messages of the bot. A nonce is remembered for `nonce_window` seconds."""

    def __init__(self, world: World, *, nonce_window: float) -> None:
        self._world, self._window = world, nonce_window
        self._nonces: dict[str, Message] = {}
        self.doubled = 0
        """How many messages were not written because of their nonce."""

    def create(self, call: Call) -> Reply:
        """POST /channels/{}/messages."""
        world, body = self._world, call.body
        channel = permission.viewed(world, call.id())
        check_form(body)
        check_shows(body, call.files)
        check_voice(body, call.files)
        self._may_send(channel, body, bool(call.files))
        if (known := self._known(body)) is not None:
            return Reply(body=wire_message.message(world, known))
        answered = self._answered(channel, body.get("message_reference"))
        told = pinged(
            world, channel, world.bot, body.get("content") or "", body.get("allowed_mentions"), answers=answered
        )
        message = post(
            world,
            channel,
            world.bot,
            content=(body.get("content") or "").strip(),
            type=MessageType.REPLY if answered else MessageType.DEFAULT,
            flags=body.get("flags") or 0,
            nonce=body.get("nonce"),
            attachments=attachments(world, channel, body, call.files),
            embeds=body.get("embeds") or [],
            components=body.get("components") or [],
            reply_to=answered.id if answered else None,
            reference=reference(answered) if answered else None,
            mentions=told.users,
            mention_roles=told.roles,
            mention_everyone=told.everyone,
        )
        if body.get("nonce") is not None:
            self._nonces[str(body["nonce"])] = message
        shown = wire_message.message(world, message)
        return Reply(body=shown if message.nonce is None else {**shown, "nonce": message.nonce})

    def edit(self, call: Call) -> Reply:
        """PATCH /channels/{}/messages/{}."""
        world, body = self._world, call.body
        channel, message = message_of(self._world, call)
        if message.author is not world.bot:
            raise Rejected(403, 50005, "Cannot edit a message authored by another user")
        if message.flags & Flag.VOICE:
            raise Rejected(400, 50162, "Voice messages cannot be edited.")
        if channel.archived:
            raise Rejected(400, 50083, "Thread is archived")
        self._may_write(channel)
        revise(world, message, body, call)
        edited(world, message)
        return Reply(body=wire_message.message(world, message))

    def delete(self, call: Call) -> Reply:
        """DELETE /channels/{}/messages/{}."""
        channel, message = message_of(self._world, call)
        if message.author is not self._world.bot:
            if channel.kind is Kind.DIRECT:
                raise Rejected(403, 50003, "Cannot execute action on this channel type")
            permission.require(self._world, channel, permission.MANAGE_MESSAGES)
        if message.type is MessageType.THREAD_STARTER:
            raise Rejected(403, 50021, "Cannot execute action on a system message")
        remove(self._world, message)
        return NOTHING

    def _may_send(self, channel: Channel, body: Json, has_files: bool) -> None:
        if channel.kind is Kind.CATEGORY or channel.kind.has_posts:
            raise Rejected(400, 50008, "Cannot send messages in a non-text channel")
        if channel.recipient is not None and not channel.recipient.accepts_direct:
            raise Rejected(403, 50007, "Cannot send messages to this user")
        permission.require(self._world, channel, permission.required_to_send(channel))
        if has_files:
            permission.require(self._world, channel, permission.ATTACH_FILES)
        if body.get("embeds") and not permission.may(self._world, channel, permission.EMBED_LINKS):
            raise missing_permissions()
        voice = bool((body.get("flags") or 0) & Flag.VOICE)
        if voice and not permission.may(self._world, channel, permission.SEND_VOICE_MESSAGES):
            raise Rejected(403, 50173, "You do not have permission to send voice messages.")
        self._may_write(channel)

    def _may_write(self, channel: Channel) -> None:
        if channel.locked and not permission.may(self._world, channel, permission.MANAGE_THREADS):
            raise Rejected(400, 160005, "Thread is locked")

    def _known(self, body: Json) -> Message | None:
        """The message that has this nonce already; raises Rejected if it was deleted."""
        if not body.get("enforce_nonce") or body.get("nonce") is None:
            return None
        known = self._nonces.get(str(body["nonce"]))
        if known is None or self._world.now() - known.at > self._window:
            return None
        self.doubled += 1
        if known.deleted:
            raise unknown("Message")
        return known

    def _answered(self, channel: Channel, named: Any) -> Message | None:
        """The message that a new one answers; raises Rejected if there is none such."""
        if named is None:
            return None
        if not isinstance(named, dict) or named.get("type", 0) != 0:
            raise invalid("message_reference", "MODEL_TYPE_CONVERT", "Only replies are known here.")
        if snowflake(named.get("channel_id") or channel.id, "message_reference.channel_id") != channel.id:
            message = "Cannot reply to a message in another channel"
            raise invalid("message_reference", "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL", message)
        if not permission.may(self._world, channel, permission.READ_MESSAGE_HISTORY):
            raise Rejected(403, 160002, "Cannot reply without permission to read message history")
        try:
            answered = self._world.message(channel, snowflake(named.get("message_id"), "message_reference.message_id"))
        except Rejected as error:
            if error.code == 10008 and named.get("fail_if_not_exists") is False:
                return None
            if error.code == 10008:
                raise invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message") from error
            raise
        if answered.type.is_system:
            message = "Cannot reply to a system message"
            raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", message)
        return answered
