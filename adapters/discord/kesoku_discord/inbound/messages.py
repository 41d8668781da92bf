"""The room for messages: what people write, edit and delete becomes events of the core."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import discord

from kesoku.adapter import Address, Attachment, Deleted, Edited, Inbox, Principal, Recent
from kesoku_discord.channels import address_of, configured
from kesoku_discord.config import ChannelConfig, DiscordConfig
from kesoku_discord.inbound import attachment, intake
from kesoku_discord.inbound.again import LONG_PAUSES, PAUSES, Again
from kesoku_discord.inbound.author import author_of, guild_of
from kesoku_discord.inbound.catch_up import SEEN, CatchUp, store
from kesoku_discord.inbound.destination import Destinations
from kesoku_discord.inbound.direct import open_named
from kesoku_discord.inbound.doors import Doors
from kesoku_discord.inbound.heard import Hearing
from kesoku_discord.inbound.memory import Channels
from kesoku_discord.inbound.place import Places
from kesoku_discord.inbound.revisit import revisit
from kesoku_discord.inbound.teller import Teller
from kesoku_discord.inbound.trigger import Why
from kesoku_discord.inbound.watermark import Watermark
from kesoku_discord.wire.lanes import done

_EDIT_HOURS = 1
"""How young a message must be that an edit addresses to the bot."""
_ADDRESSED = ("mention", "reply", "direct")
"""The reasons for which a stranger is told how to get in; who talks beside the bot is not."""
_REMEMBERED = 4096
"""Messages of which it is known without a look at the store that they were handled."""


class Messages:
    """Hands in what is said to one bot. Each message is handed in once, after the older ones of its channel."""

    def __init__(
        self,
        *,
        chatbot_id: str,
        config: DiscordConfig,
        inbox: Inbox,
        client: discord.Client,
        pauses: Sequence[float] = PAUSES,
        long_pauses: Sequence[float] = LONG_PAUSES,
    ) -> None:
        """`pauses`: seconds before each further try where Discord has trouble while what was missed is read, and
        `long_pauses` afterwards."""
        self._chatbot_id, self._config, self._inbox, self._client = chatbot_id, config, inbox, client
        self._watermark = Watermark(horizon=3600 * config.catch_up_hours)
        self._doors = Doors(lambda: getattr(client.ws, "session_id", None))
        self._places, self._hearing = Places(client), Hearing(config, client)
        self._teller = Teller(chatbot_id, client)
        self._direct, self._threads = Channels(inbox.state, "direct"), Channels(inbox.state, "threads")
        self._refused = Channels(inbox.state, "refused")
        self._destinations = Destinations(config=config, client=client, teller=self._teller, state=inbox.state)
        self._again, self._long = Again(pauses), Again(long_pauses)
        self._seen, self._answered = Recent[int](_REMEMBERED), Recent[int](_REMEMBERED)

    async def ready(self) -> None:
        """A new session: what was changed and missed is read, then what came meanwhile is let in."""
        await done(self._revisit)  # whatever comes of that, the doors are opened
        if self._config.catch_up_hours:
            await done(self._open_direct)
        await CatchUp(
            client=self._client,
            config=self._config,
            inbox=self._inbox,
            doors=self._doors,
            watermark=self._watermark,
            direct=self._direct,
            threads=self._threads,
            teller=self._teller,
            reader=self,
            again=self._again,
        ).run()

    def arrived(self, message_id: int) -> None:
        """A message came: the cursor stays below it until it is handled."""
        self._watermark.begin(message_id)

    def left_out(self, message_id: int) -> None:
        """It will not be handled: a later session reads it again."""
        self._watermark.failed(message_id)

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote."""
        with self._in_work(message.id):
            await self._doors.passed(message.channel.id, guild_of(message))
            await self._long.until_done(message.channel.id, lambda: self._take(message))

    async def missed(self, message: discord.Message, *, again: bool) -> None:
        """Somebody wrote while the bot was away, or, most likely, `again` what was handled then."""
        with self._in_work(message.id):
            await self._again.until_done(message.channel.id, lambda: self._take(message, catch_up=True, again=again))

    async def is_asked(self, message: discord.Message) -> bool:
        """Whether somebody who may talk to the bot did so in this message."""
        return await self._again.until_done(message.channel.id, lambda: self._is_asked(message))

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A prompt is rewritten while it waits; a message that an edit addresses to the bot is heard (complaint 111).

        What Discord changes itself, such as a preview of a link, is no edit (complaint 110).
        """
        await self._doors.passed(payload.channel_id, payload.guild_id)
        if _is_edit(payload):
            await self._long.until_done(payload.channel_id, lambda: self.rewrite(payload.message))

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message was deleted; a prompt that waits is cancelled."""
        await self._doors.passed(payload.channel_id, payload.guild_id)
        await self.withdraw(payload.message_id, self._address(self._place(payload.message_id, payload.channel_id)))

    async def withdraw(self, message_id: int, address: Address) -> None:
        """A message is gone, which was to be answered here."""
        await self._inbox.accept([Deleted(key=str(message_id), address=address)])

    async def gone(self, channel_id: int) -> None:
        """A channel is gone: nobody could read what is still said there, or stop it."""
        await self._inbox.interrupt(self._address(channel_id), by=self._chatbot_id, queued=True)

    async def rewrite(self, message: discord.Message) -> None:
        """The text of a message has changed."""
        me = self._client.user
        if me is None or message.author.id == me.id:
            return
        principal = await author_of(message)
        event = Edited(
            key=str(message.id),
            address=self._address(self._place(message.id, message.channel.id)),
            principal=principal,
            text=intake.text_of(message, principal, self._inbox, me),
        )
        if await self._inbox.accept([event]) or message.id in self._answered or not _is_young(message):
            return
        reason = await self._hearing.why(message)
        if reason is not None:
            await self._hear(message, reason)

    @contextmanager
    def _in_work(self, message_id: int) -> Iterator[None]:
        """The cursor stays below this message until it is handled, and then if that failed."""
        self._watermark.begin(message_id)
        try:
            yield
        except BaseException:
            self._watermark.failed(message_id)
            raise

    async def _open_direct(self) -> None:
        await open_named(self._config, client=self._client, direct=self._direct, state=self._inbox.state)

    async def _revisit(self) -> None:
        await revisit(await self._inbox.waiting(), self._client, self)

    async def _is_asked(self, message: discord.Message) -> bool:
        if await self._hearing.why(message) is None:
            return False
        return await self._inbox.allowed(await author_of(message), self._address(message.channel.id))

    async def _take(self, message: discord.Message, *, catch_up: bool = False, again: bool = False) -> None:
        """Handle a message unless it was; either way the cursor may move over it."""
        await self._places.find(message)
        reason = None if message.id in self._seen else await self._hearing.why(message)
        if reason is not None:
            await self._hear(message, reason, catch_up=catch_up, again=again)
        self._seen.add(message.id)
        if catch_up:
            self._watermark.read(message.id)
            return
        self._watermark.done(message.id)
        if self._watermark.due():
            await store(self._inbox, self._watermark)

    async def _hear(
        self, message: discord.Message, reason: Why, *, catch_up: bool = False, again: bool = False
    ) -> None:
        """Take in a message that is meant for the bot, unless it was: an earlier process may have got so far."""
        if await self._inbox.knows(str(message.id)):
            return
        principal = await author_of(message)
        here = self._address(message.channel.id)
        if not await self._inbox.allowed(principal, here):
            if reason in _ADDRESSED and not again:
                if guild_of(message) is None:  # who is let in later is read after an absence, too
                    await self._direct.add(message.channel.id)
                await self._accept(message, principal, here, catch_up=catch_up)
                await self._refused.add(message.id)
            return
        if again and message.id in await self._refused.all():  # whoever was let in since was told that it is not kept
            return
        channel_id = await self._destinations.of(message, again=again)
        if channel_id is None:
            return
        address = self._address(channel_id)
        if guild_of(message) is None:
            await self._direct.add(message.channel.id)
        elif isinstance(message.channel, discord.Thread) or address != here:
            await self._threads.add(channel_id)
        files = await attachment.stage(
            attachment.files_of(message),
            address=address,
            inbox=self._inbox,
            client=self._client,
            limit=self._config.attachment_bytes,
        )
        await self._accept(message, principal, address, files, catch_up=catch_up)
        self._answered.add(message.id)

    async def _accept(
        self,
        message: discord.Message,
        principal: Principal,
        address: Address,
        files: tuple[Attachment, ...] = (),
        *,
        catch_up: bool,
    ) -> None:
        me = self._client.user
        if me is None:
            return
        prompt = intake.prompt_of(
            message,
            principal=principal,
            address=address,
            inbox=self._inbox,
            me=me,
            channel=self._configured(message),
            attachments=files,
        )
        cursor = self._watermark.cursor(finishing=message.id)
        await self._inbox.accept([prompt], cursor=(SEEN, str(cursor)), catch_up=catch_up)
        self._watermark.store(cursor)

    def _place(self, message_id: int, channel_id: int) -> int:
        """Where a message is answered, as far as the client knows: in the thread that the bot opened on it."""
        thread, me = self._client.get_channel(message_id), self._client.user
        if me is None or not isinstance(thread, discord.Thread) or thread.owner_id != me.id:
            return channel_id
        return message_id

    def _address(self, channel_id: int) -> Address:
        return address_of(self._chatbot_id, channel_id)

    def _configured(self, message: discord.Message) -> ChannelConfig | None:
        return configured(self._config, message.channel.id, message.channel)


def _is_edit(payload: discord.RawMessageUpdateEvent) -> bool:
    """Whether a person changed the text. Discord tells the time of an edit with those, and with nothing of its own."""
    data: Mapping[str, object] = payload.data
    return bool(data.get("edited_timestamp")) and "content" in data and "author" in data


def _is_young(message: discord.Message) -> bool:
    age = discord.utils.utcnow() - message.created_at
    return age.total_seconds() < 3600 * _EDIT_HOURS
