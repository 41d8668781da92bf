"""The one file of a part, made ready for the wire: read from disk, or a table drawn as a picture."""

import asyncio
import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import discord

from kesoku.adapter import Outgoing, OutgoingFile, Refused
from kesoku.render import printable_name
from kesoku_discord.drawing import picture
from kesoku_discord.drawing.text import cut
from kesoku_discord.wire.voice import Voice, voice_of

TABLE = "table.png"
"""What the picture of a table is called."""
_STEM, _SUFFIX = 100, 20
_VOICE_TYPE, _TYPE = "audio/ogg", "application/octet-stream"
_VOICE_FLAG = discord.MessageFlags(voice=True).value
_PEN = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pen")
"""Draws one table after the other: several at once would be no faster, and would hold up the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Bytes and their name; `voice` where Discord may show them as a voice message."""

    name: str
    data: bytes
    description: str = ""
    voice: Voice | None = None

    @property
    def attachment(self) -> dict[str, Any]:
        """Its entry among the attachments of a message."""
        entry: dict[str, Any] = {"id": 0, "filename": self.name}
        if self.description:
            entry["description"] = cut(self.description, picture.ALTERNATIVE)
        if self.voice:
            entry |= {"duration_secs": self.voice.seconds, "waveform": self.voice.waveform}
        return entry

    @property
    def flags(self) -> int:
        """What the message must say about itself."""
        return _VOICE_FLAG if self.voice else 0

    def form(self, payload: str) -> dict[str, Any]:
        """The fields of the request, as the library's client takes them; it rewinds the file before each try."""
        file = discord.File(io.BytesIO(self.data), filename=self.name)
        part = {
            "name": "files[0]",
            "value": file.fp,
            "filename": self.name,
            "content_type": _VOICE_TYPE if self.voice else _TYPE,
        }
        return {"files": [file], "form": [{"name": "payload_json", "value": payload}, part]}


def names(outgoing: Outgoing) -> list[str]:
    """The names under which the files of a part are found again, as Discord writes them."""
    return [TABLE] * bool(_table(outgoing)) + [as_listed(_name(file)) for file in outgoing.files]


def as_listed(name: str) -> str:
    """A name without what Discord may change in it: all but plain letters and digits."""
    return re.sub(r"[^A-Za-z0-9]+", "", name)


async def upload_of(outgoing: Outgoing) -> Upload | None:
    """The file of a part, if it has one. Raises Refused where it cannot be read or drawn."""
    if outgoing.files:
        return await asyncio.to_thread(_read, outgoing.files[0], spoken=not outgoing.says)
    if table := _table(outgoing):
        drawn = await asyncio.get_running_loop().run_in_executor(_PEN, _draw, table)
        return Upload(name=TABLE, data=drawn, description=str(table.get("alternative", "")))
    return None


def _table(outgoing: Outgoing) -> dict[str, Any] | None:
    return (outgoing.payload or {}).get("table")


def _read(file: OutgoingFile, *, spoken: bool) -> Upload:
    """`spoken`: nothing is said beside it, as a voice message wants it."""
    try:
        data = file.path.read_bytes()
    except OSError as error:
        raise Refused(reason=f"{file.name} cannot be read: {error.strerror}") from error
    voice = voice_of(data) if file.voice and spoken else None
    return Upload(name=_name(file), data=data, description="" if voice else file.description, voice=voice)


def _name(file: OutgoingFile) -> str:
    """Its name, as far as it can stand in the head of a request and is what it seems to be; the ending is kept."""
    named = PurePath(file.name)
    return printable_name(named.stem, _STEM) + (printable_name(named.suffix, _SUFFIX) if named.suffix else "")


def _draw(table: dict[str, Any]) -> bytes:
    try:
        return picture.draw(table)
    except (OSError, ValueError) as error:
        raise Refused(reason=f"the table cannot be drawn: {error}") from error
