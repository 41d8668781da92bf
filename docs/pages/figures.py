"""figures.md: what benchmarks/run.py has measured, from docs/figures.json."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pages.markdown import table

FILE = Path(__file__).parents[1] / "figures.json"
_INTRO = """# Figures

How fast and how small Kesoku is. Every number on this page was measured by one command, which you can run yourself:

```sh
python benchmarks/run.py --json docs/figures.json && python docs/generate.py
```

`python benchmarks/run.py` alone prints the table, `python benchmarks/run.py startup store` measures only these,
`--quick` tries whether all of it works, and `--compare docs/figures.json` says what became better or worse. The exit
code is 1 if a limit is missed. Run it on an idle machine: most limits are absolute, and a neighbour's load counts as
ours. The databases lie in the folder for temporary files; where that is no disk, name one: `TMPDIR=/mnt/disk`.

A number is the median of its rounds. Beside it stands, where there is one, the physical limit: what this machine needs
for the same work without Kesoku. The ratio of the two says more than the number about a machine that is not yours.
"""


def figures(file: Path = FILE) -> str:
    """The page."""
    found = json.loads(file.read_text(encoding="utf-8"))
    remark = [f"{found['remark']}\n"] if found.get("remark") else []  # by hand, where a part was measured apart
    parts = [_INTRO, _machine(found["machine"]), *remark, _missed(found)]
    for name, title in found["benchmarks"].items():
        rows = [_row(each) for each in found["figures"] if each["benchmark"] == name]
        if rows:
            heads = ("figure", "median", "limit", "met", "physical limit", "ratio", "what it means")
            parts.append(f"## {title.rstrip('.')}\n\n`python benchmarks/run.py {name}`\n\n{table(*heads, rows=rows)}")
    return "\n".join(parts)


def _machine(facts: Mapping[str, Any]) -> str:
    return (
        f"Measured on {facts['date']} with Kesoku {facts['kesoku']}: {facts['system']}, {facts['cores']} cores,"
        f" Python {facts['python']}, SQLite {facts['sqlite']}; an fsync takes {facts['fsync_ms']} ms,"
        f" a million rounds of a Python loop {facts['loop_ms']} ms of CPU; load"
        f" {facts['load_before']} before and {facts['load_after']} after.\n"
    )


def _missed(found: Mapping[str, Any]) -> str:
    lines = [*_shortfalls(found)]
    return "## What is missed\n\n" + ("\n".join(lines) if lines else "Nothing: every limit is kept.") + "\n"


def _shortfalls(found: Mapping[str, Any]) -> Iterator[str]:
    for each in found["figures"]:
        if not each["met"]:
            obstacle = each["obstacle"] or "Why is not known yet."
            yield f"- {each['name']}: {each['shown']['value']}, limit {each['limit']}. {obstacle}"
    yield from (f"- `{name}` did not come to its end; figures of it may be lacking." for name in found["failed"])


def _row(each: Mapping[str, Any]) -> tuple[str, ...]:
    shown, limit = each["shown"], each["limit"]
    met = "–" if limit is None else "yes" if each["met"] else "**no**"
    beside = (shown["physical"] or "–", shown["ratio"] or "–")
    return (each["name"], shown["value"], limit or "–", met, *beside, each["meaning"])
