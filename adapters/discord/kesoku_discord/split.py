"""Cut Markdown into texts that Discord takes as one message each. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from kesoku.render import Unit, parts, to_markdown
from kesoku_discord.manifest import MAX_TEXT

_BAR = "||"
_HIDDEN = re.compile(r"```.*?```|`[^`\n]+`|(?P<hidden>\|\|(?:(?!```).)+?\|\|)", re.DOTALL)
_LEAD = re.compile(r"[ \t]*+(?:>[ \t>]*+)?+")
_REST_QUOTED = re.compile(r"^([ \t]*+)>>>[ \t]")


def size(text: str) -> int:
    """How much of Discord's limit a text takes."""
    return Unit.UTF16.size(text)


def split(markdown: str, limit: int = MAX_TEXT) -> list[str]:
    """The texts of any Markdown, in order, none of them blank and each within the limit in UTF-16 units.

    What is cut in two is whole in each part: fences, heads of tables, and spoilers, which stay covered.
    """
    text = _line_quotes(to_markdown(markdown))
    hidden = [match.span() for match in _HIDDEN.finditer(text) if match["hidden"]]
    return list(_covered(text, limit - 2 * len(_BAR), hidden) if hidden else _shown(text, limit))


def fitted(markdown: str, *, above: str = "", below: str = "") -> list[str]:
    """The same, with a line above the first text or below the last one, for which there is always room.

    A line below an open code block, as what nests too deep to be read may leave it, becomes a text of its own.
    """
    texts = split(markdown)
    if not texts:
        return []
    room = MAX_TEXT - 1 - max(size(above), size(below))
    if (above and size(texts[0]) > room) or (below and size(texts[-1]) > room):
        texts = split(markdown, room)
    if above:
        texts[0] = f"{above}\n{texts[0]}"
    if below and texts[-1].count("```") % 2:
        texts.append(below)
    elif below:
        texts[-1] = f"{texts[-1].rstrip()}\n{below}"
    return texts


def _shown(text: str, limit: int) -> Iterator[str]:
    return (part.text for part in parts(text, limit, Unit.UTF16) if not part.blank)


def _covered(text: str, limit: int, hidden: list[tuple[int, int]]) -> Iterator[str]:
    """The parts of a text with spoilers: one that goes on in the next part is closed here and opened again there."""
    start = 0
    for part in parts(text, limit, Unit.UTF16):
        end = start + len(part.body)
        before, behind = (_BAR if _is_inside(at, hidden) else "" for at in (start, end))
        if not part.blank:
            yield part.prefix + before + part.body + behind + part.suffix
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
