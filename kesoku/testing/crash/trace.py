"""Traces: what each process records outside of the database, in files of JSON lines that survive a SIGKILL."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""One line: `t` is the machine's monotonic time in nanoseconds, `op` what happened, the rest are its facts."""


class Trace:
    """An append-only file with one JSON object a line, each of them one `os.write`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, op: str, **facts: Any) -> None:
        """Add a line; it is there when this returns."""
        line = json.dumps({"t": time.monotonic_ns(), "op": op, **facts})
        os.write(self._file, f"{line}\n".encode())

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


class Traces:
    """All traces of a folder, read on as they grow. An unfinished last line is not there yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}

    def news(self) -> Iterator[tuple[str, Entry]]:
        """(actor, entry) of what was written since the last call, in the order of each actor."""
        for path in sorted(self._folder.glob("*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._offsets.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._offsets[path] = self._offsets.get(path, 0) + len(line)
                    yield path.stem, json.loads(line)
