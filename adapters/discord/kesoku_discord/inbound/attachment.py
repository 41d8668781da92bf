"""Files that come with a message: streamed into staging before the message is taken in (K-134)."""

import asyncio
import logging
import mimetypes
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

import aiohttp
import discord

from kesoku.adapter import Address, Attachment, Inbox
from kesoku.render import printable_name

MOST = 10
"""Files of one message."""
_PIECE = 1 << 16
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=15, sock_read=30)
_AS_IT_IS = {"Accept-Encoding": "identity"}
_log = logging.getLogger(__name__)


class _NotServed(Exception):
    """The file did not come, or not all of it; the text says why."""


def files_of(message: discord.Message) -> list[discord.Attachment]:
    """The files of a message, and those of a message that it forwards."""
    return [*message.attachments, *(each for snapshot in message.message_snapshots for each in snapshot.attachments)]


async def stage(
    files: Sequence[discord.Attachment],
    *,
    address: Address,
    inbox: Inbox,
    client: discord.Client,
    limit: int,
    seconds: float = 600.0,
) -> tuple[Attachment, ...]:
    """Save each file; what cannot be saved says why it was `skipped` (complaint 82). Never raises for a file.

    A file beyond `limit` bytes is not downloaded at all, and all have `seconds`, since what follows the message in its
    channel waits. For people who are allowed only.
    """
    if not files:
        return ()
    deadline = asyncio.get_running_loop().time() + seconds
    async with aiohttp.ClientSession(timeout=_TIMEOUT, headers=_AS_IT_IS) as session:
        stager = _Stager(session=session, client=client, inbox=inbox, address=address, limit=limit, deadline=deadline)
        saved = [await stager.stage(each) for each in files[:MOST]]
    return (*saved, *_beyond(files[MOST:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stager:
    session: aiohttp.ClientSession
    client: discord.Client
    inbox: Inbox
    address: Address
    limit: int
    """Bytes of one file."""
    deadline: float
    """Of the event loop's clock."""

    async def stage(self, file: discord.Attachment) -> Attachment:
        if file.size > self.limit:
            return _skipped(file, f"it is larger than {_size(self.limit)}")
        try:
            return await self._save(file)
        except (aiohttp.ClientError, OSError, _NotServed) as error:
            _log.info("a file of message %s is fetched once more: %s", file.id, error)
        try:
            return await self._save(file)
        except (aiohttp.ClientError, OSError, _NotServed) as error:
            why = str(error) or type(error).__name__
            return _skipped(file, f"it could not be downloaded ({printable_name(why, 200)})")

    async def _save(self, file: discord.Attachment) -> Attachment:
        kind = mime_type_of(file)
        try:
            async with asyncio.timeout_at(self.deadline):
                return await self.inbox.stage(
                    self.address, file.filename, self._pieces(file), mime_type=kind, limit=self.limit
                )
        except TimeoutError:
            raise _NotServed("it took too long") from None

    async def _pieces(self, file: discord.Attachment) -> AsyncIterator[bytes]:
        """Raises _NotServed at the end if that is not all."""
        # Redirects are not followed: what a message names is fetched from Discord or not at all.
        came = 0
        http = self.client.http
        async with self.session.get(
            file.url, proxy=http.proxy, proxy_auth=http.proxy_auth, allow_redirects=False
        ) as response:
            if response.status != 200:
                raise _NotServed(f"Discord answered {response.status}")
            async for piece in response.content.iter_chunked(_PIECE):
                came += len(piece)
                yield piece
        if came < file.size:
            raise _NotServed(f"only {came} of {file.size} bytes came")


def mime_type_of(file: discord.Attachment) -> str:
    """The type that Discord names, without parameters, else what the name tells; a voice message is audio."""
    if file.is_voice_message():
        return "audio/ogg"
    named = (file.content_type or "").partition(";")[0].strip().lower()
    return named or mimetypes.guess_type(file.filename)[0] or "application/octet-stream"


def _beyond(files: Iterable[discord.Attachment]) -> tuple[Attachment, ...]:
    return tuple(_skipped(each, f"there are more than {MOST} files in one message") for each in files)


def _skipped(file: discord.Attachment, reason: str) -> Attachment:
    return Attachment(
        name=printable_name(file.filename, 120), mime_type=mime_type_of(file), size=file.size, skipped=reason
    )


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count} bytes"
