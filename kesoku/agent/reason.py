"""Why a reply ended, as the provider tells it: plain words with its own word in them, such as `(SAFETY)`. Pure."""

import re

_WORD = re.compile(r"\b[A-Z]{3,}(?:_[A-Z]+)*\b")
_AGAIN = "Please try again, or ask in another way."
_OTHER_MODEL = "Please try again, or use another model."
_OTHER_WORDS = "Please ask in other words."
_CURES = {
    "MAX_TOKENS": "Ask for something shorter, or raise the model's output limit in the config.",
    "SAFETY": _OTHER_WORDS,
    "PROHIBITED_CONTENT": _OTHER_WORDS,
    "BLOCKLIST": _OTHER_WORDS,
    "JAILBREAK": _OTHER_WORDS,
    "MODEL_ARMOR": "Please ask in other words, or change the rule of your own project.",
    "SPII": "Please leave personal data out.",
    "IMAGE_SAFETY": "Please use another picture, or ask in other words.",
    "RECITATION": "Ask for a summary, or for the model's own words.",
    "LANGUAGE": "Please ask in another language, or use another model.",
    "MISSING_THOUGHT_SIGNATURE": _OTHER_MODEL,
    "MALFORMED_FUNCTION_CALL": _OTHER_MODEL,
    "MALFORMED_RESPONSE": _OTHER_MODEL,
    "UNEXPECTED_TOOL_CALL": _OTHER_MODEL,
    "PUP_LIMITED_DISABLED": "Please ask the provider about the account.",
    "TOO_MANY_TOOL_CALLS": "Please ask for less at once, or use another model.",
}


def word(detail: str | None) -> str:
    """The provider's own word; empty without one."""
    found = _WORD.search(detail or "")
    return found[0] if found else ""


def cure(detail: str | None) -> str:
    """What a person can do about it."""
    return _CURES.get(word(detail), _AGAIN)
