"""Which files the API takes, and whether their bytes are what they say."""

from collections.abc import Iterator
from typing import Any

from kesoku.testing.gemini.script import Refusal, invalid

_MAGIC: dict[str, tuple[tuple[int, bytes], ...]] = {
    "image/png": ((0, b"\x89PNG"),),
    "image/jpeg": ((0, b"\xff\xd8\xff"),),
    "image/webp": ((0, b"RIFF"), (8, b"WEBP")),
    "image/heic": ((4, b"ftyp"),),
    "image/heif": ((4, b"ftyp"),),
}
"""Bytes that stand at an offset of every image of the type."""
_AUDIO = "wav mp3 mpeg aiff aac ogg flac webm m4a mp4"
_VIDEO = "mp4 mpeg mov quicktime avi x-flv mpg webm wmv 3gpp"
TYPES = frozenset(
    {
        *_MAGIC,
        *(f"audio/{kind}" for kind in _AUDIO.split()),
        *(f"video/{kind}" for kind in _VIDEO.split()),
        "application/pdf",
    }
)
"""Every MIME type that is taken, besides text/*."""
IN_RESULTS = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""The MIME types that a function response may carry."""


def media(where: str, part: Any) -> Iterator[Refusal]:
    """The refusals of the files of one part in normal form."""
    yield from _inline(where, part.get("inline_data"))
    if (held := part.get("file_data")) is not None:
        yield from _type(held.get("mime_type"))
        if not held.get("file_uri"):
            yield invalid(f"* GenerateContentRequest.{where}.file_data.file_uri: must not be empty.")
    for number, inner in enumerate((part.get("function_response") or {}).get("parts") or ()):
        held = inner.get("inline_data") or {}
        if held.get("mime_type") not in IN_RESULTS:
            yield invalid(f"Unsupported MIME type: {held.get('mime_type')}")
        yield from _inline(f"{where}.function_response.parts[{number}]", held)


def _inline(where: str, held: Any) -> Iterator[Refusal]:
    if held is None:
        return
    yield from _type(held.get("mime_type"))
    data = held.get("data")
    if isinstance(data, str):
        yield invalid(f"Invalid value at '{where}.inline_data.data' (TYPE_BYTES), Base64 decoding failed.")
    elif not data:
        yield invalid(f"Unable to submit request because '{where}' has an empty inlineData parameter.")
    elif any(data[at : at + len(magic)] != magic for at, magic in _MAGIC.get(held["mime_type"], ())):
        yield invalid("Unable to process input image. Please retry or report.")


def _type(mime_type: Any) -> Iterator[Refusal]:
    if not isinstance(mime_type, str) or (mime_type not in TYPES and not mime_type.startswith("text/")):
        yield invalid(f"Unsupported MIME type: {mime_type}")
