"""File systems that fill up, or that take no writes, as the kernel makes them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, *, size: str) -> Iterator[Path]:
    """A file system of its own on a new folder; `size` as `mount` takes it, such as `3m`.

    Skips the test where mounting is not allowed.
    """
    folder.mkdir()
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        yield folder


@contextmanager
def read_only(folder: Path, at: Path) -> Iterator[Path]:
    """The files of `folder` once more in the new folder `at`, where the file system takes no writes.

    Skips the test where mounting is not allowed.
    """
    at.mkdir()
    with _mounted(at, "--bind", str(folder)):
        _run("mount", "-o", "remount,bind,ro", str(at))
        yield at


def fill(disk: Path) -> Path:
    """Leave no byte free; returns the file that takes the room, to be deleted."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as out:
        size = 1 << 16
        while size:
            try:
                out.write(b"x" * size)
            except OSError:
                size //= 2
    return ballast


@contextmanager
def _mounted(target: Path, *what: str) -> Iterator[None]:
    if os.geteuid() or not _run("mount", *what, str(target)):
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        _run("umount", "--lazy", str(target))


def _run(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
