"""cli.md: commands, options, the events of --json, and exit codes."""

import argparse
import re

from pages.markdown import code, codes, line, table

from kesoku.cli.exit import EXIT
from kesoku.cli.main import build_parser
from kesoku_cli.machine import Machine

# argparse offers no public way to list what a parser takes.
# ruff: noqa: SLF001


def cli() -> str:
    """The page."""
    parser = build_parser()
    (commands,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    titles = {each.dest: each.help for each in commands._choices_actions}
    parts = [f"# Command line\n\n{parser.description}\n\n{_options(parser)}"]
    for name, command in commands.choices.items():
        parts.append(f"## `kesoku {name}`: {titles[name]}\n\n{command.description}\n\n{_options(command)}")
    exits = table("code", "meaning", rows=((int(each), text) for each, text in EXIT.items()))
    events = "Each line is one object. Text is whole and unchanged; of deltas the whole follows."
    parts.append(f"## Events of `kesoku chat --json`\n\n{events}\n\n{_events()}")
    return "\n".join([*parts, f"## Exit codes\n\n{exits}"])


def _events() -> str:
    """What the front end for programs says of its methods: the event in code style, then its fields."""
    said = (re.fullmatch(r"`(\w+)`(?:: (.+))?", line(method.__doc__)) for method in vars(Machine).values())
    return table("type", "further fields", rows=((code(each[1]), each[2] or "none") for each in said if each))


def _options(parser: argparse.ArgumentParser) -> str:
    rows = []
    for each in parser._actions:
        if isinstance(each, argparse._SubParsersAction):
            continue
        value = f" {each.metavar or each.dest.upper()}" if each.nargs is None else ""
        names = codes(name + value for name in each.option_strings)
        rows.append((names if each.option_strings else code(_positional(each)), each.help))
    return table("argument", "meaning", rows=rows)


def _positional(action: argparse.Action) -> str:
    """How often it may stand there, as usage lines say it."""
    name = action.metavar or action.dest
    return {"*": f"[{name} ...]", "+": f"{name} [{name} ...]", "?": f"[{name}]"}.get(str(action.nargs), str(name))
