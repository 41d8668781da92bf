"""The pages of docs/ name what is there: files, links, options, code."""

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest

from kesoku.cli.main import build_parser

DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "decisions" not in path.parts)
NAMES = [str(path.relative_to(DOCS)) for path in PAGES]

_SHOWN = re.compile(r"<!-- (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(#[^)]+)?\)")
_COMMAND = re.compile(r"^\$ (?:.*(?:\||=\$\() *)?(?:[A-Z_]+=\S+ )*kesoku (.*)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def broken(page: Path, text: str) -> list[str]:
    """Links that lead nowhere."""
    found = []
    for link, anchor in _LINK.findall(text):
        target = page.parent / link if link else page
        if not target.exists() or (anchor and anchor[1:] not in anchors(target.read_text(encoding="utf-8"))):
            found.append(link + anchor)
    return found


def commands(text: str) -> list[list[str]]:
    """The arguments of every `kesoku` of a page, without what belongs to the shell."""
    lines = (re.split(r" (?:[<>|&#]|2>)| 2>", line)[0].rstrip(" )") for line in _COMMAND.findall(text))
    return [shlex.split(line) for line in lines]


def complaint(arguments: list[str]) -> str:
    """What the command line says against these arguments."""
    with redirect_stderr(io.StringIO()) as said, redirect_stdout(io.StringIO()), suppress(SystemExit):
        build_parser().parse_args(arguments)
    return said.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name: str) -> None:
    page = DOCS / name
    assert broken(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", NAMES)
def test_shown_code_is_the_code_of_its_file(name: str) -> None:
    for file, shown in _SHOWN.findall((DOCS / name).read_text(encoding="utf-8")):
        assert shown.rstrip() in (DOCS / file).read_text(encoding="utf-8"), f"{name} shows an old {file}"


@pytest.mark.parametrize("name", NAMES)
def test_every_command_line_parses(name: str) -> None:
    assert [complaint(each) for each in commands((DOCS / name).read_text(encoding="utf-8")) if complaint(each)] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_page_names_the_machine_that_it_was_written_on(name: str) -> None:
    assert not re.search(r"/(tmp|work|root)/|pypi", (DOCS / name).read_text(encoding="utf-8"))


def test_there_is_something_to_check() -> None:
    texts = {name: (DOCS / name).read_text(encoding="utf-8") for name in NAMES}
    assert sum(len(_SHOWN.findall(text)) for text in texts.values()) >= 15
    assert sum(len(commands(text)) for text in texts.values()) >= 20
    assert ["chat", "--json", "what time is it?"] in commands(texts["how-to/terminal.md"])
    assert "unrecognized" in complaint(["chat", "--nope"])
    assert broken(DOCS / "README.md", "[a](none.md) [b](how-to/gemini.md#nowhere) [c](how-to/gemini.md#the-key)") == [
        "none.md",
        "how-to/gemini.md#nowhere",
    ]


def test_the_index_names_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if name != "README.md" and f"({name})" not in index] == []
