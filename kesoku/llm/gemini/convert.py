"""Pictures that the model cannot take, or not at that size, as ones that it can. Slow: call it in a thread."""

import struct
import zlib
from dataclasses import dataclass
from io import BytesIO
from typing import Any

PIXELS = 40_000_000
"""A picture with more is scaled down."""
OPENED = 50_000_000
"""Pixels of a picture that is opened at all: in memory they take ten bytes each. A JPEG may have more, for it is read
at a smaller size."""
BYTES = 7_000_000
"""A larger picture is scaled down."""

_EDGES = (4096, 2048, 1024)
"""Lengths in pixels of the longer edge to try; the model itself looks at no more than the first."""
_FORMATS = (
    *("PNG", "JPEG", "WEBP", "GIF", "BMP", "DIB", "TIFF", "ICO", "CUR", "ICNS", "AVIF", "JPEG2000"),
    *("PPM", "TGA", "PCX", "PSD", "QOI", "SGI", "DDS"),
)
"""What is opened at all; Pillow's other readers start programs or are for museums."""
_PNG_MODES = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
_PLAIN = {"1": "L", "L": "L", "LA": "LA"}
"""Greys stay greys."""
_BROKEN = (
    *(OSError, SyntaxError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError),
    *(EOFError, MemoryError, Warning, struct.error, zlib.error),
)
"""What Pillow raises over broken files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture for the model."""

    mime_type: str
    data: bytes | None = None
    """None: the file as it is."""
    note: str = ""
    """What a person who sees the original should know, or ""."""


def picture(data: bytes, *, taken: str | None) -> Picture | str:
    """The picture in `data`, or why there is none. `taken`: the type under which it can go as it is, if it can."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as image:
            most = (Image.MAX_IMAGE_PIXELS or OPENED) if image.format == "JPEG" else OPENED
            if image.width * image.height > most:
                return f"{image.width} x {image.height} pixels are too many"
            return _picture(image, len(data), taken)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return "it has too many pixels"
    except _BROKEN:
        return "it is broken, or no picture of a known format"


def _picture(image: Any, size: int, taken: str | None) -> Picture:
    from PIL import ImageOps

    width, height = image.size
    large = width * height > PIXELS or size > BYTES
    if large:
        image.draft("RGB", (_EDGES[0], _EDGES[0]))
    first = taken is None and getattr(image, "is_animated", False)
    image.load()
    if taken and not large:
        return Picture(mime_type=taken)
    ImageOps.exif_transpose(image, in_place=True)
    png = None if large and taken else _png(image)
    mime_type, data, shown = png or _scaled(image)
    notes = ["only its first frame is shown"] if first else []
    if sorted(shown) != sorted((width, height)):
        notes.append(f"scaled down from {width} x {height} to {shown[0]} x {shown[1]} pixels")
    return Picture(mime_type=mime_type, data=data, note=", ".join(notes))


def _png(image: Any) -> tuple[str, bytes, tuple[int, int]] | None:
    """Without loss; None if that is too large."""
    if image.width * image.height > PIXELS:
        return None
    data = _saved(image if image.mode in _PNG_MODES else _colours(image), "PNG", compress_level=3)
    return None if len(data) > BYTES else ("image/png", data, image.size)


def _scaled(image: Any) -> tuple[str, bytes, tuple[int, int]]:
    image = _colours(image)
    longer = max(image.size)
    for edge in (min(longer, _EDGES[0]), *(edge for edge in _EDGES[1:] if edge < longer)):
        image.thumbnail((edge, edge))
        opaque = "A" not in image.mode
        data = _saved(image, "JPEG", quality=90) if opaque else _saved(image, "PNG", compress_level=3)
        if len(data) <= BYTES:
            break
    return "image/jpeg" if opaque else "image/png", data, image.size


def _colours(image: Any) -> Any:
    """In eight bits a channel."""
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    mode = _PLAIN.get(image.mode) or ("RGBA" if image.has_transparency_data else "RGB")
    return image if image.mode == mode else image.convert(mode)


def _saved(image: Any, form: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, form, **options)
    return out.getvalue()
