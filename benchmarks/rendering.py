"""How fast an answer is parsed and cut for a platform, also one of a hostile size or shape."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from figure import Figure, Physical, amount, at_most, samples

from kesoku.render import Unit, chunk, parse, to_markdown

SIZE = amount(1_000_000, 100_000)
SAID = f"{SIZE / 1e6:g} MB"
LIMIT = 2_000
PAGE = """\
The sea is *calm* today, and `code` stands in [a link](https://example.org/a) for **you**. It has been so for a while,
and nobody knows for how long it will be: wait for the ferry, or swim.

## What to take along

- a towel
- `sunscreen`, of a high factor
- something to read

```python
def swim(distance: float) -> float:
    return distance / 2
```

| what | how much |
|---|---|
| water | 2 l |
| bread | 1 |

"""
ODD = {
    "one line of words": "word ",
    "one word": "x",
    "back-ticks": "`",
    "runs of back-ticks": "` `` ``` ```` ",
    "fences": "```\n",
    "an open fence": "```\ncode\n",
    "a table": "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "rules of tables": "|-|\n",
    "quotes in quotes": "> " * 50 + "a\n",
    "one quote in quotes": "> ",
    "lists in lists": "".join(f"{'  ' * depth}- a\n" for depth in range(50)),
    "brackets": "[",
    "links": "[a](",
    "images": "![",
    "addresses": "https://example.org/a,",
    "Chinese": "海は今日も静かです。波の音が、",
    "emoji": "👩‍👩‍👧‍👦",
    "marks on one letter": "\u0301",
    "blank lines": "\n",
    "questions": "[question: a | b]\n",
}
"""Each is repeated to the full size."""
_NOISE = 5.0
"""Milliseconds below which a measurement says nothing about growth."""


def measure(room: Path) -> Iterator[Figure]:
    """Ordinary Markdown, then the worst of the odd."""
    page = _filled(PAGE)
    sliced = Physical(name="slicing", value=_milliseconds(lambda: _sliced(page)))
    yield Figure(
        name=f"chunking {SAID} of Markdown",
        samples=samples(lambda: _milliseconds(lambda: chunk(page, LIMIT))),
        unit="ms",
        limit=at_most(100),
        physical=sliced,
        meaning="How long cutting keeps a core busy when somebody asks for a whole book; an answer takes a hundredth.",
    )
    yield Figure(
        name=f"parsing {SAID} of Markdown",
        samples=samples(lambda: _milliseconds(lambda: parse(page))),
        unit="ms",
        physical=sliced,
        meaning="The same for taking out files, questions, tables and code; done in a thread for long answers.",
    )
    yield Figure(
        name=f"rewriting {SAID} of Markdown",
        samples=(_milliseconds(lambda: to_markdown(page)),),
        unit="ms",
        physical=sliced,
        meaning="The same for saying it in the dialect of a platform; done in a thread for long answers.",
    )
    for what, work in (("chunking", lambda text: chunk(text, LIMIT, Unit.UTF16)), ("parsing", parse)):
        yield from _worst(what, work)


def _worst(what: str, work: Callable[[str], object]) -> Iterator[Figure]:
    """The oddest text, and how the time grows with its length."""
    spent = {name: _spent(work, _filled(odd)) for name, odd in ODD.items()}
    worst = max(spent, key=spent.__getitem__)
    yield Figure(
        name=f"{what} {SAID} of the worst ({worst})",
        samples=(spent[worst],),
        unit="ms",
        meaning=f"No text makes {what} much slower; {len(ODD)} odd ones are tried, such as only back-ticks.",
    )
    quarters = {name: _spent(work, _filled(odd, SIZE // 4)) for name, odd in ODD.items()}
    growth = [spent[name] / quarter for name, quarter in quarters.items() if quarter > _NOISE]
    yield Figure(
        name=f"{what} four times as much of the worst",
        samples=(max(growth, default=1.0),),
        unit="x",
        limit=at_most(8),
        physical=Physical(name="four times the work", value=4),
        meaning="Cost grows with the length of a text, not with its square (16 times): no message stalls the bot.",
    )


def _spent(work: Callable[[str], object], text: str) -> float:
    return min(_milliseconds(lambda: work(text)) for _ in range(amount(2, 1)))


def _filled(text: str, size: int = SIZE) -> str:
    return (text * (size // len(text) + 1))[:size]


def _sliced(text: str) -> list[str]:
    return [text[at : at + LIMIT] for at in range(0, len(text), LIMIT)]


def _milliseconds(work: Callable[[], object]) -> float:
    """Of this thread, not of others on the machine."""
    before = time.thread_time()
    work()
    return (time.thread_time() - before) * 1000
