"""Which processes live, and which of them serves what: file locks, freed by the kernel at any death (store rules 5, 6).

Locks are advisory `flock`s in one directory on a local disk. A forked child that did not exec would keep them; programs
that we start do not inherit them.
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from kesoku.errors import RunDirectoryUnusable, ServedElsewhere
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address

DAY = 86_400
_PATIENCE = (0.01, 0.05)
"""Waits before a refusal is believed: whoever asks whether a file is free holds it for a moment."""


class Presence:
    """The life of this process, as other processes can see it. `owner` names it in leases.

    A context manager: leaving it frees every lock.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._host = re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:64]
        self.owner = f"{self._host}-{os.getpid()}-{secrets.token_hex(6)}"
        self._held: dict[Path, int] = {}
        with self._usable():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
            self._take(self._life(self.owner))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def is_dead(self, owner: str) -> bool:
        """Whether a process of this host surely ended: its file is there and nobody locks it.

        False for other hosts and where the file cannot be asked: only the lease can tell (C-32).
        """
        return self._lives(owner) is False

    def is_alive(self, owner: str) -> bool:
        """Whether a process of this host surely did not end: somebody locks its file."""
        return self._lives(owner) is True

    def _lives(self, owner: str) -> bool | None:
        if not owner.startswith(f"{self._host}-"):
            return None
        try:
            return not _is_free(self._life(owner)) if self._life(owner).exists() else None
        except OSError:
            return None

    def serve(self, addresses: Iterable[Address]) -> Serving:
        """Become the one process that serves these keys, all of them or none; held until `withdraw` or `close`.

        Raises:
            ServedElsewhere: another process serves one of them; names the key and that process.
        """
        wanted = frozenset(addresses)
        taken: list[Address] = []
        for address in sorted(wanted, key=str):
            if self._key(address) in self._held:
                continue
            with self._usable():
                mine = self._take(self._key(address), key=str(address))
            if not mine:
                self.withdraw(taken)
                raise ServedElsewhere(key=str(address), pid=self.holder(address))
            taken.append(address)
        return Serving(addresses=wanted)

    def withdraw(self, addresses: Iterable[Address]) -> None:
        """Stop serving these keys."""
        for address in addresses:
            self._drop(self._key(address))

    def holder(self, address: Address) -> int | None:
        """The process that serves this very key, or None if nobody does or it cannot be told."""
        path = self._key(address)
        try:
            if _is_free(path):
                return None
            return int(json.loads(path.read_text(encoding="utf-8"))["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def close(self) -> None:
        """Free everything; from now on this process counts as dead. Its file stays, so that others can tell."""
        life = self._held.pop(self._life(self.owner), None)
        if life is not None:
            os.close(life)
        for path in tuple(self._held):
            self._drop(path)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunDirectoryUnusable(path=self._directory, reason=error.strerror or str(error)) from error

    def _sweep(self) -> None:
        """Remove what processes left that died long ago; their leases ran out since."""
        for path in (*self._directory.glob("*.lock"), *self._directory.glob("*.serve")):
            lock = _lock(path, create=False) if _age(path) > DAY else None
            if lock is not None:
                _unlock(path, lock)

    def _life(self, owner: str) -> Path:
        return self._directory / f"{owner}.lock"

    def _key(self, address: Address) -> Path:
        name = str(address)
        readable = re.sub(r"[^A-Za-z0-9.]", "_", name)[:60]
        return self._directory / f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:16]}.serve"

    def _take(self, path: Path, **facts: str) -> bool:
        lock = _lock(path, create=True)
        for wait in _PATIENCE:
            if lock is None:
                time.sleep(wait)
                lock = _lock(path, create=True)
        if lock is None:
            return False
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps({"pid": os.getpid(), "owner": self.owner, **facts}).encode(), 0)
        self._held[path] = lock
        return True

    def _drop(self, path: Path) -> None:
        lock = self._held.pop(path, None)
        if lock is not None:
            _unlock(path, lock)


def _is_free(path: Path) -> bool:
    """Whether the file is there and nobody has it. The question itself holds it for a moment, shared with others."""
    lock = _lock(path, create=False, kind=fcntl.LOCK_SH)
    if lock is None:
        return False
    os.close(lock)
    return True


def _age(path: Path) -> float:
    """Seconds since a file was written; nothing for one that is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _lock(path: Path, *, create: bool, kind: int = fcntl.LOCK_EX) -> int | None:
    """An open, locked file; None if someone else has it, or it is missing and is not to be made."""
    while True:
        try:
            lock = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        # The last holder may have removed the file between open and lock: then this lock guards nothing.
        if _is_still(path, lock):
            return lock
        os.close(lock)


def _is_still(path: Path, lock: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(lock))
    except FileNotFoundError:
        return False


def _unlock(path: Path, lock: int) -> None:
    """Remove the file while we alone have it, then let go."""
    path.unlink(missing_ok=True)
    os.close(lock)
