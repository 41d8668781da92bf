"""What the bot must be allowed to do: by what the config makes of it, and what a channel lets it. Pure.

Roles, overwrites and their numbers as in Discord's JSON.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from kesoku_discord.config import ChannelConfig, DiscordConfig

_ADMINISTRATOR = 1 << 3
_VIEW = 1 << 10
_SEND = 1 << 11
_ATTACH_FILES = 1 << 15
_SEND_IN_THREADS = 1 << 38
_VOICE_MESSAGES = 1 << 46
_WITHOUT_SENDING = 1 << 12 | 1 << 14 | _ATTACH_FILES | 1 << 17 | _VOICE_MESSAGES
"""What is of no use to who may not send: text to speech, embeds, files, @everyone, voice messages."""
ALL = (1 << 53) - 1
"""Every permission there is, and some to come."""
INVITE = "https://discord.com/oauth2/authorize"


def needed(config: DiscordConfig, channel: ChannelConfig | None = None, *, posts: bool = False) -> dict[str, int]:
    """The permissions that the bot needs in a channel, as bits by the names that Discord shows.

    `posts`: it is a forum, where the bot answers in the posts of others, and begins none.
    """
    bits = {
        "View Channels": _VIEW,
        "Send Messages": _SEND,
        "Attach Files": _ATTACH_FILES,
        "Read Message History": 1 << 16,
        "Send Messages in Threads": _SEND_IN_THREADS,
    }
    if posts:
        del bits["Send Messages"]
        return bits
    threads = config.auto_thread if channel is None or channel.auto_thread is None else channel.auto_thread
    if threads:
        bits["Create Public Threads"] = 1 << 35
    return bits


def optional() -> dict[str, int]:
    """What it makes use of where it has it: else a recording is sent as a plain file."""
    return {"Send Voice Messages": _VOICE_MESSAGES}


def wished(config: DiscordConfig) -> int:
    """All bits that the bot has a use for in any channel."""
    bits = needed(config) | optional()
    for channel in config.channels.values():
        bits |= needed(config, channel)
    return sum(bits.values())


def missing(bits: Mapping[str, int], held: int) -> list[str]:
    """The names of the permissions that are not held."""
    return [name for name, bit in bits.items() if not held & bit]


def of_roles(guild: Mapping[str, Any], held: Collection[str]) -> int:
    """What a member with the roles `held` may do in a server, before any channel says otherwise."""
    bits = 0
    for role in guild["roles"]:
        if role["id"] in held or role["id"] == guild["id"]:  # the role of everybody has the server's id
            bits |= int(role["permissions"])
    return whole(bits)


def whole(bits: int) -> int:
    """An administrator may do everything."""
    return ALL if bits & _ADMINISTRATOR else bits


def effective(
    guild: Mapping[str, Any],
    *,
    member_id: str,
    held: Collection[str],
    overwrites: Sequence[Mapping[str, Any]],
    posts: bool = False,
) -> int:
    """What a member may do in a channel with these overwrites; of a thread, those of its parent count.

    `posts`: it is a forum, where people write in threads only.
    """
    bits = of_roles(guild, held)
    if bits == ALL or guild.get("owner_id") == member_id:
        return ALL
    for ids in ({guild["id"]}, set(held) - {guild["id"]}, {member_id}):
        chosen = [each for each in overwrites if each["id"] in ids]
        bits = bits & ~_union(each["deny"] for each in chosen) | _union(each["allow"] for each in chosen)
    if not bits & _VIEW:
        return 0
    return bits if bits & (_SEND_IN_THREADS if posts else _SEND) else bits & ~_WITHOUT_SENDING


def invite(client_id: str, bits: int) -> str:
    """The link with which somebody takes the bot into a server, with these permissions."""
    query = urlencode({"client_id": client_id, "permissions": bits, "scope": "bot applications.commands"})
    return f"{INVITE}?{query}"


def _union(numbers: Iterable[str]) -> int:
    bits = 0
    for number in numbers:
        bits |= int(number)
    return bits
