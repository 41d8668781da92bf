"""Measure how fast and how small Kesoku is on this machine: `python benchmarks/run.py`.

Each benchmark runs in a process and a folder of its own. Run them on an idle machine: most limits are absolute. The
exit code is 1 if a limit is missed or a benchmark fails.
"""

import argparse
import ast
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

import machine
import report
from figure import Figure

FOLDER = Path(__file__).parent
_SPAWN = multiprocessing.get_context("spawn")
_TICK = 0.5


class Failed(Exception):
    """A benchmark ended without all of its figures."""


def names(folder: Path = FOLDER) -> list[str]:
    """The modules that measure something."""
    return sorted(each.stem for each in folder.glob("*.py") if "\ndef measure(" in each.read_text(encoding="utf-8"))


def title(name: str, folder: Path = FOLDER) -> str:
    """What a benchmark is about: the first line of its docstring."""
    said = ast.get_docstring(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))) or name
    return said.partition("\n")[0]


def figures(name: str, room: Path) -> Iterator[Figure | None]:
    """The figures of one benchmark, as they come; None while nothing is known. Raises Failed."""
    here, there = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_measure, args=(name, room, there))
    process.start()
    assert process.pid
    there.close()
    try:
        while True:
            yield here.recv() if here.poll(_TICK) else None
    except EOFError:
        process.join()
        if process.exitcode:
            raise Failed(name) from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()


def _measure(name: str, room: Path, pipe: Connection) -> None:
    os.setpgid(0, 0)  # a group of its own, so that whatever it started can be ended with it
    os.environ["TMPDIR"] = str(room)  # and removed with it
    for figure in importlib.import_module(name).measure(room):
        pipe.send(figure)


class Run:
    """One run over some benchmarks; prints while it goes."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.entries: list[dict[str, Any]] = []
        self.failed: list[str] = []

    def all(self, chosen: Sequence[str]) -> dict[str, Any]:
        """Measure, and return everything that the JSON holds."""
        with tempfile.TemporaryDirectory(prefix="kesoku-benchmarks-", ignore_cleanup_errors=True) as path:
            folder = Path(path)
            facts = machine.facts(folder)
            print(", ".join(f"{fact} {value}" for fact, value in facts.items()), file=self._out)
            print(report.head(), file=self._out)
            for name in chosen:
                room = folder / name
                room.mkdir()
                self._one(name, room)
                shutil.rmtree(room, ignore_errors=True)
        facts["load_after"] = machine.load()
        quick = bool(os.environ.get("KESOKU_BENCHMARKS_QUICK"))
        titles = {name: title(name) for name in chosen}
        return {
            "quick": quick,
            "machine": facts,
            "benchmarks": titles,
            "figures": self.entries,
            "failed": self.failed,
        }

    def _one(self, name: str, room: Path) -> None:
        began = time.monotonic()
        try:
            for figure in figures(name, room):
                _progress("" if figure else f"{name}: {time.monotonic() - began:.0f} s")
                if figure:
                    self.entries.append(report.entry(name, figure))
                    print(report.row(figure), file=self._out, flush=True)
        except Failed:
            self.failed.append(name)
            print(f"{name} failed", file=self._out, flush=True)
        finally:
            _progress("")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = names()
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--quick", action="store_true", help="little work: whether all run, not how fast")
    parser.add_argument("--json", metavar="FILE", help="write everything there; - for the output")
    parser.add_argument("--compare", metavar="FILE", type=_earlier, help="the JSON of an earlier run")
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.names} - {*known}):
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    options.names = options.names or known
    return options


def _earlier(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{path} cannot be read: {error}") from None


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write, compare."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = _parsed(arguments)
    if options.quick:
        os.environ["KESOKU_BENCHMARKS_QUICK"] = "1"
    out = sys.stderr if options.json == "-" else sys.stdout
    try:
        found = Run(out).all(options.names)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    if options.compare:
        print("", *report.changes(options.compare, found), sep="\n", file=out)
    print(report.verdict(found["figures"], found["failed"]), file=out)
    if options.json:
        written = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        if options.json == "-":
            sys.stdout.write(written)
        else:
            Path(options.json).write_text(written, encoding="utf-8")
    return 1 if found["failed"] or not all(each["met"] for each in found["figures"]) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
