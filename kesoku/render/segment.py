"""The pieces of a reply: what an assistant's Markdown is made of once it is taken apart."""

from dataclasses import dataclass
from enum import StrEnum


class Alignment(StrEnum):
    """How a table column is set."""

    NONE = "none"
    """As the reader's program likes; drawn as LEFT."""
    LEFT = "left"
    """Flush left."""
    CENTER = "center"
    """In the middle."""
    RIGHT = "right"
    """Flush right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Markdown source without a fenced block or a table at its top level."""

    markdown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A fenced block. `text` is verbatim, without the last newline; `extra` is the info string after the language."""

    text: str
    language: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. Cells are inline Markdown; a row may be shorter than the header, never longer."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()
    alignments: tuple[Alignment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A local file to send along. The path is as the model wrote it: pass it through `confine` before use."""

    path: str
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A local audio file to send as a voice message. The path is as the model wrote it."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to the reader; no choices means that any text answers it."""

    text: str
    choices: tuple[str, ...] = ()


Segment = Text | Code | Table | File | Voice | Question
