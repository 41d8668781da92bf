"""How fast the command starts on this machine: `python benchmarks/startup.py`, or with --json for programs.

Each figure is the best of five runs, with its limit beside it; a figure beyond its limit gives exit code 1. Run it on
an idle machine: the limits are absolute.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

KESOKU = str(Path(sys.executable).with_name("kesoku"))
RUNS = 5
PACKAGES = ("asyncio", "google.genai", "httpx", "markdown_it", "prompt_toolkit", "pydantic", "rich", "sqlalchemy")
COMMANDS = (("--help",), ("--version",), ("chat", "hi"), ("chat", "--json", "hi"), ("doctor",))
PROBE = r"""
import atexit, json, re, sys
def note():
    peak = re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]
    json.dump([int(peak), list(sys.modules)], open(sys.argv.pop(), "w"))
atexit.register(note)
arguments, notes = sys.argv[1:-1], sys.argv[-1]
sys.argv[:] = ["kesoku", *arguments]
from kesoku.cli.main import run
try:
    run()
finally:
    sys.argv.append(notes)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table."""

    what: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the limit holds."""
        return self.limit is None or self.value < self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"limit {self.limit:g} {self.unit}{'' if self.is_kept else '  BEYOND'}"
        return f"{self.what:<52} {self.value:>8.3f} {self.unit:<3} {limit}".rstrip()


def best(measure: Callable[[], float]) -> float:
    """The least of some runs: what the machine can do when nothing else runs."""
    return min(measure() for _ in range(RUNS))


class Bench:
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
        before = time.perf_counter()
        with subprocess.Popen(
            command,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        ) as process:
            if process.stdout is None or not process.stdout.read(1):
                raise RuntimeError(f"{' '.join(command)} printed nothing")
            spent = time.perf_counter() - before
            process.communicate()
        return spent

    def needs(self, *arguments: str) -> tuple[float, Sequence[str]]:
        """The most memory that a command has had, in MB, and the modules that it imported."""
        notes = self.folder / "notes.json"
        command = [sys.executable, "-c", PROBE, *arguments, str(notes)]
        subprocess.run(command, env=self.environment, cwd=self.folder, check=False, capture_output=True)
        kilobytes, modules = json.loads(notes.read_text(encoding="utf-8"))
        return kilobytes / 1024, modules


def figures(bench: Bench) -> list[Figure]:
    """Everything with a number."""
    found = [
        Figure(what="python -c pass", value=best(lambda: bench.seconds(sys.executable, "-c", "pass")), unit="s"),
        Figure(what="kesoku --help", value=best(lambda: bench.seconds(KESOKU, "--help")), unit="s", limit=0.3),
        Figure(what="kesoku --help, memory", value=bench.needs("--help")[0], unit="MB", limit=45),
        Figure(
            what="kesoku chat hi, first character",
            value=best(lambda: bench.first_character(KESOKU, "chat", "hi")),
            unit="s",
            limit=0.8,
        ),
        Figure(what="kesoku chat hi, to its end", value=best(lambda: bench.seconds(KESOKU, "chat", "hi")), unit="s"),
    ]
    return [*found, Figure(what="kesoku chat hi, memory", value=bench.needs("chat", "hi")[0], unit="MB")]


def imports(bench: Bench) -> Mapping[str, Mapping[str, object]]:
    """How many modules each command imports, and which of the heavy packages."""
    found = {}
    for arguments in COMMANDS:
        _, modules = bench.needs(*arguments)
        found[" ".join(("kesoku", *arguments))] = {
            "modules": len(modules),
            "heavy": [name for name in PACKAGES if name in modules],
        }
    return found


def main() -> int:
    """Measure and print; 1 if a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        measured, imported = figures(bench), imports(bench)
    if options.json:
        print(json.dumps({"figures": [asdict(each) for each in measured], "imports": imported}))
    else:
        print(*measured, sep="\n")
        for command, facts in imported.items():
            heavy = re.sub(r"[\[\]']", "", str(facts["heavy"])) or "none"
            print(f"{command:<52} {facts['modules']:>8} modules; heavy: {heavy}")
    return 0 if all(each.is_kept for each in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
