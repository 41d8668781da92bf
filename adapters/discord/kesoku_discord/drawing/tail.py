"""The end of an answer that is still being written, as a quote. Pure."""

import re

from kesoku.render import to_markdown
from kesoku_discord.drawing.text import is_blank, sayable, size

LINES = 15
"""Lines that are shown at most, as they were written."""
_TRIES = 6
_LEAST = 60
_FENCE = re.compile(r"^[ \t]*(?P<run>```+|~~~+)(?P<info>[^\n`]*)$", re.MULTILINE)


def tail(text: str, room: int) -> str:
    """As much of the end as fits into `room` UTF-16 units; what is cut off shows as `…`. Empty if there is no room.

    A code block that began before the cut is opened again, one that has no end yet is closed.
    """
    written = sayable(text).strip()
    if is_blank(written) or room < _LEAST:
        return ""
    start = max(0, len(written) - room, _newest_lines(written))
    for _ in range(_TRIES):
        shown = _quoted(_from(written, start))
        excess = size(shown) - room
        if excess <= 0:
            return shown
        start = min(start + excess + 1, len(written) - 1)
    return _quoted("… " + " ".join(written[-room // 4 :].replace("`", "'").split()))


def _newest_lines(text: str) -> int:
    """The end of the line before the newest ones; 0 where there are no more."""
    at = len(text)
    for _ in range(LINES):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at


def _from(text: str, start: int) -> str:
    """The Markdown from the next line after `start` on, or from `start` in a very long line."""
    if start == 0:
        return to_markdown(text)
    line = text.find("\n", start) + 1
    cut = line if 0 < line < (start + len(text)) // 2 else start
    opening = _open_fence(text, cut)
    return "…\n" + to_markdown(f"{opening}\n{text[cut:]}" if opening else text[cut:])


def _open_fence(text: str, end: int) -> str:
    """The line that opens the code block which is open at `end`; empty if none is."""
    opener: re.Match[str] | None = None
    for match in _FENCE.finditer(text, 0, end):
        if opener is None:
            opener = match
        elif match["run"].startswith(opener["run"]) and not match["info"].strip():
            opener = None
    return opener.group().strip() if opener else ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.rstrip().split("\n"))
