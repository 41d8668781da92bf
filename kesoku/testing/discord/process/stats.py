"""Figures about what a loopback Discord was asked."""

from collections import Counter, deque
from collections.abc import Iterable
from itertools import pairwise

from kesoku.testing.discord.request import Seen
from kesoku.testing.discord.rest.route import open_to_all
from kesoku.testing.discord.server import LoopbackDiscord
from kesoku.testing.discord.world.entity import Channel, Json, Message


def stats(server: LoopbackDiscord) -> Json:
    """What happened since the start.

    `requests` counts by route, `refused` by status; `limited` are the 429 that were earned, `scripted_limits` those
    that were not. `rate` is the largest number of requests in any second, `edit_gap` the shortest time from one
    form of a message of the bot to its next, None if none was edited. `doubled` counts messages that a nonce stopped.
    """
    refused = Counter(str(each.status) for each in server.requests if each.status and each.status >= 400)
    return {
        "requests": Counter(each.route or each.path for each in server.requests),
        "refused": refused,
        "limited": server.limited,
        "scripted_limits": server.scripted_limits,
        "rate": rate(server.requests),
        "edit_gap": edit_gap(each for each in server.world.messages.values() if each.author is server.world.bot),
        "doubled": server.doubled,
        "connections": server.connections,
        "identifies": server.identifies,
        "resumes": server.resumes,
    }


def rate(requests: Iterable[Seen], *, seconds: float = 1.0) -> int:
    """The largest number of requests in any window of so many seconds; interactions do not count."""
    window: deque[float] = deque()
    most = 0
    for at in sorted(each.at for each in requests if not open_to_all(each.route)):
        window.append(at)
        while window[0] <= at - seconds:
            window.popleft()
        most = max(most, len(window))
    return most


def edit_gap(messages: Iterable[Message]) -> float | None:
    """The shortest time from one form of a message to its next, in seconds; None if none was edited."""
    return min((b - a for each in messages for a, b in pairwise((each.at, *each.edited_at))), default=None)


def shown(server: LoopbackDiscord, channel: Channel) -> list[Json]:
    """The messages that everybody sees in a channel, with the times of their edits."""
    return [
        {
            "id": each.id,
            "at": each.at,
            "author_id": each.author_id,
            "content": each.content,
            "nonce": each.nonce,
            "reply_to": each.reply_to,
            "components": each.components,
            "attachments": [
                {"name": one.name, "size": len(one.data), "content_type": one.content_type} for one in each.attachments
            ],
            "edits": each.edits,
            "edited_at": each.edited_at,
        }
        for each in server.messages(channel)
    ]
