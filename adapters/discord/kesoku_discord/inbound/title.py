"""The title of a thread, made from the message that begins it. Pure."""

import re
from collections.abc import Sequence

from kesoku.render import printable_name
from kesoku_discord.drawing.text import cut

LONGEST = 100
"""UTF-16 units: Discord counts characters, and this is never more."""
_READ = 2000
"""Characters in which the line that says something is looked for."""
_ENOUGH = 400
_NAME = 40

_FENCE = re.compile(r"^[^\S\n]*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_TOKEN = re.compile(r"<(?:[@#][!&]?|/[^:<>\n]{1,100}:|t:|id:)[\w:+-]*>|<a?:\w+:\d+>|@(?:everyone|here)\b")
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)")
_URL = re.compile(r"<?\b[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*(?:(?:>{1,3}|#{1,6}|-#|[-*+]|\d{1,3}[.)])\s+)+")
_INLINE = re.compile(r"(?<![\s*])\*{1,3}|\*{1,3}(?![\s*])|_{2,3}|~~|\|\||`+|(?<!\w)_|_(?!\w)")


def title_of(text: str, *, name: str = "", files: Sequence[str] = ()) -> str:
    """The first line that says something, without markup, links and mentions; at most 100 UTF-16 units, never empty.

    Without such a line the title names the `files`, else the person (`name`). Whatever the text holds, the title is one
    line without control, bidi or invisible characters.
    """
    for line in _FENCE.sub("", text[:_READ]).splitlines():
        said = _plain(line)
        if any(char.isalnum() for char in said):
            return cut(said, LONGEST)
    shown = ", ".join(filter(None, map(_named, files)))
    return cut(shown or f"Conversation with {_named(name) or '?'}", LONGEST)


def _named(name: str) -> str:
    return _plain(printable_name(name, _NAME))


def _plain(line: str) -> str:
    bare = _URL.sub(" ", _LINK.sub(r"\1", _TOKEN.sub(" ", line)))
    bare = _INLINE.sub("", _BLOCK.sub("", bare)).translate({ord(mark): None for mark in "<>\\"})
    shown = printable_name(bare, _ENOUGH).replace("@", "").strip(" ,;:-–—")
    return "" if shown == "?" else shown
