"""The title of a thread, made from the message that begins it. Pure."""

import re
from collections.abc import Sequence

from kesoku.render import printable_name

LONGEST = 100
"""UTF-16 units: Discord counts characters, and this is never more."""
_ENOUGH = 400
_NAME = 40

_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_TOKEN = re.compile(r"<(?:[@#][!&]?|/[^:<>\n]{1,100}:|t:|id:)[\w:+-]*>|<a?:\w+:\d+>|@(?:everyone|here)\b")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(\s*<?[^)\n]*>?\s*\)")
_URL = re.compile(r"<?\b[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*(?:(?:>{1,3}|#{1,6}|-#|[-*+]|\d{1,3}[.)])\s+)+")
_INLINE = re.compile(r"\*{1,3}|_{2,3}|~~|\|\||`+|(?<!\w)_|_(?!\w)")


def title_of(text: str, *, name: str = "", files: Sequence[str] = ()) -> str:
    """The first line that says something, without markup, links and mentions; at most 100 UTF-16 units, never empty.

    Without such a line the title names the `files`, else the person (`name`). Whatever the text holds, the title is one
    line without control, bidi or invisible characters.
    """
    for line in _FENCE.sub("", text).splitlines():
        said = _plain(line)
        if any(char.isalnum() for char in said):
            return _cut(said)
    shown = ", ".join(named for named in (printable_name(each, _NAME) for each in files) if named != "?")
    return _cut(shown or f"Conversation with {_plain(printable_name(name, _NAME)) or '?'}")


def _plain(line: str) -> str:
    bare = _URL.sub(" ", _LINK.sub(r"\1", _TOKEN.sub(" ", line)))
    bare = _INLINE.sub("", _BLOCK.sub("", bare)).translate({ord(mark): None for mark in "<>\\"})
    shown = printable_name(bare, _ENOUGH).replace("@", "").strip(" ,;:-–—")
    return "" if shown == "?" else shown


def _cut(text: str) -> str:
    """Cut at a word if that leaves most of it, and never within a character."""
    if _units(text) <= LONGEST:
        return text
    kept = ""
    for char in text:
        if _units(kept) + _units(char) > LONGEST - 1:
            break
        kept += char
    head, space, _ = kept.rpartition(" ")
    return (head if space and len(head) >= len(kept) // 2 else kept).rstrip(" ,;:-–—\u200d") + "…"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
