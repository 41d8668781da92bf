"""Cut Markdown into texts that Discord takes as one message each. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from kesoku.render import Unit, parts, to_markdown
from kesoku_discord.drawing.text import is_blank, sayable, size
from kesoku_discord.limits import MAX_TEXT

_BAR = "||"
_HIDDEN = re.compile(r"```.*?```|`[^`\n]+`|(?P<hidden>\|\|(?:(?!```).)+?\|\|)", re.DOTALL)
_LEAD = re.compile(r"[ \t]*+(?:>[ \t>]*+)?+")
_REST_QUOTED = re.compile(r"^([ \t]*+)>>>[ \t]")
_BLOCK = re.compile(r"\A\s*+(?:(?=(?:#{1,3}|-#|>{1,3}|[-*+])[ \t])|\d{1,9}+(?=[.)][ \t]))")
"""What stands before the mark of a heading, small print, a quote or a list."""


def split(markdown: str, limit: int = MAX_TEXT) -> list[str]:
    """The texts of any Markdown, in order, none of them blank and each within the limit in UTF-16 units.

    What is cut in two is whole in each part: fences, heads of tables, and spoilers, which stay covered.
    """
    text = _line_quotes(to_markdown(sayable(markdown)))
    hidden = [match.span() for match in _HIDDEN.finditer(text) if match["hidden"]]
    room = limit - 2 * len(_BAR) if hidden else limit
    texts = list(_texts(text, room, hidden))
    return texts if all(size(each) <= limit for each in texts) else list(_texts(text, room - 1, hidden))


def fitted(markdown: str, *, above: str = "", below: str = "", spare: int = 0) -> list[str]:
    """The same, with a line above the first text or below the last one, for which there is always room.

    `spare` UTF-16 units more are left free in the last text, for what is to stand there later.

    A line below an open code block, as what nests too deep to be read may leave it, becomes a text of its own.
    """
    texts = split(markdown)
    if not texts:
        return []
    at_top, at_end = (MAX_TEXT - (size(line) + 1 if line else 0) for line in (above, below))
    if size(texts[0]) > at_top or size(texts[-1]) > at_end - spare:
        texts = split(markdown, min(at_top, at_end - spare))
    if above:
        texts[0] = f"{above}\n{texts[0]}"
    if below and texts[-1].count("```") % 2:
        texts.append(below)
    elif below:
        texts[-1] = f"{texts[-1].rstrip()}\n{below}"
    return texts


def _texts(text: str, limit: int, hidden: list[tuple[int, int]]) -> Iterator[str]:
    """The parts; what the cut did not mean to change is mended.

    A spoiler that goes on in the next part is closed here and opened again there, and what stood within a line begins
    no block at the start of a part, for which it may be one unit longer than the limit.
    """
    start = 0
    for part in parts(text, limit, Unit.UTF16):
        end = start + len(part.body)
        before, behind = (_BAR if _is_inside(at, hidden) else "" for at in (start, end))
        if not is_blank(part.body):
            is_inner = start > 0 and text[start - 1] != "\n" and not (part.prefix or before)
            body = _BLOCK.sub(r"\g<0>\\", part.body) if is_inner else part.body
            yield part.prefix + before + body + behind + part.suffix
        start = end


def _is_inside(at: int, spans: list[tuple[int, int]]) -> bool:
    index = bisect_left(spans, (at,)) - 1
    return index >= 0 and at < spans[index][1]


def _line_quotes(text: str) -> str:
    """`>>> ` quotes all that follows in a message, whatever it is: outside of code it becomes a quote of its line."""
    if ">>>" not in text:
        return text
    return "\n".join(_quoted_lines(text.split("\n")))


def _quoted_lines(lines: list[str]) -> Iterator[str]:
    """A code block that stands in a quote is changed with it, one that does not stays as it is."""
    in_code = in_quote = False
    for line in lines:
        yield line if in_code and not in_quote else _REST_QUOTED.sub(r"\1> ", line, count=1)
        lead = _LEAD.match(line)
        mark = lead.group() if lead else ""
        if line.startswith("```", len(mark)) and line.count("```") % 2:
            in_code, in_quote = not in_code, ">" in mark
