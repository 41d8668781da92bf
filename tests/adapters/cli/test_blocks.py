"""Cutting a growing Markdown text: nothing lost, nothing doubled, and each piece renders alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku_cli.blocks import LONG, LONG_LINE, LONG_TABLE, Block, Blocks
from kesoku_cli.markdown import parser
from kesoku_cli.stream import AnswerStream

SNIPPETS = st.sampled_from(
    [
        "# heading\n", "words and *words*\n", "\n", "\n\n", "- item\n", "  more of it\n", "1. one\n", "    indented\n",
        "```py\n", "code\n", "```\n", "~~~\n", "````\n", "| a | b |\n", "|---|---|\n", "| c | d |\n", "> quote\n",
        "---\n", "===\n", "[a]: http://b\n", "<div>\n", "\r", "\r\n", "\x00", "\u2028", "\x0b", "表 🌸\n",
        "   ```\n", "* * *\n",
    ]
)  # fmt: skip
MARKDOWN = st.lists(SNIPPETS | st.text(max_size=12), max_size=60).map("".join)
LONG_MARKDOWN = st.lists(st.tuples(SNIPPETS, st.integers(1, 60)), max_size=12).map(
    lambda runs: "".join(text * count for text, count in runs)
)


def cut(text: str, sizes: list[int]) -> tuple[list[Block], Block]:
    """Feed the text in pieces of these sizes, in turn."""
    blocks, done, at, step = Blocks(), [], 0, 0
    while at < len(text):
        size = sizes[step % len(sizes)]
        done += blocks.feed(text[at : at + size])
        at, step = at + size, step + 1
    return done, blocks.rest()


SIZES = st.lists(st.integers(1, 200), min_size=1, max_size=5)


@given(MARKDOWN | LONG_MARKDOWN, SIZES)
def test_the_blocks_and_the_tail_are_the_text(text: str, sizes: list[int]) -> None:
    blocks, tail = cut(text, sizes)
    assert "".join(block.text for block in blocks) + tail.text == text
    assert all(block.text for block in blocks)


@given(LONG_MARKDOWN, SIZES)
def test_no_block_grows_without_bound(text: str, sizes: list[int]) -> None:
    blocks, size = Blocks(), sizes[0] + 20
    for start in range(0, len(text), size):
        blocks.feed(text[start : start + size])
        assert blocks.tail.text.count("\n") <= LONG_TABLE
        assert len(blocks.tail.text.rpartition("\n")[2]) <= LONG_LINE


@given(MARKDOWN)
def test_a_block_is_drawn_alone_as_within_the_whole(text: str) -> None:
    """The kinds of the outermost blocks are those of the whole text, as long as nothing had to be cut."""
    text = text.replace("\r", "").replace("[", "")
    blocks, tail = cut(text, [7])
    whole = [token.type for token in parser().parse(text) if token.level == 0 and token.nesting >= 0]
    pieces = [
        token.type
        for block in [*blocks, tail]
        for token in parser().parse(block.markdown)
        if token.level == 0 and token.nesting >= 0
    ]
    assert pieces == whole


@given(st.integers(LONG, 5 * LONG), SIZES)
def test_long_code_is_cut_at_whole_lines_and_opened_anew(count: int, sizes: list[int]) -> None:
    code = [f"line {number}" for number in range(count)]
    blocks, tail = cut("```python\n" + "\n".join(code) + "\n```\nafter\n", sizes)
    fences = [token for block in [*blocks, tail] for token in parser().parse(block.markdown) if token.type == "fence"]
    assert "".join(token.content for token in fences).split("\n")[:-1] == code
    assert {token.info for token in fences} == {"python"}
    assert tail.text == "after\n"
    assert not tail.joined
    assert [block.joined for block in blocks] == [False] + [True] * (len(blocks) - 1)


def test_code_streams_before_it_ends() -> None:
    blocks = Blocks()
    done = [block for number in range(500) for block in blocks.feed(f"line {number}\n" if number else "```\n")]
    assert len(done) > 500 // (LONG + 1) - 2


def test_a_long_list_is_cut_between_items() -> None:
    source = "".join(f"{number}. item\n   with more\n" for number in range(1, 100))
    blocks, tail = cut(source, [11])
    assert len(blocks) > 2
    assert all(re.match(r"\d+\. item\n", block.markdown) for block in [*blocks, tail])


@pytest.mark.no_cover
def test_a_long_table_keeps_its_head() -> None:
    head = "| a | b |\n|---|---|\n"
    blocks, tail = cut(head + "| c | d |\n" * 450, [40])
    assert [block.text.count("\n") for block in blocks] == [LONG_TABLE + 4] * 2
    assert all(block.markdown.startswith(head) for block in [*blocks, tail])


def test_a_heading_right_after_a_cut_table_is_no_row_of_it() -> None:
    blocks, tail = cut("| a |\n|---|\n" + "| c |\n" * 199 + "# next\n", [1000, 1])
    assert tail.markdown == "# next\n"
    assert all(block.text for block in blocks)


@given(st.text(st.sampled_from("ab \n#*`"), max_size=200), SIZES, st.data())
def test_a_whole_text_completes_its_deltas(text: str, sizes: list[int], data: st.DataObject) -> None:
    """However much arrived by deltas, together with what `settle` returns it is the text."""
    stream, shown, at = AnswerStream(), [], 0
    stop = data.draw(st.integers(0, len(text)))
    while at < stop:
        size = sizes[at % len(sizes)]
        shown += stream.feed(text[at : min(at + size, stop)])
        at += size
    settled = stream.settle(text)
    assert not settled.corrected
    assert "".join(block.text for block in (*shown, *settled.blocks)).split() == text.split()


def test_another_text_is_shown_whole() -> None:
    stream = AnswerStream()
    assert [block.text for block in stream.feed("one\n\ntwo\n\nthree\n")] == ["one\n\n", "two\n\n"]
    settled = stream.settle("uno\n\ndos")
    assert settled.corrected
    assert "".join(block.text for block in settled.blocks) == "uno\n\ndos"


def test_another_tail_is_no_correction() -> None:
    stream = AnswerStream()
    shown = stream.feed("one\n\ntwo\nthr")
    settled = stream.settle("one\n\ntwo, but different")
    assert [block.text for block in shown] == ["one\n\n"]
    assert not settled.corrected
    assert [block.text for block in settled.blocks] == ["two, but different"]


def test_an_ended_stream_starts_anew() -> None:
    stream = AnswerStream()
    stream.feed("one\n\ntwo\n\n")
    stream.settle("one\n\ntwo")
    assert stream.text == ""
    assert not stream.settle("three").corrected
