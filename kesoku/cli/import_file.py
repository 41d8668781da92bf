"""The rows of a file that is imported: a JSON array, an object with `records`, or one JSON object a line."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from kesoku.errors import FileRefused

WHOLE = 512 * 1024 * 1024
"""Bytes of a file that is read at once; files of lines may be longer."""
LINE = 64 * 1024 * 1024
"""Bytes of one row of a file of lines."""

Rows = Iterator[tuple[int, Mapping[str, Any]]]
"""Rows with their numbers, from 1. Of a file of lines the number is that of the line."""


def rows(path: Path, *, whole: int = WHOLE, line: int = LINE) -> Rows:
    """Every row of a file of at most `whole` bytes, or of lines of at most `line` bytes each.

    Raises FileRefused: it cannot be read, is no JSON, or a row of it is no object or too long.
    """
    try:
        with path.open("rb") as file:
            yield from _rows(path, file, whole, line)
    except OSError as error:
        raise FileRefused(path=path, why=f"it cannot be read ({error.strerror})") from error


def _rows(path: Path, file: BinaryIO, whole: int, line: int) -> Rows:
    first = file.readline(line)
    while first and not first.strip():
        first = file.readline(line)
    file.seek(0)
    return _lines(path, file, line) if _is_row(first) else enumerate(_whole(path, file, whole), 1)


def _is_row(line: bytes) -> bool:
    """Whether a first line is a row, and so every other line; not a part of something, or the whole of it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "records" not in value


def _whole(path: Path, file: BinaryIO, most: int) -> Iterator[Mapping[str, Any]]:
    text = file.read(most + 1)
    if len(text) > most:
        why = f"it is larger than {most >> 20} MB; give it as one JSON object a line"
        raise FileRefused(path=path, why=why)
    value = _parsed(path, text)
    found = value.get("records") if isinstance(value, dict) else value
    if not isinstance(found, list):
        why = "it is neither a list of messages, nor an object with `records`, nor one JSON object a line"
        raise FileRefused(path=path, why=why)
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise FileRefused(path=path, row=number, why=f"it is no object but {_named(row)}")
    return iter(found)


def _lines(path: Path, file: BinaryIO, most: int) -> Rows:
    number = 0
    while line := file.readline(most + 1):
        number += 1
        if len(line) > most:
            raise FileRefused(path=path, row=number, why=f"it is longer than {most >> 20} MB")
        if not line.strip():
            continue
        row = _parsed(path, line, number)
        if not isinstance(row, dict):
            raise FileRefused(path=path, row=number, why=f"it is no object but {_named(row)}")
        yield number, row


def _parsed(path: Path, text: bytes, number: int | None = None) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise FileRefused(path=path, row=number, why="it is nested too deeply") from None
    except ValueError as error:
        raise FileRefused(path=path, row=number, why=f"it is no JSON ({error})") from error


def _named(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
