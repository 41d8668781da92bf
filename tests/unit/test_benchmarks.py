"""`python benchmarks/run.py`: what it prints, writes and leaves behind. What it measures is its own business."""

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kesoku.testing.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
MACHINERY = ("figure.py", "machine.py", "report.py", "run.py")
GOOD = '''"""Something good. And more."""
from figure import Figure, Physical, at_least, at_most
def measure(room):
    (room / "kept").write_text("")
    light = Physical(name="light", value=0.5)
    yield Figure(name="delay", samples=(9.0, 1.0, 2.0), unit="ms", limit=at_most(2), physical=light, meaning="how long")
    yield Figure(name="rate", samples=(1000.0,), unit="posts/s", limit=at_least(2000), meaning="how many")
'''
BAD = '''"""Something bad."""
from figure import Figure
def measure(room):
    yield Figure(name="so far", samples=(1.0,), unit="ms", meaning="how long")
    raise ValueError("no disk")
'''
STUCK = '''"""Something that waits for ever, and so does what it started."""
import subprocess, sys
from figure import Figure
def measure(room):
    child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
    yield Figure(name="pid", samples=(child.pid,), unit="", meaning="who waits")
    child.wait()
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Benchmarks of this test's own, with a folder for what is temporary."""
    here = tmp_path / "benchmarks"
    here.mkdir()
    (tmp_path / "temporary").mkdir()
    for name in MACHINERY:
        shutil.copy(ROOT / "benchmarks" / name, here)
    for name, text in (("good", GOOD), ("bad", BAD), ("stuck", STUCK)):
        (here / f"{name}.py").write_text(text, encoding="utf-8")
    return here


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """The modules of the real folder, by name."""
    folder = ROOT / "benchmarks"
    monkeypatch.syspath_prepend(folder)
    before = {*sys.modules}
    yield importlib.import_module
    for name in {path.stem for path in folder.glob("*.py")} & sys.modules.keys() - before:
        del sys.modules[name]


@pytest.fixture
def report(benchmarks: Callable[[str], Any]) -> Any:
    return benchmarks("report")


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    pipe, environment = subprocess.PIPE, {**os.environ, "TMPDIR": str(folder.parent / "temporary")}
    command = [sys.executable, str(folder / "run.py"), *arguments]
    return subprocess.Popen(command, env=environment, cwd=folder.parent, stdout=pipe, stderr=pipe, text=True)


def test_one_that_fails_names_itself_and_the_others_go_on(folder: Path) -> None:
    with started(folder, "bad", "good", "--json", "figures.json") as process:
        out, err = process.communicate(timeout=PATIENCE)
    rows = [" ".join(row.split()) for row in out.splitlines()]
    assert process.returncode == 1
    assert "ValueError: no disk" in err
    assert rows[2:] == [
        "so far 1 ms",
        "bad failed",
        "delay 2 ms <= 2 yes 0.500 (light) 4",
        "rate 1,000 posts/s >= 2000 NO",
        "missed: rate; failed: bad",
    ]
    found = json.loads((folder.parent / "figures.json").read_text(encoding="utf-8"))
    assert found["benchmarks"] == {"bad": "Something bad.", "good": "Something good. And more."}
    assert {"cores", "load_before", "load_after", "python", "sqlite", "fsync_ms", "loop_ms"} <= found["machine"].keys()
    assert (found["quick"], found["failed"]) == (False, ["bad"])
    assert [(each["name"], each["value"], each["met"], each["ratio"]) for each in found["figures"]] == [
        ("so far", 1.0, True, None),
        ("delay", 2.0, True, 4.0),
        ("rate", 1000.0, False, None),
    ]
    assert list((folder.parent / "temporary").iterdir()) == []


def test_an_interruption_leaves_nothing_behind(folder: Path) -> None:
    with started(folder, "stuck") as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        child = next(int(line.split()[1].replace(",", "")) for line in lines if line.startswith("pid"))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "interrupted\n")
    assert list((folder.parent / "temporary").iterdir()) == []
    stat = Path(f"/proc/{child}/stat")
    assert not stat.exists() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"


def test_what_does_not_exist_is_named(folder: Path) -> None:
    with started(folder, "nope", "good") as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "there is no benchmark nope; there are bad, good, stuck" in err


def test_an_earlier_run_is_compared_by_ratio_where_there_is_one(report: Any) -> None:
    def run(*figures: tuple[str, float, float | None, bool]) -> dict[str, Any]:
        keys = ("name", "value", "ratio", "less_is_better")
        return {"quick": False, "figures": [dict(zip(keys, each, strict=True), benchmark="b") for each in figures]}

    old = run(("delay", 2.0, 4.0, True), ("rate", 100.0, None, False), ("size", 50.0, None, True))
    new = run(
        ("delay", 3.0, 2.0, True), ("rate", 50.0, None, False), ("size", 52.0, None, True), ("new", 1, None, True)
    )
    assert [line.split() for line in report.changes(old, new)] == [
        ["delay", "2", "x", "better", "ratio", "4", "->", "2"],
        ["rate", "2", "x", "worse", "value", "100", "->", "50"],
        ["size", "same", "value", "50", "->", "52"],
        ["new", "new"],
    ]


def test_what_a_bot_said_on_discord_is_judged_by_question(benchmarks: Callable[[str], Any]) -> None:
    bot = benchmarks("discord_bot")
    said = [bot.Said(id=1, channel=7, answer="42"), bot.Said(id=2, channel=7, answer="43")]

    def shown(*messages: tuple[int | None, str]) -> dict[int, list[dict[str, Any]]]:
        return {7: [{"reply_to": each, "content": text} for each, text in messages]}

    assert bot.judge(said, shown((1, "it is 42"), (2, "43"))) == (0, 0)
    assert bot.judge(said, shown((1, "42"), (1, "42"), (None, "a status"))) == (1, 2)
    assert bot.judge(said, shown((1, "43"), (2, "42"))) == (2, 2)
    assert "discord_bot" in benchmarks("run").names()


def test_the_figures_of_the_docs_are_of_a_whole_run() -> None:
    found = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))
    assert not found["quick"]
    assert found["figures"]
