"""How Gemini ends an answer, in plain words: every finish reason and every reason to block a prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kesoku.messages.turn import Finish

CONTINUES = "CONTINUATION"
"""The finish reason that is none: the answer goes on in another request."""
UNSIGNED = "MISSING_THOUGHT_SIGNATURE"
"""The finish reason that is about the request: a call in it lacks its signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What one reason means: what a turn must do about it, and what a `Reply` says of it."""

    finish: Finish
    words: str
    """For people; empty where there is nothing to say."""
    cure: str = ""
    hint: str = ""
    """May hold `{tools}`, in the place of their names."""


_TOOLS = "{tools}"
_NO_TOOLS = "Your previous response called a tool, but there are no tools now. Answer in words."
_OTHER_MODEL = "Please try again, or use another model."
_OTHER_WORDS = "Please ask in other words."
_OTHER_PICTURE = "Please use another picture, or ask in other words."
_OTHER_RULE = "Please ask in other words, or change the rule of your own project."

FINISHES: Mapping[str, Ending] = {
    "STOP": Ending(finish=Finish.STOP, words=""),
    "MAX_TOKENS": Ending(finish=Finish.CUT, words="the output limit was reached"),
    CONTINUES: Ending(finish=Finish.CUT, words="the answer cannot go on any further"),
    "SAFETY": Ending(finish=Finish.BLOCKED, words="a safety filter stopped the answer", cure=_OTHER_WORDS),
    "RECITATION": Ending(
        finish=Finish.BLOCKED,
        words="the answer repeated a protected text",
        cure="Ask for a summary, or for the model's own words.",
    ),
    "BLOCKLIST": Ending(finish=Finish.BLOCKED, words="the answer used a forbidden word", cure=_OTHER_WORDS),
    "PROHIBITED_CONTENT": Ending(
        finish=Finish.BLOCKED, words="the answer would hold prohibited content", cure=_OTHER_WORDS
    ),
    "SPII": Ending(
        finish=Finish.BLOCKED,
        words="the answer would hold sensitive personal data",
        cure="Please leave personal data out.",
    ),
    "MODEL_ARMOR": Ending(finish=Finish.BLOCKED, words="Model Armor stopped the answer", cure=_OTHER_RULE),
    "ESCALATION": Ending(finish=Finish.BLOCKED, words="an escalation rule stopped the answer"),
    "PUP_LIMITED_DISABLED": Ending(
        finish=Finish.BLOCKED,
        words="the account is limited or disabled for prohibited use",
        cure="Please ask the provider about the account.",
    ),
    "IMAGE_SAFETY": Ending(finish=Finish.BLOCKED, words="a safety filter stopped the image", cure=_OTHER_PICTURE),
    "IMAGE_PROHIBITED_CONTENT": Ending(finish=Finish.BLOCKED, words="the image would hold prohibited content"),
    "IMAGE_RECITATION": Ending(finish=Finish.BLOCKED, words="the image repeated a protected one"),
    "MALFORMED_FUNCTION_CALL": Ending(
        finish=Finish.MALFORMED, words="the model wrote a tool call that cannot be read", cure=_OTHER_MODEL
    ),
    "MALFORMED_RESPONSE": Ending(
        finish=Finish.GARBLED, words="the model wrote an answer that cannot be read", cure=_OTHER_MODEL
    ),
    "UNEXPECTED_TOOL_CALL": Ending(
        finish=Finish.MALFORMED,
        words="the model called a tool that it was not given",
        cure=_OTHER_MODEL,
        hint=f"Your previous response called a tool that does not exist now. These tools exist: {_TOOLS}.",
    ),
    "TOO_MANY_TOOL_CALLS": Ending(
        finish=Finish.MALFORMED,
        words="the model called too many tools at once",
        cure="Please ask for less at once, or use another model.",
        hint="Your previous response called too many tools at once. Call fewer tools at once.",
    ),
    UNSIGNED: Ending(finish=Finish.OTHER, words="a signature of an earlier step is missing", cure=_OTHER_MODEL),
    "LANGUAGE": Ending(
        finish=Finish.OTHER,
        words="the language is not supported",
        cure="Please ask in another language, or use another model.",
    ),
    "IMAGE_OTHER": Ending(finish=Finish.OTHER, words="the image was not made"),
    "NO_IMAGE": Ending(finish=Finish.OTHER, words="no image was made"),
    "OTHER": Ending(finish=Finish.OTHER, words="the provider gave no closer reason"),
}
"""Every finish reason of the API."""

BLOCKS: Mapping[str, Ending] = {
    "SAFETY": Ending(finish=Finish.REFUSED, words="a safety filter stopped the request", cure=_OTHER_WORDS),
    "OTHER": Ending(finish=Finish.REFUSED, words="the provider stopped the request and gave no closer reason"),
    "BLOCKLIST": Ending(finish=Finish.REFUSED, words="the request holds a forbidden word", cure=_OTHER_WORDS),
    "PROHIBITED_CONTENT": Ending(
        finish=Finish.REFUSED, words="the request holds prohibited content", cure=_OTHER_WORDS
    ),
    "IMAGE_SAFETY": Ending(
        finish=Finish.REFUSED, words="the request is not safe for making images", cure=_OTHER_PICTURE
    ),
    "MODEL_ARMOR": Ending(finish=Finish.REFUSED, words="Model Armor stopped the request", cure=_OTHER_RULE),
    "JAILBREAK": Ending(
        finish=Finish.REFUSED, words="the request was taken for an attempt to break the rules", cure=_OTHER_WORDS
    ),
}
"""Every reason for which a prompt is refused before there is an answer."""

_NEW_FINISH = Ending(finish=Finish.OTHER, words="the provider ended the answer")
_NEW_BLOCK = Ending(finish=Finish.REFUSED, words="the provider stopped the request")


def finished(reason: str, message: str | None, tools: Sequence[str]) -> Ending:
    """What a finish reason means; one that is new is OTHER and named. `tools` are the names that the model may call."""
    ending = FINISHES.get(reason, _NEW_FINISH)
    hint = ending.hint.replace(_TOOLS, ", ".join(tools)) if tools or _TOOLS not in ending.hint else _NO_TOOLS
    return replace(ending, words=_told(ending.words, reason, message), hint=hint)


def blocked(reason: str, message: str | None) -> Ending:
    """Why the prompt was refused; a reason that is new is named."""
    ending = BLOCKS.get(reason, _NEW_BLOCK)
    return replace(ending, words=_told(ending.words, reason, message))


def word(value: Any) -> str:
    """The API's word of an enum member; '' for none and for the unspecified one."""
    text = str(getattr(value, "value", value or ""))
    return "" if text.endswith("_UNSPECIFIED") else text


def _told(words: str, reason: str, message: str | None) -> str:
    said = f"{reason}: {' '.join(message.split())}" if message else reason
    return f"{words} ({said})" if words else ""
