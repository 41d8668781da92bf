"""The one file of a part, made ready for the wire: read from disk, or a table drawn as a picture."""

import asyncio
import io
import re
from dataclasses import dataclass
from typing import Any

import discord

from kesoku.adapter import Outgoing, OutgoingFile, Refused
from kesoku_discord.voice import Voice, voice_of

TABLE = "table.png"
"""What the picture of a table is called."""
_DESCRIPTION = 1024
_VOICE_TYPE, _TYPE = "audio/ogg", "application/octet-stream"
_VOICE_FLAG = 1 << 13


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
            entry["description"] = self.description[:_DESCRIPTION]
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
    return [as_listed(name) for name in [TABLE] * bool(_table(outgoing)) + [file.name for file in outgoing.files]]


def as_listed(name: str) -> str:
    """A name without what Discord changes in it."""
    return re.sub(r"[^\w.-]+", "_", name)


async def upload_of(outgoing: Outgoing) -> Upload | None:
    """The file of a part, if it has one. Raises Refused where it cannot be read or drawn."""
    if outgoing.files:
        return await asyncio.to_thread(_read, outgoing.files[0], spoken=not outgoing.says)
    if table := _table(outgoing):
        return Upload(
            name=TABLE, data=await asyncio.to_thread(_draw, table), description=str(table.get("alternative", ""))
        )
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
    return Upload(name=file.name, data=data, description="" if voice else file.description, voice=voice)


def _draw(table: dict[str, Any]) -> bytes:
    from kesoku_discord import picture

    try:
        return picture.draw(table)
    except (OSError, ValueError) as error:
        raise Refused(reason=f"the table cannot be drawn: {error}") from error
