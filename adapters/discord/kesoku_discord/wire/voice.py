"""What Discord wants to know of a voice message, read from an Ogg Opus file without decoding it. Pure."""

import base64
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

_PAGE, _HEAD = b"OggS", b"OpusHead"
_RATE = 48_000
"""Opus counts at this rate, whatever was recorded."""
_POINTS = 256
"""Of a waveform, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """The facts of a recording."""

    seconds: float
    waveform: str
    """Loudness over time, one byte a point, in base64: the sizes of the packets, which grow with it."""


def voice_of(data: bytes) -> Voice | None:
    """The facts, or None for what is no whole Ogg Opus file of one stream."""
    pages = list(_pages(data))
    if len(pages) < 3 or not pages[0].body.startswith(_HEAD) or len(pages[0].body) < 12:
        return None
    skipped = int.from_bytes(pages[0].body[10:12], "little")
    samples = max(page.position for page in pages) - skipped
    sizes = [size for page in pages[1:] for size in page.sizes][1:]  # behind the tags
    if samples <= 0 or not sizes:
        return None
    return Voice(seconds=round(samples / _RATE, 3), waveform=base64.b64encode(_drawn(sizes)).decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    position: int
    sizes: tuple[int, ...]
    body: bytes


def _pages(data: bytes) -> Iterator[_Page]:
    at = 0
    while data[at : at + 4] == _PAGE and len(data) >= at + 27:
        position = int.from_bytes(data[at + 6 : at + 14], "little", signed=True)
        lengths = data[at + 27 : at + 27 + data[at + 26]]
        begin = at + 27 + len(lengths)
        at = begin + sum(lengths)
        if at > len(data):
            return
        yield _Page(position=position, sizes=_packets(lengths), body=data[begin:at])


def _packets(lengths: bytes) -> tuple[int, ...]:
    """Sizes of the packets that end on a page; a length of 255 goes on."""
    sizes, size = [], 0
    for length in lengths:
        size += length
        if length < 255:
            sizes.append(size)
            size = 0
    return tuple(sizes)


def _drawn(sizes: list[int]) -> bytes:
    points = min(_POINTS, len(sizes))
    loudest = max(sizes) or 1
    edges = [len(sizes) * index // points for index in range(points + 1)]
    return bytes(max(sizes[low:high]) * 255 // loudest for low, high in itertools.pairwise(edges))
