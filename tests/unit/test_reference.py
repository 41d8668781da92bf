"""docs/reference says what the code says."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from kesoku import errors
from kesoku.cli.exit import Exit
from kesoku.config import Config

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("generate")


def test_no_page_is_stale(generate: Any) -> None:
    assert list(generate.stale()) == [], "run: python docs/generate.py"


def test_there_is_no_page_that_nothing_makes(generate: Any) -> None:
    assert {path.name for path in (DOCS / "reference").iterdir()} == set(generate.PAGES)


def test_the_check_writes_nothing_and_fails_until_the_pages_are_there(generate: Any, tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    assert generate.main(["--check"], folder) == 1
    assert not folder.exists()
    assert generate.main([], folder) == 0
    assert generate.main(["--check"], folder) == 0
    (folder / "errors.md").write_text("old", encoding="utf-8")
    assert generate.main(["--check"], folder) == 1


def test_no_page_refers_to_what_a_reader_does_not_have(generate: Any) -> None:
    for name, page in generate.PAGES.items():
        text = page()
        assert not re.search(r"\b[A-Z]-X?\d+\b|seed 00|complaint|decisions\.md|/work\b|/tmp\b", text), name
        assert "| |" not in text.replace("|  |", ""), name


def test_pages_are_complete(generate: Any) -> None:
    made = {name: page() for name, page in generate.PAGES.items()}
    tree = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.KesokuError)]
    assert len(tree) > 50
    assert [each.__name__ for each in tree if f"**{each.__name__}**" not in made["errors.md"]] == []
    assert [name for name in Config.model_fields if name not in made["config.md"]] == []
    assert [code for code in Exit if f"| {int(code)} |" not in made["cli.md"]] == []
    assert "`answer_delta`" in made["cli.md"]
    assert made["messages.md"].count("`pending_agent`") > 5
    assert "`slow [SECONDS]`" in made["offline-model.md"]
