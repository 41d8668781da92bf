"""Figures as a table, as JSON, and beside those of an earlier run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from figure import Figure

_HEADS = ("figure", "median", "unit", "limit", "met", "physical limit", "ratio")
_ROW = "{:<66} {:>10} {:<9} {:>10}  {:<4} {:<40} {:>7}"
_NOISE = 1.1
"""A change by less than this factor is none."""


def head() -> str:
    """The first line of the table."""
    return _ROW.format(*_HEADS).rstrip()


def row(figure: Figure) -> str:
    """One line of the table."""
    met = "" if figure.limit is None else "yes" if figure.met else "NO"
    limit = str(figure.limit or "")
    cells = (figure.name, number(figure.value), figure.unit, limit, met, _physical(figure), _ratio(figure))
    return _ROW.format(*cells).rstrip()


def _physical(figure: Figure) -> str:
    return f"{number(figure.physical.value)} ({figure.physical.name})" if figure.physical else ""


def _ratio(figure: Figure) -> str:
    return "" if figure.ratio is None else number(figure.ratio)


def number(value: float) -> str:
    """Three digits that count, however large or small."""
    size = abs(value)
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{digits}f}"


def entry(benchmark: str, figure: Figure) -> dict[str, Any]:
    """A figure for the JSON, with all that follows from its fields; `shown` is for people."""
    return {
        "benchmark": benchmark,
        "name": figure.name,
        "value": figure.value,
        "unit": figure.unit,
        "met": figure.met,
        "limit": str(figure.limit) if figure.limit else None,
        "physical": asdict(figure.physical) if figure.physical else None,
        "ratio": figure.ratio,
        "less_is_better": figure.less_is_better,
        "meaning": figure.meaning,
        "obstacle": figure.obstacle,
        "samples": list(figure.samples),
        "shown": {
            "value": f"{number(figure.value)} {figure.unit}".rstrip(),
            "physical": _physical(figure),
            "ratio": _ratio(figure),
        },
    }


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What became of each figure of an earlier run.

    Where both have a physical limit beside them, the ratios to it are compared: so another machine or another load
    matters less.
    """
    if old["quick"] != new["quick"]:
        yield "One of the two runs was quick: what follows says little."
    before = {(each["benchmark"], each["name"]): each for each in old["figures"]}
    for each in new["figures"]:
        earlier = before.get((each["benchmark"], each["name"]))
        yield f"{each['name']:<66} {_change(earlier, each) if earlier else 'new'}"


def _change(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    what = "ratio" if old["ratio"] and new["ratio"] else "value"
    first, second = old[what], new[what]
    if not first or not second:
        return f"{number(first)} -> {number(second)}"
    factor = first / second if new["less_is_better"] else second / first
    said = "same" if 1 / _NOISE < factor < _NOISE else f"{number(factor)} x better" if factor > 1 else ""
    return f"{said or f'{number(1 / factor)} x worse':<16} {what} {number(first)} -> {number(second)}"


def verdict(figures: Sequence[Mapping[str, Any]], failed: Sequence[str]) -> str:
    """The last line."""
    missed = [each["name"] for each in figures if not each["met"]]
    parts = [f"missed: {', '.join(missed)}"] * bool(missed) + [f"failed: {', '.join(failed)}"] * bool(failed)
    return "; ".join(parts) or "All limits are met."
