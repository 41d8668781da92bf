"""Small facts that all processes of one user share: one JSON file a subject.

A fact is a hint, such as when a provider may be asked again: losing one costs time, never an answer. So the disk never
fails a caller. What cannot be kept there is kept in the memory of this process until it can.

A file is replaced by a rename, under a lock file beside it, so a kill at any point leaves the old fact or the new one.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

T = TypeVar("T")

_LONGEST = 1 << 20
"""Bytes of one fact; a larger file is none of ours."""
_PATIENCE = 0.5
"""Seconds to wait for another process. One that is stopped while it holds the lock must not stop the others."""
_DISK = (OSError, ValueError)
"""What a hostile disk or path raises."""


class _Memory:
    """What one process holds of one folder: a lock a subject, the facts that the disk did not take, and the subjects
    for which it has waited in vain: it does not do so again before another process lets go of them."""

    def __init__(self) -> None:
        self.facts: dict[str, str | None] = {}
        self.stuck: set[str] = set()
        self._locks: dict[str, threading.Lock] = {}

    def lock(self, name: str) -> threading.Lock:
        return self._locks.setdefault(name, threading.Lock())


@cache
def _memory_of(_folder: Path) -> _Memory:
    return _Memory()


class Shared:
    """The facts of one folder. Any number of these, in any loop, thread and process, see the same."""

    def __init__(self, folder: Path | None) -> None:
        """Touches nothing yet. Without a folder the facts live in this value only."""
        self._folder = folder
        self._memory = _Memory() if folder is None else _memory_of(folder)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """In $XDG_STATE_HOME/kesoku, else $HOME/.local/state/kesoku; relative paths do not count."""
        state, home = environment.get("XDG_STATE_HOME", ""), environment.get("HOME", "")
        roots = (Path(state), Path(home, ".local", "state"))
        return cls(next((root / "kesoku" for root in roots if root.is_absolute()), None))

    async def read(self, subject: str) -> Any:
        """The fact, or None. Takes no lock and writes nothing."""
        return await asyncio.to_thread(lambda: _value(self._text(_name(subject))))

    async def update(self, subject: str, change: Callable[[Any], tuple[Any, T]]) -> T:
        """Replace the fact by what `change(old)` returns first; returns its second.

        `change` runs in a thread while nobody else changes the subject, so it must be quick. `old` is None where there
        is no fact yet, or none that is JSON; a new fact of None removes the file. A cancelled update happens wholly or
        not at all. Raises only what `change` raises, and TypeError when the new fact is no JSON.
        """
        return await asyncio.to_thread(self._update, _name(subject), change)

    def _update(self, name: str, change: Callable[[Any], tuple[Any, T]]) -> T:
        with self._memory.lock(name), self._locked(name):
            old = self._text(name)
            fact, result = change(_value(old))
            new = None if fact is None else json.dumps(fact)
            if new != old:
                self._keep(name, new)
        return result

    def _text(self, name: str) -> str | None:
        if name in self._memory.facts or self._folder is None:
            return self._memory.facts.get(name)
        with contextlib.suppress(*_DISK):
            return _read(self._folder / f"{name}.json")
        return None

    def _keep(self, name: str, text: str | None) -> None:
        try:
            self._write(name, text)
        except _DISK:
            self._memory.facts[name] = text
        else:
            self._memory.facts.pop(name, None)

    def _write(self, name: str, text: str | None) -> None:
        if self._folder is None:
            raise FileNotFoundError
        path = self._folder / f"{name}.json"
        if text is None:
            path.unlink(missing_ok=True)
            return
        draft = path.with_suffix(f".{os.getpid()}.new")  # two may write: a lock that is not given is not waited for
        with open(_opened(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Alone among processes, as far as the disk allows."""
        lock = None
        with contextlib.suppress(*_DISK):
            if self._folder is not None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = _opened(self._folder / f"{name}.lock", os.O_RDWR | os.O_CREAT)
                stuck = self._memory.stuck
                if _wait(lock, 0.0 if name in stuck else _PATIENCE):
                    stuck.discard(name)
                else:
                    stuck.add(name)
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)


def _name(subject: str) -> str:
    return quote(subject, safe="")[:200]


def _value(text: str | None) -> Any:
    with contextlib.suppress(ValueError, RecursionError):
        return None if text is None else json.loads(text)
    return None


def _opened(path: Path, flags: int) -> int:
    """A descriptor of a plain file, mode 0600; links are not followed, and a pipe in its place does not block."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)


def _read(path: Path) -> str:
    file = _opened(path, os.O_RDONLY)
    try:
        return os.read(file, _LONGEST).decode("utf-8")
    finally:
        os.close(file)


def _wait(lock: int, patience: float) -> bool:
    """Whether the lock is ours, after at most `patience` seconds."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.002)
        else:
            return True
