"""Writes docs/reference from the code: `python docs/generate.py`. With `--check`: fails if a page is stale."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pages.cli import cli
from pages.config import config
from pages.contract import contract
from pages.errors import errors
from pages.figures import figures
from pages.loopback import loopback_discord, loopback_gemini
from pages.messages import messages
from pages.offline import offline
from pages.tools import tools

FOLDER = Path(__file__).parent / "reference"
HEAD = "<!-- Made from the code by docs/generate.py. Change the docstrings there, not this page. -->\n\n"
PAGES: dict[str, Callable[[], str]] = {
    "config.md": config,
    "cli.md": cli,
    "messages.md": messages,
    "errors.md": errors,
    "tools.md": tools,
    "offline-model.md": offline,
    "adapter-contract.md": contract,
    "loopback-gemini.md": loopback_gemini,
    "loopback-discord.md": loopback_discord,
    "figures.md": figures,
}


def stale(folder: Path = FOLDER) -> dict[str, str]:
    """The pages that are not there as the code has them now, and what they should say."""
    made = {name: HEAD + page() for name, page in PAGES.items()}
    return {name: text for name, text in made.items() if _read(folder / name) != text}


def main(arguments: Sequence[str], folder: Path = FOLDER) -> int:
    """Write what is stale, or only name it."""
    parser = argparse.ArgumentParser(description="Write docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is stale")
    checks = parser.parse_args(arguments).check
    found = stale(folder)
    for name, text in found.items():
        if not checks:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{'stale' if checks else 'written'}: {folder / name}\n")
    return 1 if checks and found else 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
