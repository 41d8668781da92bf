"""The line that stands above a person's prompt and says who wrote it and when (rows K-115, K-228, K-239)."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kesoku.errors import TimeNaive, ZoneUnknown
from kesoku.render.sanitise import printable_name


def header(
    display_name: str, when: datetime, zone: str, zone_label: str | None = None, mention: str | None = None
) -> str:
    """Write "`Name` <@id> at `2026-05-27 20:45:00 Asia/Shanghai`:" and a newline.

    `when` is an aware datetime, shown in `zone` (an IANA name); `zone_label` replaces its name in the text alone.
    `mention` is the platform's user id; without it the part in angle brackets is left out. Whatever the name holds, the
    header stays one line that only this function closes. Raises ZoneUnknown and TimeNaive.
    """
    if when.tzinfo is None:
        raise TimeNaive(when=when.isoformat())
    local = f"{when.astimezone(_zone(zone)):%Y-%m-%d %H:%M:%S} {printable_name(zone_label or zone)}"
    return f"`{printable_name(display_name)}`{_mention(mention)} at `{local}`:\n"


def is_headed(text: str, display_name: str) -> bool:
    """Whether the text begins with a header that names this person."""
    return _head(text, display_name) is not None


def without_header(text: str, display_name: str) -> str:
    """The text below the header that names this person; all of it if it has none."""
    head = _head(text, display_name)
    return text if head is None else text[head.end() :]


def _head(text: str, display_name: str) -> re.Match[str] | None:
    return re.match(rf"`{re.escape(printable_name(display_name))}`.* at `[^`\n]*`:\n", text)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ZoneUnknown(zone=name) from error


def _mention(user_id: str | None) -> str:
    if not user_id:
        return ""
    inert = printable_name(user_id.translate({ord(mark): None for mark in "<@>"}))
    return f" <@{inert}>"
