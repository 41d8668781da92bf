"""Text as Discord takes it: what it may hold, how long it is, and whether anything of it is seen. Pure."""

import unicodedata

from kesoku.render import Unit, chunk

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
"""Letters and marks that have no ink."""


def size(text: str) -> int:
    """How much of a limit of Discord's a text takes: UTF-16 units, to be on the safe side."""
    return Unit.UTF16.size(text)


def sayable(text: str) -> str:
    """The text with U+FFFD for NUL and lone surrogates, of which no valid JSON is made; it gets no longer."""
    if "\0" not in text and (text.isascii() or text.isprintable()):
        return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def cut(text: str, limit: int) -> str:
    """The text, or as much of it as fits into `limit` UTF-16 units with `…` behind it; no grapheme is cut in two."""
    text = sayable(text)
    if size(text) <= limit:
        return text
    return next(iter(chunk(text, limit - 1, Unit.UTF16)), "").rstrip() + "…"


def one_line(text: str, limit: int) -> str:
    """The text in one line, at most so long."""
    return cut(" ".join(text.split()), limit)


def is_blank(text: str) -> bool:
    """Whether nothing of it is seen: Discord refuses white space, and people have nothing from the rest."""
    return not any(unicodedata.category(char)[0] not in "CZ" and char not in _UNSEEN for char in text)
