"""errors.md: the error tree."""

import inspect
from collections.abc import Iterator

from pages.markdown import codes, line

from kesoku.errors import KesokuError

_INTRO = """# Errors

Everything that Kesoku raises on purpose stands in `kesoku.errors`. The names in brackets are fields with the facts:
read them, not the text.
"""


def errors() -> str:
    """The page."""
    return "\n".join([_INTRO, *_below(KesokuError, 0), ""])


def _below(error: type[KesokuError], depth: int) -> Iterator[str]:
    taken = inspect.signature(error).parameters.values() if "__init__" in vars(error) else ()
    facts = [each.name for each in taken if each.kind is each.KEYWORD_ONLY]
    told = line((error.__doc__ or "").split("\n\n", maxsplit=1)[0])
    yield f"{'  ' * depth}- **{error.__name__}**{f' ({codes(facts)})' if facts else ''}: {told}"
    for each in error.__subclasses__():
        if each.__module__.startswith("kesoku.errors."):
            yield from _below(each, depth + 1)
