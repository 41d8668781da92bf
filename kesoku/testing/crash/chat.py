"""The real `kesoku chat`, killed around its commits one after the other: the next one goes on where it ended.

The program is as it is installed, with a driver of SQLite that is found where the product looks for a newer one. Nobody
else is there, so what was cut off waits for the person to come back, and every question gets its one answer then. After
each kill comes a sitting that nobody disturbs: an answer is given up when it is twice unknown whether it was shown.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from signal import SIGKILL
from types import ModuleType
from typing import Any

from kesoku.testing.crash.audit import STRANGER, identify, install
from kesoku.testing.crash.evidence import Evidence
from kesoku.testing.crash.invariant import check
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.report import Report, Violation
from kesoku.testing.crash.trace import Trace, Traces
from kesoku.testing.crash.watch import Point, Side, Tripwire, Watch
from kesoku.testing.driver import intercepted
from kesoku.testing.sync_store import SyncStore

_DRIVER = """\
import pathlib, sys
from kesoku.testing.crash.chat import driver
sys.modules[__name__] = driver(pathlib.Path({folder!r}))
"""
_CONFIG = """\
[store]
path = {database}
[agent]
model = "offline"
busy = "queue"
"""
_PATIENCE = 60
"""Real seconds for one sitting."""
_ENDLESS = 124
_TRIPWIRE = "tripwire.json"
_SAID = "SELECT kind, status, content FROM messages WHERE kind IN ('user_prompt', 'answer')"
_ENDED = {"processed", "delivered"}
NOWHERE = Point("nowhere", Side.AFTER)
"""No process comes by there."""


def kill_chats(folder: Path, *, seed: int, kills: int) -> Report:
    """Ask questions, kill who answers, ask on. `folder` keeps what that left behind."""
    began, home = time.monotonic(), _Home(Layout(folder))
    home.sit()
    points = home.points()
    chosen = Random(seed).sample(points, min(kills, len(points)))
    died = []
    for point in chosen:
        died += [point] if home.sit(point) == -SIGKILL else []
        home.sit()
    return Report(
        seed=seed,
        seconds=time.monotonic() - began,
        kills={"chat": len(died)},
        points={str(point): int(point in died) for point in points},
        stops=0,
        steps={},
        violations=tuple(home.judge()),
    )


def driver(folder: Path) -> ModuleType:
    """The driver of a program that is to die where the folder says."""
    name, where, side = json.loads((folder / _TRIPWIRE).read_text(encoding="utf-8"))
    watch = Watch(Trace(Layout(folder).traces / f"{name}.jsonl"), Tripwire(point=Point(where, Side(side))))
    return intercepted(sqlite3, watch.statement, opened=lambda link: identify(link, STRANGER))


class _Home:
    """A person's home folder, with a configuration and a terminal."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._folder = layout.folder
        self._sittings = 0
        self._done: set[str] = set()
        self._endless: list[str] = []
        self._shown = Counter[str]()
        self._prepare()
        self._trace = Trace(layout.traces / "harness.jsonl")

    def points(self) -> list[Point]:
        """Where the latest sitting came by."""
        news = Traces(self.layout.traces).news()
        name = self._name
        return [Point(each["name"], Side(each["side"])) for who, each in news if who == name and each["op"] == "passed"]

    def sit(self, point: Point = NOWHERE) -> int:
        """Ask something; the exit code, 124 if it did not end. Whatever was left unfinished before is finished too."""
        self._sittings += 1
        question = f"what is {self._sittings} + 0?"
        (self._folder / _TRIPWIRE).write_text(json.dumps([self._name, point.name, point.side]), encoding="utf-8")
        command = [sys.executable, "-m", "kesoku", "chat", "--json", question]
        try:
            done = subprocess.run(  # noqa: S603 - our own program
                command,
                check=False,
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
            )
        except subprocess.TimeoutExpired:
            self._endless.append(question)
            return _ENDLESS
        self._shown.update(event["text"] for event in _events(done.stdout) if event["type"] == "answer")
        if done.returncode == 0:
            self._done.add(question)
        if done.returncode == -SIGKILL:
            self._trace.write("killed", name=self._name, role="chat", how="point", point=point.name, side=point.side)
        return done.returncode

    def judge(self) -> list[Violation]:
        """What is wrong with the database, and with what the person was told."""
        with closing(sqlite3.connect(self.layout.database)) as database:
            rows = database.execute(_SAID).fetchall()
        stored = Counter((kind, json.loads(content)["text"]) for kind, _, content in rows)
        wrong = [f"{kind} {content} is {status}" for kind, status, content in rows if status not in _ENDED]
        wrong += [f"nothing came of {text!r} within {_PATIENCE} s" for text in self._endless]
        wrong += [f"{text!r} was answered, but is not stored" for text in self._done if not stored["user_prompt", text]]
        wrong += [
            f"{text!r} is stored {count} times, and was shown {self._shown[text]} times"
            for (kind, text), count in stored.items()
            if (count > 1 if kind == "user_prompt" else count > self._shown[text])
        ]
        evidence = Evidence(self.layout)
        try:
            found = check(evidence, final=True)
        finally:
            evidence.close()
            self._trace.close()
        # I9 compares with what a platform shows; a terminal keeps nothing of it.
        return [each for each in found if each.rule != "I9"] + [Violation(rule="chat", text=text) for text in wrong]

    @property
    def _name(self) -> str:
        return f"chat-{self._sittings:03}"

    def _prepare(self) -> None:
        self.layout.prepare()
        SyncStore(self.layout.database).close()
        install(self.layout.database)
        driver_folder = self._folder / "driver" / "pysqlite3"
        driver_folder.mkdir(parents=True)
        (driver_folder / "__init__.py").touch()
        (driver_folder / "dbapi2.py").write_text(_DRIVER.format(folder=str(self._folder)), encoding="utf-8")
        config = _CONFIG.format(database=json.dumps(str(self.layout.database)))
        (self._folder / "config.toml").write_text(config, encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "COV", "LANG"))}
        path = os.pathsep.join([str(self._folder / "driver"), *filter(None, sys.path)])
        return kept | {"HOME": str(self._folder), "PYTHONPATH": path}


def _events(output: str) -> list[dict[str, Any]]:
    """What `--json` printed; a line that a kill cut off is none."""
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]
