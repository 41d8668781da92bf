"""offline-model.md: what the offline model understands, as its docstring lists it."""

import re

from pages.markdown import codes, prose, table

from kesoku.llm import offline as module

_RULE = re.compile(r"^ *=+  =+$\n?", re.MULTILINE)


def offline() -> str:
    """The page."""
    before, head, body, after = _RULE.split(prose(module.__doc__))
    heads, *rows = (re.split(r"  +", row.strip(), maxsplit=1) for row in (head + body).splitlines())
    listed = table(*heads, rows=((codes(asked.split(", ")), does) for asked, does in rows))
    return f"# The offline model\n\n{before.strip()}\n\n{listed}\n{after.strip()}\n"
