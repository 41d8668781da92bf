"""Fonts for pictures: which of those on this machine can draw a character, and how wide it gets.

A machine has few fonts or many; the one that Pillow brings along knows little more than ASCII.
"""

import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Any

SIZE = 16
"""Pixels of the letters."""
NAMES = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "LiberationSans-Regular.ttf",
    "Arial.ttf",
    "NotoSansCJK-Regular.ttc",
    "NotoSansSC-Regular.otf",
    "DroidSansFallbackFull.ttf",
    "wqy-zenhei.ttc",
    "wqy-microhei.ttc",
    "msyh.ttc",
    "malgun.ttf",
    "PingFang.ttc",
    "Arial Unicode.ttf",
    "NotoSansSymbols2-Regular.ttf",
    "seguisym.ttf",
)
"""Files of fonts, the first that has a character draws it; the last resort is Pillow's own."""
_NO_CHARACTER = "\U0010fffe"
_SHAPED = frozenset({"R", "AL", "AN"})
"""Of scripts that run from right to left: they take more than one glyph after the other."""


def runs(text: str) -> list[tuple[Any, str]]:
    """The text in pieces of one font each."""
    return [(font(index), "".join(found)) for index, found in groupby(text, _number)]


def can_draw(text: str) -> bool:
    """Whether every character of it can be drawn, one behind the other."""
    return all(chosen(each) is not None for each in text)


@lru_cache(maxsize=8192)
def advance(character: str) -> float:
    """The pixels that it takes of a line."""
    return float(font(_number(character)).getlength(character))


@lru_cache(maxsize=8192)
def chosen(character: str) -> int | None:
    """The number of the font that draws a character; None if none can."""
    category = unicodedata.category(character)
    if category[0] in "CM" or category in {"Zl", "Zp"} or unicodedata.bidirectional(character) in _SHAPED:
        return None
    if category == "Zs":
        return _first()
    return next((index for index in range(len(NAMES) + 1) if _has(index, character)), None)


@lru_cache(maxsize=len(NAMES) + 1)
def font(index: int) -> Any:
    """The font of this number, or None where the machine has none of that name."""
    from PIL import ImageFont

    if index == len(NAMES):
        return ImageFont.load_default(SIZE)
    try:
        return ImageFont.truetype(NAMES[index], SIZE, layout_engine=ImageFont.Layout.BASIC)
    except OSError:
        return None


@lru_cache(maxsize=1)
def _first() -> int:
    return next(index for index in range(len(NAMES) + 1) if font(index) is not None)


def _number(character: str) -> int:
    """The number of its font; of the first one for what none can draw: a part may come from a machine with more."""
    found = chosen(character)
    return _first() if found is None else found


def _has(index: int, character: str) -> bool:
    return font(index) is not None and _drawn(index, character) != _drawn(index, _NO_CHARACTER)


def _drawn(index: int, character: str) -> tuple[Any, bytes]:
    mask = font(index).getmask(character)
    return mask.size, bytes(mask)
