"""Taking Markdown apart and putting it together again."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.render import Alignment, Code, File, Question, Segment, Table, Text, Voice, parse, unparse

LINES = [
    "# Title\n", "para **bold** text\n", "\n", "\n\n", "- item\n", "  - nested\n", "1. one\n", "> quote\n",
    "    indented\n", "```\n", "```py\n", "````\n", "~~~ sh x\n", "  ```\n", "   ```js\n", "> ```\n", "- ```\n",
    "| a | b |\n", "|---|:-:|\n", "| `x|y` | z \\| w |\n", "[file: a.txt]\n", "  [file: b c.txt]\n",
    "![cap](p.png)\n", "![r](https://x/y.png)\n", "[voice: v.ogg]\n", "[question: What? | A | B]\n",
    "- [file: no]\n", "> [file: no]\n", "<div>\n", "<!--\n", "-->\n", "---\n", "===\n", "`code\nspan`\n",
    "text [l](http://u.x/a_b_)\n", "\r\n", "\r", "\ttab\n", "[ref]: http://x\n", "&amp;\n", "🎉漢字\n",
    "\ud800\n", "\x00\n", "\u2028", "*", "`", "[", "]", "(", ")", "<", ">", "|", "\\", "!", "~", "word ",
]  # fmt: skip
documents = st.lists(st.sampled_from(LINES), max_size=14).map("".join) | st.text(max_size=60)

line = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
marks = st.text("a|\\]", min_size=1, max_size=5)
prose = st.lists(line.filter(str.isalnum), min_size=1, max_size=3).map(" ".join)
codes = st.builds(
    Code, text=st.lists(line | st.just("```"), max_size=4).map("\n".join), language=st.sampled_from(["", "py", "c++"])
)
tables = st.integers(1, 4).flatmap(
    lambda columns: st.builds(
        Table,
        header=st.tuples(*[prose] * columns),
        rows=st.lists(st.tuples(*[prose | st.just("`a|b`")] * columns), max_size=3).map(tuple),
        alignments=st.tuples(*[st.sampled_from(Alignment)] * columns),
    )
)
paths = line.filter(lambda text: not re.match(r'[<"]|.*[>"]$|[a-z][a-z0-9+.-]+:|//', text, re.IGNORECASE))
segments: st.SearchStrategy[Segment] = st.one_of(
    codes,
    tables,
    st.builds(File, path=paths, caption=line | marks | st.just("")),
    st.builds(Voice, path=line),
    st.builds(Question, text=line | marks, choices=st.lists(line | marks, max_size=3).map(tuple)),
)


@given(documents)
def test_what_parse_gives_survives_unparse(markdown: str) -> None:
    found = parse(markdown)
    assert parse(unparse(found)) == found


@given(st.lists(segments, max_size=4))
def test_segments_survive_unparse(given_segments: list[Segment]) -> None:
    assert list(parse(unparse(given_segments))) == given_segments


@given(documents)
def test_no_word_is_lost(markdown: str) -> None:
    left = iter(re.findall(r"[A-Za-z]+", unparse(parse(markdown))))
    assert all(word in left for word in re.findall(r"[A-Za-z]+", markdown))


def test_a_whole_reply() -> None:
    reply = (
        "Here you *are*:\r\n[file: out/my report.pdf]\r\n![A plot](plots/a.png)\r\n[voice: hello.ogg]\r\n\r\n"
        "```python title=x\r\nprint(1)\r\n```\r\n| a | b |\r\n|:-:|--:|\r\n| 1 | `x|y` |\r\n\r\n"
        "[question: Send it? | Yes | No]"
    )
    assert parse(reply) == (
        Text(markdown="Here you *are*:"),
        File(path="out/my report.pdf"),
        File(path="plots/a.png", caption="A plot"),
        Voice(path="hello.ogg"),
        Code(text="print(1)", language="python", extra="title=x"),
        Table(header=("a", "b"), rows=(("1", "`x|y`"),), alignments=(Alignment.CENTER, Alignment.RIGHT)),
        Question(text="Send it?", choices=("Yes", "No")),
    )


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        ("```\n[file: a]\n```", "[file: a]"),
        ("```\n[file: a]", "[file: a]"),
        ("````\n```\n[file: a]\n```\n````", "```\n[file: a]\n```"),
        ("~~~\n```\n[file: a]\n~~~", "```\n[file: a]"),
        ("   ```\n   [file: a]\n   ```", "[file: a]"),
        ("```\r\n[file: a]\r\n```\r\n", "[file: a]"),
        ("```\n[file: a]\n    ```\n[file: b]\n```", "[file: a]\n    ```\n[file: b]"),
    ],
)
def test_directives_in_a_fence_are_code(markdown: str, code: str) -> None:
    assert parse(markdown) == (Code(text=code),)


@pytest.mark.parametrize(
    "markdown",
    [
        "- item\n  ```\n  [file: a]\n  ```",
        "1.  item\n\n    ```\n    [file: a]\n    ```",
        "> ```\n> [file: a]\n> ```",
        "> [file: a]",
        "- [file: a]",
        "    [file: a]",
        "see [file: a] there",
        "[file: ]",
        "![remote](https://example.com/a.png)",
        "![data](data:image/png;base64,AAAA)",
        "<!--\n[file: a]\n-->",
    ],
)
def test_what_is_no_directive(markdown: str) -> None:
    assert parse(markdown) == (Text(markdown=markdown),)


def test_a_directive_in_a_list_item_counts() -> None:
    assert parse("1. Done:\n   [file: a.txt]\n2. Next") == (
        Text(markdown="1. Done:"),
        File(path="a.txt"),
        Text(markdown="2. Next"),
    )


def test_every_form_of_an_image_is_read() -> None:
    assert parse("![a](<my plot.png>)") == (File(path="my plot.png", caption="a"),)
    assert parse('![a](p.png "Title")') == (File(path="p.png", caption="a Title"),)
    assert parse("![](C:\\p.png)") == (File(path="C:\\p.png"),)


def test_a_row_with_too_many_cells_loses_nothing() -> None:
    (table,) = parse("| a | b |\n|---|---|\n| `x|y` | z |\n| 1 | 2 | 3 |")
    assert isinstance(table, Table)
    assert table.rows == (("`x|y`", "z"), ("1", "2 | 3"))


def test_nothing_in_nothing_out() -> None:
    assert parse("") == parse(" \n\n ") == ()
    assert unparse(()) == ""


@pytest.mark.figure
def test_what_stands_inside_of_a_block_costs_nothing() -> None:
    """A megabyte of opening brackets kept a core busy for twelve seconds, though only blocks are asked for."""

    def seconds(text: str) -> float:
        start = time.thread_time()
        parse(text)
        return time.thread_time() - start

    assert min(seconds("[" * 10_000) for _ in range(3)) < 0.02
