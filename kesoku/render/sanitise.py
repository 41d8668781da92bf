"""Make text safe to show: what could steer a terminal, or fake a line, becomes a visible mark."""

import re
import unicodedata

from wcwidth import iter_graphemes, width

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: "\u2421"}
_C1 = range(0x80, 0xA0)
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SURROGATES = range(0xD800, 0xE000)
_MARKS = _PICTURES | {code: f"<U+{code:04X}>" for code in (*_C1, *_BIDI, *_SURROGATES)}

_JOINERS = "\u200c\u200d"
_LONGEST_GRAPHEME = 16


def visible(text: str) -> str:
    """Show control characters (all but newline and tab), bidi controls and lone surrogates as marks.

    ESC becomes `␛`, U+009B becomes `<U+009B>`. CRLF becomes a plain newline. The result can be encoded as UTF-8, and
    `visible` changes it no more.
    """
    return text.replace("\r\n", "\n").translate(_MARKS)


def printable_name(text: str, limit: int = 64) -> str:
    """Make one inert line of a name: at most `limit` columns, no back-tick, control, bidi or zero-width character.

    Joiners stay between non-ASCII characters, where scripts and emoji need them. A name of which nothing is left
    becomes `?`.
    """
    kept = "".join(_kept(text, index) for index in range(min(len(text), limit * _LONGEST_GRAPHEME)))
    return _shortened(" ".join(kept.split()), limit) or "?"


def _kept(text: str, index: int) -> str:
    char = text[index]
    if char == "`":
        return "'"
    category = unicodedata.category(char)
    if category == "Cc":
        return " "
    if category == "Cs":
        return "\ufffd"
    if category == "Cf":
        return char if char in _JOINERS and _joins(text, index) else ""
    return char


def _joins(text: str, index: int) -> bool:
    around = text[index - 1 : index] + text[index + 1 : index + 2]
    return bool(re.fullmatch(r"[^\x00-\u02ff\s]{2}", around)) and not any(
        unicodedata.category(char)[0] in "CZ" for char in around
    )


def _shortened(name: str, limit: int) -> str:
    """Cut between graphemes at `limit` columns, with an ellipsis; a grapheme stacked too high is capped."""
    graphemes = [grapheme[:_LONGEST_GRAPHEME] for grapheme in iter_graphemes(name)]
    if width("".join(graphemes)) <= limit and len(graphemes) <= limit:
        return "".join(graphemes)
    kept: list[str] = []
    columns = 0
    for grapheme in graphemes:
        columns += max(1, width(grapheme))
        if columns >= limit:
            break
        kept.append(grapheme)
    return "".join(kept).rstrip() + "…"
