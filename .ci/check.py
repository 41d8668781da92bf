"""Run every check of the project: formatting, lint, types, import floors, tests with branch coverage.

Usage: python .ci/check.py [--fast]    (--fast leaves out coverage and runs the tests on all cores)
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# One more than there are cores: end-to-end tests spend much of their time waiting for processes.
PYTEST = [sys.executable, "-m", "pytest", "-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]

# Tests start many processes: each would compile every module again where bytecode is not written.
ENVIRONMENT = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}

CHECKS = {
    "format": [str(BIN / "ruff"), "format", "--check", "."],
    "lint": [str(BIN / "ruff"), "check", "."],
    "types": [str(BIN / "mypy")],
    "floors": [str(BIN / "lint-imports")],
    "tests": [*PYTEST, "--cov", "--cov-report=", "--cov-fail-under=90"],
}


def main() -> int:
    if "--fast" in sys.argv[1:]:
        CHECKS["tests"] = PYTEST
    failed = []
    for name, command in CHECKS.items():
        print(f"== {name}", flush=True)
        start = time.monotonic()
        if subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=False).returncode:
            failed.append(name)
        print(f"== {name}: {'failed' if name in failed else 'ok'} in {time.monotonic() - start:.1f} s", flush=True)
    print("failed: " + ", ".join(failed) if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
