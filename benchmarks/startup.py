"""How fast the command starts, and what it imports for that."""

import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from figure import Figure, Physical, amount, at_most, samples

from kesoku.store import SqlStore

KESOKU = str(Path(sys.executable).with_name("kesoku"))
PYTHON = (sys.executable, "-c", "pass")
COMMANDS = (("chat", "hi"), ("chat", "--json", "hi"), ("doctor", "--offline"))
PROBE = r"""
import atexit, json, re, sys
def note():
    peak = re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]
    json.dump([int(peak), len(sys.modules)], open(sys.argv.pop(), "w"))
atexit.register(note)
arguments, notes = sys.argv[1:-1], sys.argv[-1]
sys.argv[:] = ["kesoku", *arguments]
try:
    if arguments:
        from kesoku.cli.main import run
        run()
finally:
    sys.argv.append(notes)
"""


class Home:
    """Runs commands in a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def seconds(self, *command: str) -> float:
        """From the start of the process to its end."""
        before = time.perf_counter()
        subprocess.run(command, env=self.environment, cwd=self.folder, check=True, capture_output=True)
        return time.perf_counter() - before

    def first_character(self, *command: str) -> float:
        """From the start of the process to the first byte that it prints."""
        pipe = subprocess.PIPE
        before = time.perf_counter()
        with subprocess.Popen(
            command,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
        ) as process:
            assert process.stdout
            first = process.stdout.read(1)
            spent = time.perf_counter() - before
            said = process.communicate()[1]
        if not first:
            raise RuntimeError(f"{' '.join(command)} printed nothing but {said!r}")
        return spent

    def needs(self, *arguments: str) -> tuple[float, int]:
        """The most megabytes that a command held, and how many modules it imported; Python alone without arguments."""
        notes = self.folder / "notes.json"
        command = [sys.executable, "-c", PROBE, *arguments, str(notes)]
        subprocess.run(command, env=self.environment, cwd=self.folder, check=False, capture_output=True)
        kilobytes, modules = json.loads(notes.read_text(encoding="utf-8"))
        return kilobytes / 1024, modules


def measure(room: Path) -> Iterator[Figure]:
    """Start-up of the command, then of a database."""
    home = Home(room)
    python = Physical(name="python -c pass", value=statistics.median(samples(lambda: home.seconds(*PYTHON))))
    yield Figure(
        name="kesoku --help",
        samples=samples(lambda: home.seconds(KESOKU, "--help")),
        unit="s",
        limit=at_most(0.3),
        physical=python,
        meaning="How long a person waits for the help text.",
    )
    home.seconds(KESOKU, "chat", "hi")
    yield Figure(
        name="kesoku chat hi, first character",
        samples=samples(lambda: home.first_character(KESOKU, "chat", "hi")),
        unit="s",
        limit=at_most(0.8),
        physical=python,
        meaning="From Return to the first character of a one-shot answer, with a model that answers at once.",
        obstacle="Imports: some 810 modules stand between the command and a durable turn; half of the time that they"
        " take is Kesoku's own 330, a fifth SQLAlchemy.",
    )
    yield Figure(
        name="kesoku chat hi, to its end",
        samples=samples(lambda: home.seconds(KESOKU, "chat", "hi")),
        unit="s",
        physical=python,
        meaning="What Kesoku itself adds to a one-shot question in a script, its shutdown included.",
    )
    yield from _needs(home)
    yield from _opened(room)


def _needs(home: Home) -> Iterator[Figure]:
    megabytes, modules = home.needs()
    memory = Physical(name="python -c pass", value=megabytes)
    imports = Physical(name="python -c pass", value=modules)
    for arguments, limit in ((("--help",), at_most(45)), *((each, None) for each in COMMANDS)):
        command = " ".join(("kesoku", *arguments))
        megabytes, modules = home.needs(*arguments)
        yield Figure(
            name=f"{command}, memory",
            samples=(megabytes,),
            unit="MB",
            limit=limit,
            physical=memory,
            meaning="The most memory that the command has had at once.",
        )
        yield Figure(
            name=f"{command}, imports",
            samples=(modules,),
            unit="modules",
            physical=imports,
            meaning="Modules that are loaded for it: most of a start is spent on these.",
        )


def _opened(room: Path) -> Iterator[Figure]:
    asyncio.run(_open(room / "first.db"))
    new = tuple(asyncio.run(_open(room / f"new{number}.db")) for number in range(amount(5, 1)))
    old = tuple(asyncio.run(_open(room / "first.db")) for _ in range(amount(5, 1)))
    yield Figure(
        name="open a new database",
        samples=new,
        unit="ms",
        limit=at_most(60),
        physical=Physical(name="sqlite3 alone, same tables", value=_created(room)),
        meaning="What the very first start costs on top of every other.",
    )
    yield Figure(
        name="open an existing database",
        samples=old,
        unit="ms",
        limit=at_most(60),
        physical=Physical(name="sqlite3 alone, schema read", value=_read(room / "first.db")),
        meaning="The part of every start that goes into the database.",
    )


async def _open(path: Path) -> float:
    before = time.perf_counter()
    store = await SqlStore.open(path)
    spent = time.perf_counter() - before
    await store.aclose()
    return spent * 1000


def _created(room: Path) -> float:
    """Milliseconds in which sqlite3 makes the same tables and indexes, in one transaction."""
    source = sqlite3.connect(room / "first.db")
    rows = source.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
    statements = [sql for (sql,) in rows.fetchall()]
    source.close()
    before = time.perf_counter()
    database = sqlite3.connect(room / "alone.db", isolation_level=None)
    for sql in ("PRAGMA journal_mode = WAL", "BEGIN", *statements, "COMMIT"):
        database.execute(sql)
    spent = time.perf_counter() - before
    database.close()
    return spent * 1000


def _read(path: Path) -> float:
    """Milliseconds in which sqlite3 opens the file and reads its schema."""

    def once() -> float:
        before = time.perf_counter()
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("SELECT * FROM messages LIMIT 1").fetchone()
        spent = time.perf_counter() - before
        database.close()
        return spent * 1000

    return statistics.median(samples(once))
