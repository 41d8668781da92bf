"""Docstrings and fields as Markdown, without their references to rows of the specification."""

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

_ROWS = re.compile(
    r"\s*\([^()]*(?:\b[A-Z]-X?\d+|seed 00\d|complaint|store rule|decisions\.md)[^()]*\)"
    r"|; see N-\d+ in the docs| of decision [A-Z]-\d+"
)


def prose(text: str | None) -> str:
    """A docstring."""
    return _ROWS.sub("", inspect.cleandoc(text or ""))


def line(text: str | None) -> str:
    """A docstring as one line."""
    return " ".join(prose(text).split())


def code(value: object) -> str:
    """In the style of code; nothing for nothing."""
    return f"`{value}`" if str(value) else ""


def codes(values: Iterable[object]) -> str:
    """Several of them, or a dash."""
    return ", ".join(map(code, values)) or "–"


def table(*heads: str, rows: Iterable[Iterable[object]]) -> str:
    """A table."""
    body = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in [list(heads), ["---"] * len(heads), *body])


def tree(of: Any) -> ast.ClassDef:
    """A class as it stands in its file."""
    body = _parsed(str(sys.modules[of.__module__].__file__)).body
    return next(node for node in body if isinstance(node, ast.ClassDef) and node.name == of.__name__)


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def fields(of: Any) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, default and docstring of each field or member of a class, in its order."""
    body = tree(of).body
    for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
        said = after.value if isinstance(after, ast.Expr) else None
        text = line(str(said.value)) if isinstance(said, ast.Constant) else ""
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, ast.unparse(node.annotation), ast.unparse(node.value) if node.value else "", text
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                yield name, "", str(value), text


def members(of: Any) -> str:
    """The values of an enum."""
    return table("value", "meaning", rows=((code(value), text) for _, _, value, text in fields(of)))


def value(of: Any) -> str:
    """A frozen value with its fields."""
    listed = list(fields(of))
    heads = ["field", "type", "default"] + ["meaning"] * any(text for *_, text in listed)
    rows = ((code(name), code(kind), code(default), text)[: len(heads)] for name, kind, default, text in listed)
    return f"### {of.__name__}\n\n{prose(of.__doc__)}\n\n{table(*heads, rows=rows)}"


def protocol(of: Any) -> str:
    """A protocol with its methods."""
    parts = [f"### {of.__name__}\n\n{prose(of.__doc__)}\n"]
    for node in tree(of).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            head = f"{kind} {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns or ast.Constant(None))}"
            parts.append(f"```python\n{head}\n```\n\n{prose(ast.get_docstring(node))}\n")
    return "\n".join(parts)
