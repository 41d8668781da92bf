"""Reads what Discord sends as the library does, and goes on where the library gives up.

The library knows the forms of its own day. One message of another form would end the connection, be met again in
history after the restart, and hide everything else that stands there.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import discord

from kesoku_discord.library import Parser, message_from
from kesoku_discord.wire.errors import UNREADABLE

Json = Mapping[str, Any]

_LEAST = ("id", "channel_id", "guild_id", "author", "webhook_id", "type", "content")
_DETAILS = (
    "attachments", "referenced_message", "message_reference", "member", "edited_timestamp", "mention_roles",
    "mentions", "flags",
)  # fmt: skip
"""With these a message can be answered; the rest may be left out, and if need be one of these."""
_MESSAGES = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE"})
_NOBODY: dict[str, Any] = {"mentions": [], "mention_roles": []}
"""The library does without most fields, but not without these."""
_UPDATE = "MESSAGE_UPDATE"
_INDISPENSABLE = frozenset({"READY", "RESUMED"})
"""Without these there is no session."""
_log = logging.getLogger(__name__)


def guarded(parsers: Mapping[str, Parser]) -> dict[str, Parser]:
    """The library's parsers of events; an event that cannot be read is left out, and does not end the client."""
    return {name: parse if name in _INDISPENSABLE else _guard(name, parse) for name, parse in parsers.items()}


def message_of(client: discord.Client, channel: Any, data: Json) -> discord.Message | None:
    """A message that Discord answered a request with; None if it cannot be read, and the log says so."""
    made: list[discord.Message] = []

    def make(form: Any) -> None:
        made.append(message_from(client, channel, form))

    _read(make, "message", data, _forms(data))
    return made[0] if made else None


def _guard(name: str, parse: Parser) -> Parser:
    def careful(data: Any) -> None:
        if name == _UPDATE and "author" not in data:  # a preview of a link, or a flag: nobody wrote anything
            _log.debug("%s %s names no author", name, data.get("id", ""))
            return
        _read(parse, name, data, _forms(data) if name in _MESSAGES else [data])

    return careful


def _read(parse: Parser, name: str, data: Json, forms: Iterable[Json]) -> None:
    """Parse the first form that can be parsed."""
    why: Exception | None = None
    for form in forms:
        try:
            parse(form)
        except UNREADABLE as error:
            why = why or error
        else:
            break
    else:
        _log.error("%s %s is left out, since the library cannot read it", name, data.get("id", ""), exc_info=why)


def _forms(data: Json) -> Iterator[Json]:
    """A message as it came, then with what counts only, then without one detail, then without any."""
    if isinstance(poll := data.get("poll"), Mapping) and not poll.get("expiry"):  # which may be null, says Discord
        data = {**data, "poll": {**poll, "expiry": data.get("timestamp")}}
    yield {**_NOBODY, **data}
    yield _only((*_LEAST, *_DETAILS), data)
    for left_out in _DETAILS:
        yield _only((*_LEAST, *(each for each in _DETAILS if each != left_out)), data)
    yield _only(_LEAST, data)


def _only(names: Iterable[str], data: Json) -> Json:
    kept = _NOBODY | {name: data[name] for name in names if name in data}
    if isinstance(replied := kept.get("referenced_message"), Mapping):
        kept["referenced_message"] = _only((*_LEAST, *_DETAILS), replied)
    return kept
