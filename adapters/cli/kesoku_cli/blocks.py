"""Cut a growing Markdown text into blocks that are final, so that each is printed once.

Pure. The texts of all blocks, in order, with the tail make up exactly what was fed. CommonMark is read line by line, so
with whole lines only the last block of the document can still change: all before it are final. A block that grows too
long is cut as well: code and tables are opened anew in the next piece, lists go on with the next item.
"""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

LONG = 40
"""Lines after which the unfinished block is cut."""
LONG_TABLE = 200
"""Lines after which a table or a single list item is cut."""
LONG_LINE = 4000
"""Characters after which an unfinished line is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece: `text` verbatim, `markdown` so that it renders alone, `joined` if it goes on with the block before."""

    text: str
    markdown: str
    joined: bool = False


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return parser.disable(["reference", "inline"])


class Blocks:
    """Feed text, get finished blocks; `tail` is what is not finished, `rest` takes it."""

    def __init__(self) -> None:
        self._parser = _parser()
        self._text = ""
        self._opening = ""  # lines that open the cut block anew: the fence line, or the head of the table
        self._joined = False
        self._lines = 0  # whole lines at the last look

    @property
    def tail(self) -> Block:
        """The unfinished block, to be shown as it stands."""
        return self._block(self._text)

    def rest(self) -> Block:
        """Take the tail: nothing follows. The text may be empty."""
        block = self.tail
        self._text, self._opening, self._joined, self._lines = "", "", False, 0
        return block

    def drop_tail(self) -> None:
        """Forget the tail, but not how it was opened: another text goes on where the last block ended."""
        self._text, self._lines = "", 0

    def feed(self, chunk: str) -> list[Block]:
        """Append a piece of the text; return the blocks that are final now."""
        self._text += chunk
        lines = self._text.count("\n")
        long_line = len(self._text) - (self._text.rfind("\n") + 1) > LONG_LINE
        if lines == self._lines and not long_line:
            return []
        blocks = self._finished(self._text.rfind("\n") + 1)
        while (cut := self._cut()) is not None:
            blocks.append(self._take(*cut))
        self._lines = self._text.count("\n")
        return blocks

    def _block(self, text: str) -> Block:
        return Block(text=text, markdown=self._opening + text, joined=self._joined)

    def _take(self, end: int, opening: str, joined: bool) -> Block:
        """Take the first `end` characters; what follows starts with `opening`."""
        block = self._block(self._text[:end])
        self._text, self._opening, self._joined = self._text[end:], opening, joined
        return block

    def _tops(self, text: str) -> list[Token]:
        """The blocks of the outermost level in opening + text, in order."""
        tokens = self._parser.parse((self._opening + text).replace("\r", " "))
        return [token for token in tokens if token.level == 0 and token.map and token.nesting >= 0]

    def _finished(self, whole: int) -> list[Block]:
        """Take every block but the last of the first `whole` characters."""
        text = self._text[:whole]
        starts = _line_starts(text)
        shift = self._opening.count("\n")
        cuts = [starts[token.map[0] - shift] for token in self._tops(text)[1:] if token.map]
        blocks, done = [], 0
        for cut in cuts:
            blocks.append(self._take(cut - done, "", False))
            done = cut
        return [block for block in blocks if block.text]

    def _cut(self) -> tuple[int, str, bool] | None:
        """Where to cut the last block if it is too long: (end, opening of what follows, whether that is joined)."""
        whole = self._text.rfind("\n") + 1
        if len(self._text) - whole > LONG_LINE:
            end = max(self._text.rfind(" ", whole, whole + LONG_LINE) + 1, 0) or whole + LONG_LINE
            return (end, self._reopening(self._text[:end]), True)
        text = self._text[:whole]
        if text.count("\n") <= LONG:
            return None
        tops = self._tops(text)
        if not tops:
            return (whole, "", False)
        return self._cut_long(text, tops[-1])

    def _cut_long(self, text: str, top: Token) -> tuple[int, str, bool] | None:
        lines = text.count("\n")
        if top.type == "table_open" and lines <= LONG_TABLE:
            return None
        if top.type in {"bullet_list_open", "ordered_list_open"}:
            start = self._last_item(text)
            if start:
                return (start, "", True)
            return (len(text), "", True) if lines > LONG_TABLE else None
        if top.type == "fence" and self._is_closed(text, top):
            return None
        return (len(text), self._reopening(text), True)

    def _last_item(self, text: str) -> int:
        """Where the last item of the last list begins, in characters; 0 when it is the only one."""
        items = [t for t in self._parser.parse(text.replace("\r", " ")) if t.type == "list_item_open" and t.level == 1]
        return _line_starts(text)[items[-1].map[0]] if len(items) > 1 and items[-1].map else 0

    def _reopening(self, text: str) -> str:
        """The lines that must stand before what follows `text` when it is cut there."""
        tops = self._tops(text)
        if not tops or not tops[-1].map:
            return ""
        lines = _lines(self._opening + text)
        first = tops[-1].map[0]
        if tops[-1].type == "fence" and not self._is_closed(text, tops[-1]):
            return _ended(lines[first])
        if tops[-1].type == "table_open":
            return "".join(lines[first : first + 2])
        return ""

    def _is_closed(self, text: str, fence: Token) -> bool:
        if not fence.map:
            return False
        lines = _lines(self._opening + text)
        first, end = fence.map
        closing = rf" {{0,3}}{re.escape(fence.markup[0])}{{{len(fence.markup)},}}\s*"
        return end - first > 1 and re.fullmatch(closing, lines[end - 1]) is not None


def _lines(text: str) -> list[str]:
    """The lines of a text with their line feeds; only a line feed ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _line_starts(text: str) -> list[int]:
    """Where each line begins, in characters, and where the text ends."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"
