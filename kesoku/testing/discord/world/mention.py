"""Who is told of a message: mentions in its text, held against `allowed_mentions`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kesoku.testing.discord.error import Faults
from kesoku.testing.discord.request import snowflake
from kesoku.testing.discord.world.entity import Channel, Message, User
from kesoku.testing.discord.world.permission import MENTION_EVERYONE, permissions
from kesoku.testing.discord.world.world import World

_USER, _ROLE = re.compile(r"<@!?(\d+)>"), re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(everyone|here)\b")
_KINDS = ("everyone", "roles", "users")
_MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinged:
    """Who is told."""

    users: list[User] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    everyone: bool = False


def check(allowed: Any, faults: Faults) -> None:
    """Note what is wrong with an `allowed_mentions`."""
    if allowed is None:
        return
    if not isinstance(allowed, dict):
        faults.add("allowed_mentions", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return
    parse = allowed.get("parse") or []
    for number, kind in enumerate(parse):
        if kind not in _KINDS:
            faults.add(f"allowed_mentions.parse.{number}", "BASE_TYPE_CHOICES", f"Value must be one of {_KINDS}.")
    for kind in ("roles", "users"):
        named = allowed.get(kind) or []
        if len(named) > _MOST:
            faults.add(f"allowed_mentions.{kind}", "BASE_TYPE_MAX_LENGTH", f"Must be {_MOST} or fewer in length.")
        if named and kind in parse:
            message = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            faults.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message)


def pinged(
    world: World,
    channel: Channel,
    author: User,
    content: str,
    allowed: Any = None,
    *,
    answers: Message | None = None,
    usual: Iterable[str] = _KINDS,
) -> Pinged:
    """Who is told of a text. `answers` is the message that it answers: its author is told unless that is forbidden.

    `usual` is what counts if nothing is `allowed` expressly.
    """
    parse = set(usual) if allowed is None else set(allowed.get("parse") or ())
    told = [world.users[each] for each in _found(_USER, content, parse, "users", allowed) if each in world.users]
    if answers is not None and (allowed is None or allowed.get("replied_user")) and answers.author not in told:
        told.append(answers.author)
    may = bool(permissions(world, channel, author) & MENTION_EVERYONE)
    roles = channel.guild.roles if channel.guild else {}
    return Pinged(
        users=told,
        roles=[each for each in _found(_ROLE, content, parse, "roles", allowed) if each in roles and may],
        everyone=may and "everyone" in parse and bool(_EVERYONE.search(content)),
    )


def _found(pattern: re.Pattern[str], content: str, parse: Iterable[str], kind: str, allowed: Any) -> list[int]:
    found = list(dict.fromkeys(map(int, pattern.findall(content))))
    if kind in parse:
        return found
    named = {snowflake(each, f"allowed_mentions.{kind}") for each in (allowed or {}).get(kind) or ()}
    return [each for each in found if each in named]
