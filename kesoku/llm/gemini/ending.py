"""How Gemini ends an answer, in plain words: every finish reason and every reason to block a prompt."""

from collections.abc import Mapping
from typing import Any

from kesoku.messages.turn import Finish

CONTINUES = "CONTINUATION"
"""The finish reason that is none: the answer goes on in another request."""
UNSIGNED = "MISSING_THOUGHT_SIGNATURE"
"""The finish reason that is about the request: a call in it lacks its signature."""

FINISHES: Mapping[str, tuple[Finish, str]] = {
    "STOP": (Finish.STOP, ""),
    "MAX_TOKENS": (Finish.CUT, "the output limit was reached"),
    CONTINUES: (Finish.CUT, "the answer cannot go on any further"),
    "SAFETY": (Finish.BLOCKED, "a safety filter stopped the answer"),
    "RECITATION": (Finish.BLOCKED, "the answer repeated a protected text"),
    "BLOCKLIST": (Finish.BLOCKED, "the answer used a forbidden word"),
    "PROHIBITED_CONTENT": (Finish.BLOCKED, "the answer would hold prohibited content"),
    "SPII": (Finish.BLOCKED, "the answer would hold sensitive personal data"),
    "MODEL_ARMOR": (Finish.BLOCKED, "Model Armor stopped the answer"),
    "ESCALATION": (Finish.BLOCKED, "an escalation rule stopped the answer"),
    "PUP_LIMITED_DISABLED": (Finish.BLOCKED, "the account is limited or disabled for prohibited use"),
    "IMAGE_SAFETY": (Finish.BLOCKED, "a safety filter stopped the image"),
    "IMAGE_PROHIBITED_CONTENT": (Finish.BLOCKED, "the image would hold prohibited content"),
    "IMAGE_RECITATION": (Finish.BLOCKED, "the image repeated a protected one"),
    "MALFORMED_FUNCTION_CALL": (Finish.MALFORMED, "the model wrote a tool call that cannot be read"),
    "MALFORMED_RESPONSE": (Finish.MALFORMED, "the model wrote an answer that cannot be read"),
    "UNEXPECTED_TOOL_CALL": (Finish.MALFORMED, "the model called a tool that it was not given"),
    "TOO_MANY_TOOL_CALLS": (Finish.MALFORMED, "the model called too many tools at once"),
    UNSIGNED: (Finish.OTHER, "a signature of an earlier step is missing"),
    "LANGUAGE": (Finish.OTHER, "the language is not supported"),
    "IMAGE_OTHER": (Finish.OTHER, "the image was not made"),
    "NO_IMAGE": (Finish.OTHER, "no image was made"),
    "OTHER": (Finish.OTHER, "the provider gave no closer reason"),
}
"""Every finish reason of the API: what a turn must do about it, and what people read."""

BLOCKS: Mapping[str, str] = {
    "SAFETY": "a safety filter stopped the request",
    "OTHER": "the provider stopped the request and gave no closer reason",
    "BLOCKLIST": "the request holds a forbidden word",
    "PROHIBITED_CONTENT": "the request holds prohibited content",
    "IMAGE_SAFETY": "the request is not safe for making images",
    "MODEL_ARMOR": "Model Armor stopped the request",
    "JAILBREAK": "the request was taken for an attempt to break the rules",
}
"""Every reason for which a prompt is refused before there is an answer."""


def finished(reason: str, message: str | None) -> tuple[Finish, str]:
    """What a finish reason means; one that is new is OTHER and named."""
    finish, words = FINISHES.get(reason, (Finish.OTHER, "the provider ended the answer"))
    return finish, _told(words, reason, message) if words else ""


def blocked(reason: str, message: str | None) -> str:
    """Why the prompt was refused; a reason that is new is named."""
    return _told(BLOCKS.get(reason, "the provider stopped the request"), reason, message)


def word(value: Any) -> str:
    """The API's word of an enum member; '' for none and for the unspecified one."""
    text = str(getattr(value, "value", value or ""))
    return "" if text.endswith("_UNSPECIFIED") else text


def _told(words: str, reason: str, message: str | None) -> str:
    return f"{words} ({reason}: {' '.join(message.split())})" if message else f"{words} ({reason})"
