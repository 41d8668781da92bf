"""Take an assistant's Markdown apart into segments, and put segments together again."""

import re
from collections.abc import Iterable

from kesoku.render.markdown import BLOCKS, DIRECTED, IMAGE, QUESTION, VOICE, directive, normalised, table_at
from kesoku.render.segment import Alignment, Code, File, Question, Segment, Table, Text, Voice

_MAYBE_DIRECTIVE = re.compile(r"^[ \t]*(?:\[(?:file|voice|question):|!\[)", re.IGNORECASE | re.MULTILINE)
_RULES = {Alignment.NONE: "---", Alignment.LEFT: ":--", Alignment.CENTER: ":-:", Alignment.RIGHT: "--:"}


def parse(markdown: str) -> tuple[Segment, ...]:
    """Split Markdown into segments, in order.

    Fenced blocks and tables at the top level become Code and Table; inside lists and quotes they stay part of their
    Text, so that nothing is torn out of its place. A line of its own `[file: path]`, `[voice: path]`,
    `[question: text | choice | choice]` or `![caption](local path)` becomes File, Voice or Question, never inside code
    or a quote. Everything else is Text, verbatim but for line ends and the blank lines around it.
    """
    source = normalised(markdown)
    lines = source.split("\n")
    segments: list[Segment] = []
    at = 0
    for number in _directive_lines(source):
        segments += _blocks(lines[at:number])
        segments.append(_directive(lines[number]))
        at = number + 1
    return (*segments, *_blocks(lines[at:]))


def unparse(segments: Iterable[Segment]) -> str:
    """Write segments as Markdown; `parse` reads the same segments from it."""
    return "\n\n".join(_source(segment) for segment in segments)


def _directive_lines(source: str) -> list[int]:
    if not _MAYBE_DIRECTIVE.search(source):
        return []
    return [token.map[0] for token in DIRECTED.parse(source) if token.type == "directive" and token.map]


def _blocks(lines: list[str]) -> list[Segment]:
    tokens = BLOCKS.parse("\n".join(lines))
    segments: list[Segment] = []
    at = 0
    for index, token in enumerate(tokens):
        if token.level or not token.map or token.type not in {"fence", "table_open"}:
            continue
        segments += _text(lines[at : token.map[0]])
        if token.type == "fence":
            language, _, extra = token.info.strip().partition(" ")
            segments.append(Code(text=token.content.removesuffix("\n"), language=language, extra=extra.strip()))
        else:
            segments.append(table_at(tokens, index)[0])
        at = token.map[1]
    return segments + _text(lines[at:])


def _text(lines: list[str]) -> list[Segment]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return [Text(markdown="\n".join(lines[filled[0] : filled[-1] + 1]))] if filled else []


def _directive(line: str) -> Segment:
    match = directive(line)
    if not match:  # the parser only reports lines that match
        return Text(markdown=line)
    if match.re is QUESTION:
        text, *choices = (_unescaped(part).strip() for part in re.split(r"(?<!\\)\|", match["body"]))
        return Question(text=text, choices=tuple(choice for choice in choices if choice))
    path = match["path"].strip()
    if match.re is VOICE:
        return Voice(path=path)
    if match.re is IMAGE:
        return _image(path, _unescaped(match["alt"]).strip())
    return File(path=path)


def _image(path: str, alt: str) -> File:
    titled = re.fullmatch(r'(?P<path>.*\S)\s+"(?P<title>[^"]*)"', path)
    if titled:
        path, alt = titled["path"], f"{alt} {titled['title']}".strip()
    return File(path=path[1:-1] if path.startswith("<") and path.endswith(">") else path, caption=alt)


def _source(segment: Segment) -> str:
    match segment:
        case Text(markdown=markdown):
            return markdown
        case Code():
            return _fence(segment)
        case Table():
            return _table(segment)
        case File(path=path, caption=""):
            return f"[file: {_line(path)}]"
        case File(path=path, caption=caption):
            return f"![{_escaped(caption, ']')}](<{_line(path)}>)"
        case Voice(path=path):
            return f"[voice: {_line(path)}]"
        case Question(text=text, choices=choices):
            return f"[question: {' | '.join(_escaped(part, '|') for part in (text, *choices))}]"


def _fence(code: Code) -> str:
    info = _line(f"{code.language} {code.extra}")
    mark = "~" if "`" in info else "`"
    longest = max((len(run) for run in re.findall(f"{mark}+", code.text)), default=0)
    fence = mark * max(3, longest + 1)
    return "\n".join([fence + info, *([code.text] if code.text else []), fence])


def _table(table: Table) -> str:
    width = len(table.header)
    alignments = (*table.alignments, *[Alignment.NONE] * width)[:width]
    rows = (table.header, tuple(_RULES[alignment] for alignment in alignments), *table.rows)
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _line(text: str) -> str:
    return normalised(text).replace("\n", " ").strip()


def _escaped(text: str, mark: str) -> str:
    return _line(text).replace("\\", "\\\\").replace(mark, f"\\{mark}")


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\|\]])", r"\1", text)
