"""One line of what a model, a tool or a person wrote, in which nothing acts as markup. Pure."""

import re
import unicodedata

from kesoku.render import printable_name, to_plain
from kesoku_discord.drawing.text import size

READ = 600
"""Characters that are looked at."""
_ACTS = re.compile(r"[\\`*@<]|~~|\|\||\]\(|://|(?<![^\W_])_|_(?![^\W_])")
_MARK = re.compile(r"[\\`*~|<>\[\]@]|(?<![^\W_])_|_(?![^\W_])|(?<=:)(?=//)")


def literal(text: str, limit: int) -> str:
    """Text to be read literally, such as an argument: at most `limit` columns, as code where it would act as markup."""
    line = _line(unicodedata.normalize("NFC", text[:READ]), limit)
    return f"`{line}`" if _ACTS.search(line) else line


def prose(markdown: str, limit: int) -> str:
    """The first line of Markdown that says anything, in at most `limit` columns of plain words; empty if none does."""
    first = next((line for line in markdown[:READ].splitlines() if line.strip(" \t`~*_#>-")), "")
    line = to_plain(first).replace("\n", " ").strip()
    return _MARK.sub(r"\\\g<0>", _line(line, limit)) if line else ""


def _line(text: str, limit: int) -> str:
    """One line of at most `limit` columns, and of at most twice as many UTF-16 units, however they are stacked."""
    line, columns = printable_name(text, limit), limit
    while size(line) > 2 * limit:
        columns //= 2
        line = printable_name(line, columns)
    return line
