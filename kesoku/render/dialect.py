"""Turn Markdown into what chat programs show: plain text, a markup of their own, or Markdown as they read it.

Each function takes Markdown or segments and returns text for `chunk`. Code stays verbatim, with one exception: chat
programs begin and end a block at any three back-ticks, so those inside of code or loose in text get zero-width spaces.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from markdown_it.token import Token

from kesoku.render.markdown import LEAD, MARKDOWN, deep, normalised, table_at
from kesoku.render.parse import unparse
from kesoku.render.segment import Code, Question, Segment, Table, Text
from kesoku.render.table import aligned, listed
from kesoku.render.writer import Dialect, led, write, write_line

Source = str | Iterable[Segment]

_ADDRESS = re.compile(r"https?://|mailto:|tel:", re.IGNORECASE)
_LANGUAGE = re.compile(r"[\w+.#-]+", re.ASCII)
_READ_AS_CODE = r"(?s:```.*?```)|`[^`\n]*`"


def to_plain(source: Source) -> str:
    """Plain text (row K-197): links as `text (url)`, tables as one line a row, code with its back-ticks and fences."""
    return write(_markdown(source), _PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """The marks of a platform whose markup is not Markdown; an empty mark leaves the style out. Code has back-ticks."""

    strong: str = ""
    em: str = ""
    strike: str = ""
    heading: str = ""
    """Stands before and after the text of a heading."""
    bullet: str = "- "
    link: str = ""
    """The form of a link with a label, such as `<{address}|{label}>`. Empty: `label (address)`."""
    mentions: tuple[str, ...] = ()
    """How mentions begin, such as `<users/`; outside of code they become inert."""


def to_markup(source: Source, markup: Markup) -> str:
    """Text in a markup of the platform's own; tables are drawn in code blocks, or listed where they are too wide."""
    return _without_mentions(write(_markdown(source), _dialect_of(markup)), markup.mentions)


def to_markdown(source: Source, *, headings: int = 3) -> str:
    """Markdown as chat programs read it: the source as it is, but for tables and code that they would read otherwise.

    Headings below the level `headings` become bold. Mentions stay: what is sent with the text must decide over them.
    """
    markdown = normalised(_markdown(source))
    tokens = MARKDOWN.parse(markdown)
    if deep(tokens):
        return markdown
    lines = markdown.split("\n")
    written: list[str] = []
    at = 0
    for index, token in enumerate(tokens):
        start, end = token.map or (0, 0)
        if start < at or not token.map:
            continue
        if (block := _instead(tokens, index, headings)) is not None:
            lead = _lead(token, lines[start])
            written += lines[at:start] + led(block, lead, re.sub(r"[^>]", " ", lead))
            at = end
        elif _has_stray_fence(token):
            written += lines[at:start] + [_blunted(line) for line in lines[start:end]]
            at = end
    return "\n".join(written + lines[at:])


def plain_cells(table: Table) -> Table:
    """The table with plain text in its cells, each on one line: for `aligned`, or to be drawn elsewhere."""
    return _mapped(table, _bare)


def _markdown(source: Source) -> str:
    return source if isinstance(source, str) else unparse(map(_asked, source))


def _asked(segment: Segment) -> Segment:
    """A question with its choices numbered, for places without buttons."""
    if not isinstance(segment, Question):
        return segment
    choices = (f"{number}. {choice}" for number, choice in enumerate(segment.choices, 1))
    return Text(markdown="\n".join((segment.text, *choices)))


def _mapped(table: Table, show: Callable[[str], str]) -> Table:
    return replace(
        table, header=tuple(map(show, table.header)), rows=tuple(tuple(map(show, row)) for row in table.rows)
    )


def _bare(cell: str) -> str:
    return write_line(cell, _CELL).replace("\n", " ")


def _fenced(code: str) -> str:
    return re.sub("(?<=`)(?=``)", "\u200b", code)


def _blunted(text: str) -> str:
    return re.sub("(?<=`)(?=``)|(?<=~)(?=~~)", "\u200b", text)


def _info(info: str) -> tuple[str, str]:
    """The language of a block, and what else its info string says; that goes above the block, so as not to be lost."""
    language, _, note = info.strip().partition(" ")
    return (language, note.strip()) if _LANGUAGE.fullmatch(language) else ("", info.strip())


def _without_mentions(text: str, mentions: Sequence[str]) -> str:
    """With mentions inert that the platform does not take for code: a loose back-tick may begin code before ours."""
    for each in mentions:
        begin = f"(?P<first>{re.escape(each[0])})(?={re.escape(each[1:])})"
        text = re.sub(f"{_READ_AS_CODE}|{begin}", _stopped, text, flags=re.IGNORECASE)
    return text


def _stopped(found: re.Match[str]) -> str:
    return f"{found['first']}\u200b" if found["first"] else found.group()


def _labelled(label: str, address: str) -> str:
    return f"{label} ({address})" if label and address and label != address else label or address


def _plain_span(code: str) -> str:
    mark = "`" * (max(map(len, re.findall("`+", code)), default=0) + 1)
    return f"{mark} {code} {mark}" if code[:1] == "`" or code[-1:] == "`" else mark + code + mark


def _plain_fence(code: str, info: str) -> list[str]:
    return unparse([Code(text=code, language=info)]).split("\n")


def _plain_table(table: Table) -> list[str]:
    return _rows(table, _PLAIN)


def _rows(table: Table, dialect: Dialect) -> list[str]:
    return listed(_mapped(table, lambda cell: write_line(cell, dialect).replace("\n", " ")))


def _link(label: str, address: str, form: str) -> str:
    reserved = {*form.format(address="", label=""), "\n"}
    if not form or not _ADDRESS.match(address) or not reserved.isdisjoint(label):
        return _labelled(label, address)
    inside = "".join(quote(each) if each in reserved or each.isspace() else each for each in address)
    return form.format(address=inside, label=label) if label and label != address else inside


def _span(code: str) -> str:
    return f"```{_fenced(code)}```" if "`" in code else f"`{code}`"


def _fence(code: str, language: str = "", note: str = "") -> list[str]:
    return [*filter(None, [note]), f"```{language}", *_fenced(code).split("\n"), "```"]


def _table(table: Table, lines: Callable[[Table], list[str]], bullet: str) -> list[str]:
    """The table drawn in a code block; too wide for that, its rows as items, written by `lines`."""
    rows = aligned(plain_cells(table))
    return _fence("\n".join(rows)) if rows is not None else led(lines(table), bullet, bullet)


_PLAIN = Dialect(strike="~~", link=_labelled, span=_plain_span, fence=_plain_fence, table=_plain_table, inert=_blunted)
_CELL = Dialect(strike="~~", link=_labelled, span=str, fence=_plain_fence, table=listed)


def _dialect_of(markup: Markup) -> Dialect:
    def fence(code: str, info: str) -> list[str]:
        return _fence(code, note=_blunted(_info(info)[1]))

    def table(found: Table) -> list[str]:
        return _table(found, lambda each: _rows(each, dialect), markup.bullet)

    dialect = Dialect(
        strong=markup.strong,
        em=markup.em,
        strike=markup.strike,
        heading=markup.heading,
        bullet=markup.bullet,
        link=partial(_link, form=markup.link),
        span=_span,
        fence=fence,
        table=table,
        inert=_blunted,
    )
    return dialect


def _instead(tokens: Sequence[Token], index: int, headings: int) -> list[str] | None:
    """The lines to write instead of a block, or None for one that is shown as it is."""
    token = tokens[index]
    match token.type:
        case "fence" | "code_block":
            return _fence(token.content.removesuffix("\n"), *_info(token.info))
        case "table_open":
            return _table(table_at(tokens, index)[0], listed, "- ")
        case "heading_open" if int(token.tag.removeprefix("h")) > headings and (title := tokens[index + 1].content):
            return [title if "**" in title else f"**{title}**"]
        case _:
            return None


def _has_stray_fence(token: Token) -> bool:
    """Whether a text holds what is no fence in Markdown, but would be taken for one by chat programs or by `chunk`."""
    children = token.children or ()
    return any(
        child.type == "text" and ("```" in child.content or "~~~" in child.content) for child in children
    ) and not any(child.type == "code_inline" and len(child.markup) >= 3 for child in children)


def _lead(token: Token, line: str) -> str:
    """What stands before a block on its first line: quote marks, a list mark, or the indent inside a list."""
    if token.level == 0:
        return ""
    match token.type:
        case "fence":
            return line[: line.index(token.markup)]
        case "heading_open":
            return line[: line.index("#")]
        case "code_block":
            return line[: max(0, len(line) - len(token.content.split("\n", 1)[0]) - 4)]
        case _:
            lead = LEAD.match(line)
            return lead.group() if lead else ""
