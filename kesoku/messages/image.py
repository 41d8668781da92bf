"""References to images: which ones a prompt may hold, and how they are handed on (L-070..L-080).

Only the form is checked, and it is checked when a prompt is made, so that no unsafe reference exists that could be
rendered. Nothing is fetched and no name is resolved; whoever fetches an image checks where it leads.
"""

import re
from typing import Any
from urllib.parse import urlsplit

from kesoku.errors import ImageRefused

_INLINE = re.compile(r"data:(image/(?:png|jpeg|jpg|gif|webp));base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_KILOBYTE = 1024


def checked(reference: object) -> str:
    """The reference as it is rendered: an http(s) address or inline data as it is, bare base64 as JPEG data.

    Raises:
        ImageRefused: anything else, such as another scheme, another type of data, or an address without a host.
    """
    if not isinstance(reference, str):
        raise ImageRefused(reference=repr(type(reference).__name__), why="it is no text")
    if inline := _INLINE.match(reference):
        return _decodable(reference, inline.end())
    if reference[:5].lower() == "data:":
        raise ImageRefused(reference=reference, why="inline data must be base64 of a PNG, JPEG, GIF or WebP image")
    if reference[:8].lower().startswith(("http://", "https://")):
        return _addressed(reference)
    if _SCHEME.match(reference):
        raise ImageRefused(reference=reference, why="only http, https and inline data are allowed")
    _decodable(reference, 0)
    return f"data:image/jpeg;base64,{reference}"


def parts(text: str, images: tuple[str, ...], detail: str | None) -> list[dict[str, Any]]:
    """One text part, and one part for each image, as chat models commonly take them."""
    shown = ({"url": each, "detail": detail or "auto"} for each in images)
    return [{"type": "text", "text": text}, *({"type": "image_url", "image_url": each} for each in shown)]


def in_words(rendered: object) -> str:
    """What `parts` made as one text, each image named in a line of its own; text as it is."""
    if isinstance(rendered, str):
        return rendered
    if not isinstance(rendered, list):
        return str(rendered)
    lines = [part["text"] if part["type"] == "text" else _named(part["image_url"]["url"]) for part in rendered]
    return "\n".join(line for line in lines if line)


def _decodable(reference: str, start: int) -> str:
    if (len(reference) - start) % 4 or not _BASE64.fullmatch(reference, start):
        raise ImageRefused(reference=reference, why="its data is empty or no base64")
    return reference


def _addressed(reference: str) -> str:
    if not reference.isprintable() or " " in reference or "\\" in reference or "%00" in reference:
        raise ImageRefused(reference=reference, why="its address has characters that no address may have")
    try:
        address = urlsplit(reference)
        host, _ = address.hostname, address.port
    except ValueError as error:
        raise ImageRefused(reference=reference, why=f"its address cannot be read ({error})") from error
    if not host:
        raise ImageRefused(reference=reference, why="its address has no host")
    return reference


def _named(url: str) -> str:
    inline = _INLINE.match(url)
    if not inline:
        return f"[Image: {url}]"
    size = (len(url) - inline.end()) * 3 // 4 - url[-2:].count("=")
    return f"[Image: {inline[1].lower()}, {_bytes(size)}]"


def _bytes(size: int) -> str:
    return f"{size} bytes" if size < _KILOBYTE else f"{size // _KILOBYTE} KiB"
