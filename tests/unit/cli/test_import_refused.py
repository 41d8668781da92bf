"""What `kesoku import` does not take: rows with their reasons, and files of which nothing is imported."""

import json
from pathlib import Path
from typing import Any

import pytest

from kesoku.cli import import_file
from kesoku.errors import FileRefused

from .machine import ANSWER, CALL, PLACE, PROMPT, RESULT, TALK, Machine, Row, lines

REFUSED: list[tuple[list[Row], int, str]] = [
    ([{**PROMPT, "role": "user", "type": "tool_call"}], 1, "no class has this role and type, 'user' and 'tool_call'"),
    ([{**PROMPT, "kind": "pigeon"}], 1, "the kind 'pigeon' is unknown"),
    ([{key: value for key, value in PROMPT.items() if key != "session_id"}], 1, "session_id is missing"),
    ([PROMPT, {**PROMPT, "id": "m2", "status": "eaten"}], 2, "cannot have the status 'eaten'"),
    ([PROMPT, RESULT], 2, "the call that it answers is in none of these files"),
    ([{**ANSWER, "parent_id": "m9"}], 1, "its parent m9 is in none of these files"),
    ([{**PROMPT, "turn_id": "m9"}], 1, "its turn m9 is in none of these files"),
    ([{**PROMPT, "created_at": 1e300}], 1, "is in no calendar"),
    ([{**PROMPT, "created_at": -5}], 1, "is in no calendar"),
    ([{**PROMPT, "created_at": 1_700_000_000_000}], 1, "it is taken as seconds since 1970"),
    ([{**PROMPT, "created_at": "yesterday"}], 1, "its time 'yesterday' cannot be read"),
    ([{**PROMPT, "timestamp": True}], 1, "its time True cannot be read"),
    ([{**PROMPT, "metadata": {"x": "y" * 70_000}}], 1, "its metadata exceeds"),
    ([{**PROMPT, "metadata": [1]}], 1, ""),
    ([{**PROMPT, "envelope": {"sender": 7}}], 1, "Invalid sender"),
    (
        [{**ANSWER, "parent_id": None, "turn_id": "m1"}, PROMPT, {**ANSWER, "id": "m5", "turn_id": "m1"}],
        3,
        "has an answer already",
    ),
    ([{**PROMPT, "content": {"text": "x"}, "source": {"kind": "user"}, "kind": "message"}], 1, ""),
    (
        [{**PROMPT, "content": {"text": 7}, "source": {"kind": "moon"}, "kind": "user_prompt"}],
        1,
        "unknown source kind 'moon'",
    ),
]


COMPLETE: Row = {**PLACE, "id": "m1", "kind": "user_prompt", "source": {"kind": "user"}, "content": {"text": "hi"}}
REFUSED += [
    ([{**COMPLETE, **wrong}], 1, why)
    for wrong, why in (
        ({"parent_id": {}}, "parent_id is no text"),
        ({"id": ["m1"]}, "id is no text"),
        ({"facts": [1]}, "facts is no object"),
        ({"round": "x"}, "round is no number that counts"),
        ({"version": -1}, "version is no number that counts"),
        ({"version": 10**30}, "version is no number that counts"),
        ({"author": 7, "content": {"text": 7}}, "text"),
        ({"content": {"text": "x", "attachments": [{"name": "a", "path": 3}]}}, "path"),
        ({"content": {"text": "x", "attachments": [7]}}, ""),
        ({"kind": "tool_call", "content": {"tool": 7}, "source": {"kind": "model", "provider": "p", "model": "m"}}, ""),
        ({"content": {"text": "x", "images": ["file:///etc/passwd"]}}, "is refused"),
        ({"source": {"kind": "model"}}, ""),
        ({"created_at": float("nan")}, ""),
    )
]


@pytest.mark.parametrize(("rows", "number", "why"), REFUSED)
def test_a_row_that_fits_nothing_is_refused_with_its_reason(
    machine: Machine, rows: list[Row], number: int, why: str
) -> None:
    code = 1 if len(rows) > 1 else 65
    assert machine.run("--json", machine.file(rows)) == code
    report = json.loads(machine.said)
    (refused,) = report["refused_rows"]
    assert refused["number"] == number
    assert why in refused["why"]
    assert report["imported"] == len(rows) - 1
    assert machine.run(machine.file(rows)) == code
    assert f"row {number}: " in machine.said


def test_what_hangs_on_a_refused_row_is_refused_too(machine: Machine) -> None:
    report = machine.report(machine.file([{**PROMPT, "kind": "pigeon"}, CALL, RESULT, ANSWER]))
    assert [each["number"] for each in report["refused_rows"]] == [1, 2, 4, 3]
    assert report["imported"] == 0


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


BROKEN: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"hello", "it is no JSON"),
    "half a JSON": (json.dumps(TALK).encode()[:-9], "it is no JSON"),
    "empty": (b"", "it is no JSON"),
    "no text": (b"\x00\xff\xfe\x80", "it is no JSON"),
    "a number": (b"7", "neither a list of messages"),
    "no list": (b'{"records": 7}', "neither a list of messages"),
    "no objects": (b'[{"id": "x"}, 7]', "row 2: it is no object but a number"),
    "a broken line": (lines(TALK[:2]) + b'\n{"id": ', "row 3: it is no JSON"),
    "a line that is a list": (lines(TALK[:2]) + b"\n[]", "row 3: it is no object but a list"),
    "a deep file": (deep(100_000), "nested too deeply"),
    "a deep line": (lines(TALK[:1]) + b"\n" + deep(100_000), "row 2: it is nested too deeply"),
    "one id for two": (
        json.dumps([PROMPT, {**PROMPT, "content": "other"}]).encode(),
        "row 2: the id m1 stands in row 1 too",
    ),
}


@pytest.mark.parametrize(("content", "why"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_read_names_the_row_and_imports_nothing(
    machine: Machine, content: bytes, why: str
) -> None:
    file = machine.file(content)
    assert machine.run(file) == 65
    assert machine.said == ""
    assert f"{file}, {why}" in machine.complaint or (f"{file}: " in machine.complaint and why in machine.complaint)
    assert machine.complaint.endswith("Nothing was imported.\n")
    assert not machine.database.exists()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (lines([PROMPT, {**PROMPT, "content": "x" * 5_000}]), "row 2: it is longer than"),
        (b"[" + b" " * 9_000, "larger than"),
    ],
    ids=["line", "file"],
)
def test_what_is_too_large_to_be_read_at_once_is_said(machine: Machine, content: bytes, why: str) -> None:
    with pytest.raises(FileRefused, match=why):
        list(import_file.rows(Path(machine.file(content)), whole=8_000, line=4_000))


def test_nesting_that_json_takes_and_a_message_does_not_is_refused(machine: Machine) -> None:
    nested: Any = "x"
    for _ in range(900):
        nested = [nested]
    rows = [{**CALL, "parent_id": None, "metadata": {"tool_name": "look", "tool_arguments": {"x": nested}}}, PROMPT]
    report = machine.report(machine.file(rows))
    assert report["imported"] == 1
    assert "deep" in report["refused_rows"][0]["why"]
