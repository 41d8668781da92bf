"""loopback-gemini.md: the loopback Gemini of kesoku.testing."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import Any, get_args

from pages.markdown import code, codes, fields, line, prose, table, tree, value

from kesoku.testing import gemini
from kesoku.testing.gemini import grammar, script, server
from kesoku.testing.gemini.rules import Rules

_ANSWERS = (script.Answer, script.Blocked, script.Events, script.Raw, script.Refusal)
_PARTS = (script.Say, script.Think, script.Call, script.Part, script.Cut)
_FAULTS = (script.Reset, script.Hang, script.ErrorEvent, script.Usual, script.Processing)
_RECORDS = (gemini.Seen, gemini.StoredFile, gemini.StoredCache)


def loopback() -> str:
    """The page."""
    kinds = codes(get_args(gemini.Kind))
    parts = (
        ("Options", f"{line(Rules.__doc__)}\n\n{_options()}"),
        ("The server", "\n".join([_attributes(), *_methods(gemini.LoopbackGemini)])),
        ("Scripts", f"{prose(script.__doc__)}\n\nThe kinds of requests: {kinds}."),
        ("Answers", "\n".join(map(_value, _ANSWERS))),
        ("Parts of an answer", "\n".join(map(_value, _PARTS))),
        ("Faults and exceptions", "\n".join(map(_value, _FAULTS))),
        ("Ready-made", _ready(script)),
        ("What is refused", prose(grammar.__doc__)),
        ("What is kept", "\n".join(map(_value, _RECORDS))),
    )
    intro = prose(server.__doc__)
    how = "How to use it: [test your bot](../how-to/test-your-bot.md#the-real-gemini-client-without-google)."
    return "\n".join(
        ["# The loopback Gemini", "", intro, "", how, "", *(f"## {title}\n\n{body.strip()}\n" for title, body in parts)]
    )


def _options() -> str:
    rows = ((code(name), code(kind), code(default), text) for name, kind, default, text in fields(Rules))
    return table("option", "type", "default", "meaning", rows=rows)


def _attributes() -> str:
    listed = fields(gemini.LoopbackGemini)
    return table(
        "attribute", "type", "meaning", rows=((code(name), code(kind), text) for name, kind, _, text in listed)
    )


def _methods(of: Any) -> Iterator[str]:
    for node in tree(of).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield f"### {node.name}\n\n```python\n{_head(node)}\n```\n\n{prose(ast.get_docstring(node))}\n"


def _head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    marks = [f"@{ast.unparse(mark)}" for mark in node.decorator_list if "contextlib" not in ast.unparse(mark)]
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return "\n".join([*marks, f"{kind} {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns or node)}"])


def _value(of: Any) -> str:
    """A value; without a table if it has no fields."""
    shown = value(of) if any(True for _ in fields(of)) else f"### {of.__name__}\n\n{prose(of.__doc__)}\n"
    inits = [node for node in tree(of).body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    return shown + "".join(f"\n`{of.__name__}({ast.unparse(node.args).removeprefix('self, ')})`\n" for node in inits)


def _ready(module: ModuleType) -> str:
    body = ast.parse(inspect.getsource(module)).body
    rows = [
        (code(f"{node.name}({ast.unparse(node.args)})"), line(ast.get_docstring(node)))
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name in gemini.__all__
    ]
    return table("name", "what comes", rows=[*_constants(body), *rows])


def _constants(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for node, after in pairwise(body):
        match node, after:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                if name in gemini.__all__ and name.isupper():
                    yield code(name), line(text)
