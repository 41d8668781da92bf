"""What Discord's refusals mean for a delivery, in words for people: a table by JSON code, and one by HTTP status."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class Outcome(Enum):
    """What the core is told."""

    LATER = auto()
    """Nothing was done; it may work later."""
    REFUSED = auto()
    """It is not taken, for good."""
    UNKNOWN = auto()
    """It may have been done."""
    LOGIN = auto()
    """Somebody has to see to the bot's login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An outcome, and why."""

    outcome: Outcome
    words: str


def later(words: str) -> Verdict:
    """Tried again."""
    return Verdict(outcome=Outcome.LATER, words=words)


def refused(words: str) -> Verdict:
    """Never tried again unchanged (complaint 6)."""
    return Verdict(outcome=Outcome.REFUSED, words=words)


def unknown(words: str) -> Verdict:
    """Looked up, or sent once more with the same key."""
    return Verdict(outcome=Outcome.UNKNOWN, words=words)


def login(words: str) -> Verdict:
    """The bot stops until somebody has acted."""
    return Verdict(outcome=Outcome.LOGIN, words=words)


PORTAL = "https://discord.com/developers/applications"
NEW_TOKEN = (
    f"make a new token at {PORTAL} (the application, then Bot, then Reset Token) and set it as DISCORD_TOKEN, or as "
    "the `token` of this bot in the config"
)
"""What to do about a token that Discord does not take."""
INTENT = (
    f"switch on {PORTAL} (the application, then Bot) > Privileged Gateway Intents > Message Content Intent, and save"
)
"""The clicks that let the bot read what people write."""
_DOCTOR = "`kesoku doctor` names what is missing"
_GONE = "the channel is gone, or the bot was removed from its server"
_LATE = "the time to answer this interaction is over"

CODES: Mapping[int, Verdict] = {
    10003: refused(_GONE),
    10004: refused("the server is gone, or the bot was removed from it"),
    10008: refused("the message is not there any more"),
    10015: refused(_LATE),
    10062: refused(_LATE),
    20016: later("slow mode holds the bot up in this channel; the permission Manage Messages lifts that"),
    20028: later("this channel is written to too often"),
    20029: later("this server is written to too often"),
    20031: refused("the text has words that this server does not allow"),
    30015: refused("more files than one message takes"),
    30046: later("messages older than an hour were edited too often"),
    40001: login(f"Discord does not take the token; {NEW_TOKEN}"),
    40002: login("Discord wants the account of the bot's owner verified; log in there and follow its instructions"),
    40003: later("the bot opens too many direct conversations at once"),
    40005: refused("the file is larger than Discord takes here; send a smaller one"),
    40006: later("Discord has switched this off for now"),
    40060: refused("this interaction is answered already"),
    40062: later("Discord is too busy with this"),
    40094: refused("this interaction cannot be answered any further"),
    50001: refused(
        "the bot cannot see this channel, or is no longer in its server; give its role View Channel here, or invite it "
        f"again ({_DOCTOR})"
    ),
    50003: refused("Discord does not allow this in a direct conversation"),
    50005: refused("the message is not the bot's own, so it cannot edit it"),
    50006: refused("an empty message cannot be sent"),
    50007: refused(
        "this person takes no direct messages from the bot; they allow them in their privacy settings of a server "
        "that both are in"
    ),
    50008: refused("this channel takes no text messages"),
    50013: refused(
        "the bot lacks a permission in this channel; give its role Send Messages, Send Messages in Threads and "
        f"Attach Files here ({_DOCTOR})"
    ),
    50014: login(f"Discord does not take the token; {NEW_TOKEN}"),
    50024: refused("Discord does not allow this in a channel of this type"),
    50027: refused(_LATE),
    50035: refused("Discord does not take the message in this form"),
    50045: refused("the file is larger than Discord takes here; send a smaller one"),
    50046: refused("Discord does not take this file"),
    50068: refused("Discord does not take a message of this type"),
    50083: refused("the thread is archived; write something there to open it again"),
    50109: refused("Discord could not read the request"),
    50159: refused("a voice message must be one audio file without any text"),
    50160: refused("Discord does not take this as a voice message"),
    50161: refused("a voice message needs its duration"),
    50162: refused("a voice message cannot be edited"),
    50173: refused("the bot may not send voice messages here; give its role Send Voice Messages"),
    50278: refused("this person shares no server with the bot any more, so it cannot write to them"),
    130000: later("Discord is too busy"),
    160004: refused("the message has a thread already"),
    160005: refused("the thread is locked; somebody with Manage Threads has to unlock it"),
    160006: refused("the server has too many active threads; archive some"),
    200000: refused("a rule of AutoMod of this server blocks the message"),
    200001: refused("a rule of AutoMod of this server blocks the title"),
    240000: refused("Discord takes a link in the message for harmful"),
}
"""By the `code` of the JSON body; it says more than the status."""

STATUSES: Mapping[int, Verdict] = {
    400: refused("Discord does not take the message in this form"),
    401: login(f"Discord does not take the token; {NEW_TOKEN}"),
    403: refused(f"the bot is not allowed to do this here ({_DOCTOR})"),
    404: refused("the channel or message is gone"),
    405: refused("there is no such request; check api_base_url"),
    408: unknown("Discord did not get the whole request in time"),
    413: refused("the file is larger than Discord takes here; send a smaller one"),
    429: later("Discord limits how much the bot may do"),
}
"""By the HTTP status, where the code says nothing."""


def verdict_of(status: int, code: int) -> Verdict:
    """What a response that is no success means."""
    if found := CODES.get(code) or STATUSES.get(status):
        return found
    if 400 <= status < 500:
        return refused("Discord does not take the request")
    return unknown("Discord had trouble of its own" if status >= 500 else "Discord's answer was not understood")


CLOSES: Mapping[int, Verdict] = {
    4004: login(f"Discord does not take the token; {NEW_TOKEN}"),
    4010: login("Discord refuses the shard; report this as an error"),
    4011: login("the bot is in too many servers for one connection, which this version cannot serve"),
    4012: login("this version of the gateway is no longer served; update kesoku and discord.py"),
    4013: login("Discord does not know the intents; update kesoku and discord.py"),
    4014: login(f"the bot may not read messages yet; {INTENT}"),
}
"""By the close code of the gateway; every other one passes."""
