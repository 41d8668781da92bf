"""loopback-gemini.md and loopback-discord.md: the loopback servers of kesoku.testing."""

import ast
import inspect
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from types import ModuleType
from typing import Any, get_args

from pages.markdown import code, codes, fields, line, prose, table, tree, value

from kesoku.testing import discord, gemini
from kesoku.testing.discord import rules as discord_rules
from kesoku.testing.discord import script as discord_script
from kesoku.testing.discord import server as discord_server
from kesoku.testing.discord.gateway.control import GatewayControl
from kesoku.testing.discord.people import people, using, writing
from kesoku.testing.discord.process import control, stats
from kesoku.testing.gemini import grammar, script, server
from kesoku.testing.gemini.rules import Rules

_ANSWERS = (script.Answer, script.Blocked, script.Events, script.Raw, script.Refusal)
_PARTS = (script.Say, script.Think, script.Call, script.Part, script.Cut)
_FAULTS = (script.Reset, script.Hang, script.ErrorEvent, script.Usual, script.Processing)
_RECORDS = (gemini.Seen, gemini.StoredFile, gemini.StoredCache)
_LATER = "init=False"
_THINGS = (discord.Guild, discord.Channel, discord.User, discord.Member, discord.Role, discord.Message)


def loopback_gemini() -> str:
    """The page of Gemini."""
    kinds = codes(get_args(gemini.Kind))
    return _page(
        "Gemini",
        prose(server.__doc__),
        "the-real-gemini-client-without-google",
        (
            ("Options", f"{line(Rules.__doc__)}\n\n{_options(Rules)}"),
            ("The server", "\n".join([_attributes(gemini.LoopbackGemini, Rules), *_methods(gemini.LoopbackGemini)])),
            ("Scripts", f"{prose(script.__doc__)}\n\nThe kinds of requests: {kinds}."),
            ("Answers", "\n".join(map(_value, _ANSWERS))),
            ("Parts of an answer", "\n".join(map(_value, _PARTS))),
            ("Faults and exceptions", "\n".join(map(_value, _FAULTS))),
            ("Ready-made", _ready(script)),
            ("What is refused", prose(grammar.__doc__)),
            ("What is kept", "\n".join(map(_value, _RECORDS))),
        ),
    )


def loopback_discord() -> str:
    """The page of Discord."""
    rules, made = discord_rules.Rules, discord.LoopbackDiscord
    kept = (discord.Seen, discord.Upload, discord.Attachment, discord.Interaction, discord.Answer, discord.Session)
    return _page(
        "Discord",
        _with_example(discord_server, "python"),
        "the-real-discord-client-without-discord",
        (
            ("Options", f"{line(rules.__doc__)}\n\n{_options(rules)}"),
            ("The server", "\n".join([_attributes(made, rules), *_methods(made)])),
            ("People", "\n".join([line(people.__doc__), "", *_methods(people.People)])),
            ("What people write", "\n".join([line(writing.__doc__), "", *_methods(writing.Writing)])),
            ("Controls and commands", "\n".join([line(using.__doc__), "", *_methods(using.Using)])),
            ("The gateway", "\n".join([line(GatewayControl.__doc__), "", *_methods(GatewayControl)])),
            ("Faults", "\n".join([_with_example(discord_script, "python"), "", *map(_value, get_args(discord.Fault))])),
            ("What there is", "\n".join(map(_value, _THINGS))),
            ("What is kept", "\n".join(map(_value, kept))),
            ("A process of its own", "\n".join([_process(), *_methods(discord.DiscordProcess)])),
        ),
    )


def _page(name: str, intro: str, anchor: str, parts: Iterable[tuple[str, str]]) -> str:
    how = f"How to use it: [test your bot](../how-to/test-your-bot.md#{anchor})."
    told = [f"## {title}\n\n{body.strip()}\n" for title, body in parts]
    return "\n".join([f"# The loopback {name}", "", intro, "", how, "", *told])


def _process() -> str:
    served = "`python -m kesoku.testing.discord` serves it, and so does `DiscordProcess`."
    commands = _with_example(control, "text")
    return f"{served} {commands}\n\n`stats` tells, in JSON: {prose(stats.stats.__doc__)}\n"


def _with_example(module: ModuleType, language: str) -> str:
    """A docstring whose later paragraphs are code."""
    said, _, example = prose(module.__doc__).partition("\n\n")
    return f"{said}\n\n```{language}\n{example}\n```"


def _options(rules: Any) -> str:
    rows = (
        (code(name), code(kind), code(default), text)
        for name, kind, default, text in fields(rules)
        if _LATER not in default
    )
    return table("option", "type", "default", "meaning", rows=rows)


def _attributes(of: Any, rules: Any) -> str:
    later = (each for each in fields(rules) if _LATER in each[2])
    rows = ((code(name), code(kind), text) for name, kind, _, text in chain(fields(of), later))
    return table("attribute", "type", "meaning", rows=rows)


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
