"""How a question looks once it is answered: its text, and a line that says who chose what. Pure."""

import re
from dataclasses import replace

from kesoku.adapter import Outgoing, Question
from kesoku_discord.drawing.inert import literal
from kesoku_discord.drawing.text import size
from kesoku_discord.limits import MAX_TEXT
from kesoku_discord.snowflake import parse

_NAME, _CHOICE = 64, 200
_DEADLINE = re.compile(r"\n-# Deadline: <t:\d+:R>\Z")


def closed(shown: Outgoing, question: Question, answer: str | None, by: str) -> Outgoing:
    """What is left of a question of the core: its text, how it ended, and nothing to press (see the contract).

    A person of Discord is named by a mention, which Discord shows as the name, and of which nobody is told.
    """
    kept = {name: value for name, value in (shown.payload or {}).items() if name != "components"}
    return replace(shown, text=_closed(shown.text, _ending(answer, by)), buttons=(), payload=kept or None)


def picked(text: str, name: str, label: str) -> str:
    """A question out of an answer, with what was picked."""
    return _closed(text, chose(name, label))


def chose(name: str, label: str) -> str:
    """Who picked what, in one line in which nothing acts as markup."""
    return f"{literal(name, _NAME)} chose: {literal(label, _CHOICE)}"


def _ending(answer: str | None, by: str) -> str:
    if answer is not None:
        kind, _, user_id = by.partition(":")
        is_here = kind == "user" and parse(user_id) is not None
        return f"✅ {f'<@{user_id}>' if is_here else literal(user_id or by, _NAME)}: {literal(answer, _CHOICE)}"
    return "⌛ Nobody answered in time." if by == "deadline" else "The turn is over."


def _closed(text: str, line: str) -> str:
    """The text with the line below it in small letters, in the place of a deadline; without it where it does not fit,
    or stands there already."""
    closed = f"{_DEADLINE.sub('', text.rstrip())}\n-# {line}".lstrip("\n")
    return text if text.endswith(f"-# {line}") or size(closed) > MAX_TEXT else closed
