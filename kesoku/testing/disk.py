"""File systems that fill up, or that take no writes, as the kernel makes them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, *, size: str) -> Iterator[Path]:
    """A file system of its own on a new folder; `size` as `mount` takes it. Skips where mounting is not allowed."""
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        yield folder


@contextmanager
def mounted(target: Path, *what: str) -> Iterator[None]:
    """Mount something on a folder while the body runs."""
    if os.geteuid() or not _run("mount", *what, str(target)):
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        _run("umount", "--lazy", str(target))


def freeze(mount: Path) -> None:
    """Let a file system that is bound to a second folder take no writes there any more."""
    _run("mount", "-o", "remount,bind,ro", str(mount))


def fill(disk: Path) -> Path:
    """Leave no byte free; the file that takes the room is returned, so that it can be taken away."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as out:
        size = 1 << 16
        while size:
            try:
                out.write(b"x" * size)
            except OSError:
                size //= 2
    return ballast


def _run(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
