"""Turn Markdown into the dialects that platforms show: plain text, the markup of Google Chat, the Markdown of Discord.

Each function takes Markdown or segments and returns text for `chunk`. Code stays verbatim, with one exception:
platforms begin and end a block at any three back-ticks, so those inside of code or loose in text get zero-width spaces.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from urllib.parse import quote

from markdown_it.token import Token

from kesoku.render.markdown import MARKDOWN, deep, normalised, table_at
from kesoku.render.parse import unparse
from kesoku.render.segment import Code, Question, Segment, Table, Text
from kesoku.render.table import aligned, listed
from kesoku.render.writer import Dialect, led, write, write_line

Source = str | Iterable[Segment]

_ADDRESS = re.compile(r"https?://|mailto:|tel:", re.IGNORECASE)
_MENTION = re.compile(r"<(?=users/)", re.IGNORECASE)
_LEAD = re.compile(r"[ \t>]*+(?:(?:[-+*]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+")
_LANGUAGE = re.compile(r"[\w+.#-]+", re.ASCII)


def to_plain(source: Source) -> str:
    """Plain text (row K-197): links as `text (url)`, tables as one line a row, code with its back-ticks and fences."""
    return write(_markdown(source), _PLAIN)


def to_google_chat(source: Source) -> str:
    """Google Chat's own markup, for messages sent with MARKUP_SYNTAX_CHAT; mentions outside of code are inert."""
    return write(_markdown(source), _CHAT)


def to_discord(source: Source) -> str:
    """Discord's Markdown: the source as it is, but for tables, small headings, and code that Discord reads otherwise.

    Mentions stay as they are: the flags of the payload decide over them.
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
        if (block := _discord_block(tokens, index)) is not None:
            lead = _lead(token, lines[start])
            written += lines[at:start] + led(block, lead, re.sub(r"[^>]", " ", lead))
            at = end
        elif _has_stray_fence(token):
            written += lines[at:start] + [_blunted(line) for line in lines[start:end]]
            at = end
    return "\n".join(written + lines[at:])


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


def _inert(text: str) -> str:
    return _MENTION.sub("<\u200b", _blunted(text))


def _labelled(label: str, address: str) -> str:
    return f"{label} ({address})" if label and address and label != address else label or address


def _plain_span(code: str) -> str:
    mark = "`" * (max(map(len, re.findall("`+", code)), default=0) + 1)
    return f"{mark} {code} {mark}" if code[:1] == "`" or code[-1:] == "`" else mark + code + mark


def _plain_fence(code: str, info: str) -> list[str]:
    return unparse([Code(text=code, language=info)]).split("\n")


def _plain_table(table: Table) -> list[str]:
    return listed(_mapped(table, lambda cell: write_line(cell, _PLAIN).replace("\n", " ")))


def _chat_link(label: str, address: str) -> str:
    if not _ADDRESS.match(address) or re.search(r"[<>|\n]", label):
        return _labelled(label, address)
    inside = re.sub(r"[\s<>|]", lambda match: quote(match[0]), address)
    return f"<{inside}|{label}>" if label and label != address else inside


def _chat_span(code: str) -> str:
    return f"```{_fenced(code)}```" if "`" in code else f"`{code}`"


def _chat_fence(code: str, info: str) -> list[str]:
    _, note = _info(info)
    return [*filter(None, [_inert(note)]), "```", *_fenced(code).split("\n"), "```"]


def _chat_table(table: Table) -> list[str]:
    rows = aligned(_mapped(table, _bare))
    if rows is not None:
        return _chat_fence("\n".join(rows), "")
    return led(listed(_mapped(table, lambda cell: write_line(cell, _CHAT).replace("\n", " "))), "* ", "* ")


_PLAIN = Dialect(strike="~~", link=_labelled, span=_plain_span, fence=_plain_fence, table=_plain_table, inert=_blunted)
_CELL = Dialect(strike="~~", link=_labelled, span=str, fence=_plain_fence, table=listed)
_CHAT = Dialect(
    strong="*",
    em="_",
    strike="~",
    heading="*",
    bullet="* ",
    link=_chat_link,
    span=_chat_span,
    fence=_chat_fence,
    table=_chat_table,
    inert=_inert,
)


def _discord_block(tokens: Sequence[Token], index: int) -> list[str] | None:
    """The lines to write instead of a block, or None for one that Discord shows as it is."""
    token = tokens[index]
    match token.type:
        case "fence" | "code_block":
            return _discord_fence(token.content.removesuffix("\n"), token.info)
        case "table_open":
            table, _ = table_at(tokens, index)
            rows = aligned(_mapped(table, _bare))
            return _discord_fence("\n".join(rows), "") if rows is not None else led(listed(table), "- ", "- ")
        case "heading_open" if token.tag in {"h4", "h5", "h6"}:
            title = tokens[index + 1].content
            return [f"**{title}**" if title and "**" not in title else title]
        case _:
            return None


def _has_stray_fence(token: Token) -> bool:
    """Whether a text holds what is no fence in Markdown, but would be taken for one by Discord or by `chunk`."""
    children = token.children or ()
    return any(
        child.type == "text" and ("```" in child.content or "~~~" in child.content) for child in children
    ) and not any(child.type == "code_inline" and len(child.markup) >= 3 for child in children)


def _discord_fence(code: str, info: str) -> list[str]:
    language, note = _info(info)
    return [*filter(None, [note]), f"```{language}", *_fenced(code).split("\n"), "```"]


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
            lead = _LEAD.match(line)
            return lead.group() if lead else ""
