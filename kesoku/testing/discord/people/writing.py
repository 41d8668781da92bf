"""What people write on a loopback Discord, and change and delete of it."""

import mimetypes
from collections.abc import Sequence
from typing import Any

from kesoku.testing.discord.rest.forum import publish
from kesoku.testing.discord.rest.posting import changed, edited, post, remove, remove_all, tell
from kesoku.testing.discord.rest.revision import reference
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.wire import message as wire_message
from kesoku.testing.discord.world.entity import Attachment, Channel, Flag, Json, Message, MessageType, User
from kesoku.testing.discord.world.mention import pinged
from kesoku.testing.discord.world.world import World

File = tuple[str, bytes, str]
"""Name, bytes, type; an empty type is guessed."""
_POLL = 86_400.0
"""Seconds for which a poll is open."""


class Writing:
    """Messages of people."""

    world: World

    async def say(
        self,
        channel: Channel,
        by: User,
        text: str,
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        attachments: Sequence[File] = (),
        stickers: Sequence[str] = (),
        voice: bool = False,
        webhook: bool = False,
        ago: float = 0.0,
    ) -> Message:
        """Somebody writes; `<@BOT>` in the text is a mention of the bot.

        A reply tells the author of the answered message unless `ping` is False. Attachments are (name, bytes, type),
        stickers are named. `webhook` writes it by a webhook with the name of `by`. `ago` makes it that many seconds
        old.
        """
        world = self.world
        author = world.add_user(by.name, username=by.name, webhook=True) if webhook else by
        return post(
            world,
            channel,
            author,
            ago=ago,
            type=MessageType.REPLY if reply_to else MessageType.DEFAULT,
            flags=int(Flag.VOICE) if voice else 0,
            attachments=self._files(channel, attachments, voice=voice),
            stickers=[{"id": str(world.snowflakes.next()), "name": name, "format_type": 1} for name in stickers],
            reply_to=reply_to.id if reply_to else None,
            reference=reference(reply_to) if reply_to else None,
            **self._text(channel, author, text, answers=reply_to if ping else None),
        )

    async def forward(self, channel: Channel, by: User, message: Message) -> Message:
        """Somebody forwards a message to a channel: without a word of their own, and without its author's name."""
        return post(
            self.world,
            channel,
            by,
            flags=int(Flag.SNAPSHOT),
            reference={**reference(message), "type": 1},
            snapshots=[wire_message.snapshot(self.world, message)],
        )

    async def poll(self, channel: Channel, by: User, question: str, answers: Sequence[str]) -> Message:
        """Somebody asks everybody; such a message has no text."""
        named = [{"answer_id": n, "poll_media": {"text": text}} for n, text in enumerate(answers, 1)]
        poll: Json = {
            "question": {"text": question},
            "answers": named,
            "expiry": wire_entity.timestamp(self.world.now() + _POLL),
            "allow_multiselect": False,
            "layout_type": 1,
            "results": {"is_finalized": False, "answer_counts": []},
        }
        return post(self.world, channel, by, poll=poll)

    async def publish(
        self, forum: Channel, by: User, title: str, text: str, *, attachments: Sequence[File] = ()
    ) -> Channel:
        """Somebody begins a post in a forum: a thread with a first message."""
        return publish(
            self.world,
            forum,
            title,
            by=by,
            attach=lambda thread: self._files(thread, attachments),
            **self._text(forum, by, text),
        )

    async def system(self, channel: Channel, kind: MessageType, by: User, text: str = "", **facts: Any) -> Message:
        """Discord itself writes something about somebody, such as a pin."""
        return post(self.world, channel, by, type=kind, content=text, **facts)

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

    async def delete(self, *messages: Message) -> None:
        """Somebody deletes it; several of one channel go at once."""
        if len(messages) == 1:
            remove(self.world, messages[0])
        else:
            remove_all(self.world, messages[0].channel, [*messages])

    def _text(self, channel: Channel, author: User, text: str, answers: Message | None = None) -> dict[str, Any]:
        """The text and whom it tells."""
        content = text.replace("<@BOT>", f"<@{self.world.bot.id}>")
        told = pinged(self.world, channel, author, content, answers=answers)
        return {
            "content": content,
            "mentions": told.users,
            "mention_roles": told.roles,
            "mention_everyone": told.everyone,
        }

    def _files(self, channel: Channel, files: Sequence[File], *, voice: bool = False) -> list[Attachment]:
        facts: dict[str, Any] = {"duration": 1.5, "waveform": "AAAA"} if voice else {}
        return [
            self.world.attachment(
                channel,
                name,
                data,
                kind or mimetypes.guess_type(name)[0] or "application/octet-stream",
                **facts,
            )
            for name, data, kind in files
        ]
