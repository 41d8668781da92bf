"""Named sections as text for a model: the form of YAML, as far as it is needed to read them (L-068, L-069).

Whatever stands over several lines is indented under its name, so no value can pass for a section of its own.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_STEP = "  "
_MISTAKEN = re.compile(r"|true|false|null|[\d.+-][\d.eE+-]*|[-\s|].*|.*[\s:]|.*: .*")
"""Text inside a structure that would be read as something else without quotes."""


def sections(named: Mapping[str, Any]) -> str:
    """The sections in their order, one after the other; empty ones are absent."""
    return "\n".join(line for name, value in named.items() if not _is_empty(value) for line in _section(name, value))


def _section(name: str, value: Any) -> Iterator[str]:
    lines = value.splitlines() if isinstance(value, str) else ()
    yield from (f"{name}: {lines[0]}",) if len(lines) == 1 else _entry(f"{name}:", value)


def _entry(lead: str, value: Any) -> Iterator[str]:
    """`lead` with the value behind it, or indented under it; a dash has the first line of a structure behind it."""
    if isinstance(value, str) and len(lines := value.splitlines()) > 1:
        yield f"{lead} |"
        yield from (f"{_STEP}{line}" for line in lines)
    elif isinstance(value, (Mapping, list, tuple)) and value:
        first, *rest = _lines(value)
        yield from (f"- {first}",) if lead == "-" else (lead, f"{_STEP}{first}")
        yield from (f"{_STEP}{line}" for line in rest)
    else:
        yield f"{lead} {_scalar(value)}"


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _entry(f"{_scalar(str(name))}:", item)
    else:
        for item in value:
            yield from _entry("-", item)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value) if _MISTAKEN.fullmatch(value) or not value.isprintable() else value
    return str(value) if isinstance(value, type) else json.dumps(value, ensure_ascii=False, default=str)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, Mapping, list, tuple)) and not value)
