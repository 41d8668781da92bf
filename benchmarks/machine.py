"""What the figures were measured on, and what the operating system knows of a process."""

import os
import platform
import re
import statistics
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

_SYNCS = 20
_PAGE = bytes(4096)
_ROUNDS = 1_000_000


def facts(room: Path) -> dict[str, object]:
    """Everything that moves the figures and can be known before the first of them."""
    from kesoku.store.driver import driver  # only here: a benchmark's own process must not begin with all of it

    return {
        "date": datetime.now(UTC).date().isoformat(),
        "kesoku": version("kesoku"),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
        "sqlite": driver().sqlite_version,
        "fsync_ms": round(fsync(room / "fsync") * 1000, 3),
        "loop_ms": round(loop() * 1000, 1),
        "load_before": load(),
    }


def load() -> float:
    """Processes that wanted to run, over the last minute."""
    return round(os.getloadavg()[0], 2)


def loop() -> float:
    """Seconds of CPU for a million rounds of a loop in Python, the median of five: how fast its programs run here."""
    spent = []
    for _ in range(5):
        before, total = time.process_time(), 0
        for number in range(_ROUNDS):
            total += number * number % 7
        spent.append(time.process_time() - before)
    return statistics.median(spent)


def resident(pid: int | str = "self") -> float:
    """Megabytes (2**20 bytes) of memory that a process holds now."""
    found = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    assert found
    return int(found[1]) / 1024


def fsync(path: Path) -> float:
    """Seconds until a page that is appended to a file lies on the disk, the median."""
    spent = []
    with path.open("wb", buffering=0) as file:
        for _ in range(_SYNCS):
            before = time.perf_counter()
            file.write(_PAGE)
            os.fsync(file.fileno())
            spent.append(time.perf_counter() - before)
    path.unlink()
    return statistics.median(spent)
