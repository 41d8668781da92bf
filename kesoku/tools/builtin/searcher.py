"""The program behind `search_files`: needs nothing but Python itself, so that it starts at once and can be killed.

    python -I -S searcher.py PATTERN GLOB START BASE

Prints `path:line: text` for each line that matches, then on standard error how much it saw. Exits with 2 and the reason
if the pattern is wrong. Paths below BASE are shown relative to it. Links are never followed.
"""
# A program that is started anew for each search imports as little as it can.
# ruff: noqa: PTH112, PTH118, PTH119, PTH123

import os
import re
import stat
import sys
from collections.abc import Iterator
from fnmatch import fnmatch

_MATCHES = 500
_WIDTH = 300
"""Characters of a line that are shown."""
_PIECE = 64 * 1024
"""Bytes of a line that are looked at as a whole."""


def main(pattern: str, glob: str, start: str, base: str) -> int:
    """Search everything from `start` on; stops at `_MATCHES`."""
    try:
        wanted = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        _say(2, str(error))
        return 2
    matches = files = 0
    for path in _files(start):
        shown = path.removeprefix(base.rstrip("/") + "/")
        if not (fnmatch(os.path.basename(path), glob) or fnmatch(shown, glob)):
            continue
        files += 1
        for number, line in _lines(path):
            if wanted.search(line):
                _say(1, f"{shown}:{number}: {_short(line)}")
                matches += 1
                if matches == _MATCHES:
                    _say(2, f"[stopped at {matches} matches; there may be more]")
                    return 0
    _say(2, f"[{matches} matches in {files} files]")
    return 0


def _files(start: str) -> Iterator[str]:
    """Regular files at or below `start`, sorted, without `.git`."""
    if not os.path.isdir(start):
        yield start
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = os.path.join(folder, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path
            except OSError:
                continue


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file; none of a file that is binary or cannot be read."""
    try:
        with open(path, "rb") as file:
            if b"\0" in file.read(8192):
                return
            file.seek(0)
            number = 1
            while piece := file.readline(_PIECE):
                yield number, piece.decode("utf-8", "replace").rstrip("\r\n")
                number += piece.endswith(b"\n")
    except OSError:
        return


def _short(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _say(stream: int, text: str) -> None:
    """Written at once: what was found must be there when the time is over."""
    os.write(stream, f"{text}\n".encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
