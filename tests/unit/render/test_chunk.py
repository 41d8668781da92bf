"""The chunker: whatever the text, limit and unit, parts fit, nothing is lost, and what must stay whole does."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from wcwidth import iter_graphemes

from kesoku.errors import LimitTooSmall
from kesoku.render import MINIMUM_LIMIT, Part, Unit, chunk, parts, to_markdown
from kesoku.render.span import code_spans
from kesoku.render.zone import Fence, zones
from tests.cost import grows_in_line, is_within, spent

WORDS = [
    "word", "漢字", "ねこ。", "e\u0301\u0302", "👨‍👩‍👧‍👦", "🇨🇳🇯🇵", "👍🏽", "\ud83d", "\ud83d\ude00",
    "\x00", "\u200b", "`code span`", "``a ` b``", "[t](http://u.x/a)", "![i](p.png)",
    "https://example.com/a/b?c=d ", "<https://x.y|Label text> ", "[", "](", "`", "|", "**bold text**", ". ",
    "  ", "\t", "x" * 30, "漢" * 30, "\n", "\n", "\n\n", "\r\n", "\r\n\r\n", " \n",
]  # fmt: skip
FENCES = [
    "```\n",
    "```py\n",
    "```py title=x\r\n",
    "````\n",
    "~~~\n",
    "  ```js\n",
    "- ```sh\n",
    "    ```\n",
    "> ```\n",
    "> code\n",
]
TABLES = [
    "| a | b |\n|---|---|\n",
    "| x | 漢字 |\n",
    "| `y` | [t](u) |\n",
    "> | q |\n> |---|\n",
    "> | r |\n",
    "```\na | b\n--+--\n",
]
documents = st.lists(st.sampled_from(WORDS + FENCES + TABLES), max_size=60).map("".join) | st.text()
limits = st.integers(MINIMUM_LIMIT, 120)
units = st.sampled_from(Unit)


def cuts(found: list[Part]) -> set[int]:
    ends = set()
    at = 0
    for part in found[:-1]:
        at += len(part.body)
        ends.add(at)
    return ends


def open_fences(text: str) -> list[Fence]:
    return [zone for zone in zones(text) if isinstance(zone, Fence) and zone.end > len(text)]


def code_of(markdown: str) -> str:
    return "".join(token.content for token in MarkdownIt().parse(markdown) if token.type == "fence")


@given(documents, limits, units)
@example("```\n" + "x" * 90 + "\r\n\r\n```", 16, Unit.BYTES)
@example("> ~~~~~\n> " + "\ud83d\ude00" * 30, 20, Unit.UTF16)
def test_any_text_is_kept_and_fits(text: str, limit: int, unit: Unit) -> None:  # K-150
    found = list(parts(text, limit, unit))
    assert "".join(part.body for part in found) == text
    assert all(part.body for part in found)
    assert all(unit.size(part.text) <= limit for part in found)
    assert chunk(text, limit, unit) == [part.text for part in found if not part.blank]


@given(documents, limits, units)
def test_graphemes_stay_whole(text: str, limit: int, unit: Unit) -> None:
    ends = cuts(list(parts(text, limit, unit)))
    at = 0
    for grapheme in iter_graphemes(text):
        if unit.size(grapheme) <= limit // 2:  # half: the fences around may take the other
            assert not ends & set(range(at + 1, at + len(grapheme)))
        at += len(grapheme)
    assert not any(re.match("[\ud800-\udbff][\udc00-\udfff]", text[end - 1 : end + 1]) for end in ends)


@given(st.text("ab \n漢é👍🏽", max_size=80), st.text("ab \n漢é👍🏽", max_size=80), limits, units)
@pytest.mark.parametrize("whole", ["[t](http://u.x/a)", "https://u.x/a_b", "`a b. c`", "<http://u.x|a b>"])
def test_links_and_code_spans_stay_whole(whole: str, before: str, after: str, limit: int, unit: Unit) -> None:
    text = f"{before} {whole} {after}"
    start = len(before) + 1
    if unit.size(whole) <= limit:
        assert not cuts(list(parts(text, limit, unit))) & set(range(start + 1, start + len(whole)))


CODE_LINES = st.lists(
    st.sampled_from(["x = 1", "  y", "", "    ```", "``` x", "> ```", "a b c", "漢字 # 注释", "z" * 50]),
    min_size=1,
    max_size=30,
)


@given(
    CODE_LINES, st.sampled_from(["", "  ", "- ", "> "]), st.sampled_from(["```", "~~~~"]), st.integers(40, 200), units
)
def test_fences_are_closed_and_opened_again(lines: list[str], lead: str, marker: str, limit: int, unit: Unit) -> None:
    rest = lead.replace("-", " ")
    body = "".join(f"{rest}{line}\n" for line in lines)
    text = f"Before.\n\n{lead}{marker}py\n{body}{rest}{marker}\n\nAfter.\n"
    found = list(parts(text, limit, unit))
    assert not any(open_fences(part.text) for part in found)
    assert all(part.prefix.startswith(f"{rest}{marker}py\n") for part in found if part.prefix)
    if "z" * 50 not in lines:  # cut at line ends only: a reader sees the very same code
        assert "".join(code_of(part.text) for part in found) == code_of(text)


@given(st.integers(1, 60), st.integers(100, 300), units)
def test_a_table_has_its_head_in_every_part(count: int, limit: int, unit: Unit) -> None:
    head = "| Name | 名前 |\n|------|:----:|\n"
    rows = "".join(f"| row {number} | 値{number} |\n" for number in range(count))
    found = list(parts(f"Intro.\n\n{head}{rows}\nOutro.", limit, unit))
    pieces = [part for part in found if "| row" in part.body]
    assert all(f"{head}| row" in part.text for part in pieces)
    assert all(
        re.fullmatch(r"(\| .* \|\n)*", part.body.split("\n\n")[0].rstrip() + "\n") for part in pieces if part.prefix
    )


# The complaints of group B1, one by one


def test_row_1_and_8_a_long_fence() -> None:
    code = "".join(f"print({number}, 'some text to make it longer')\n" for number in range(300))
    found = chunk(f"Look:\n\n```python\n{code}```\n", 2000)
    assert len(found) > 5
    assert all(part.count("```") == 2 and "```python\n" in part and len(part) <= 2000 for part in found)
    assert "".join(code_of(part) for part in found) == code


@pytest.mark.parametrize("info", ["x" * 1995, "py " * 700, "漢" * 3000, "x" * 3000])
def test_rows_2_and_3_an_info_string_that_fills_the_limit(info: str) -> None:
    text = f"```{info}\n" + "line of code\n" * 400 + "```"
    found = list(parts(text, 2000))
    assert "".join(part.body for part in found) == text
    assert all(len(part.text) <= 2000 and not open_fences(part.text) for part in found)


@pytest.mark.parametrize("end", range(1990, 2006))
def test_row_4_the_closing_fence_has_room(end: int) -> None:
    text = "```\n" + "x" * (end - 4) + "\n```"
    found = list(parts(text, 2000))
    assert "".join(part.body for part in found) == text
    assert len(found) == (1 if len(text) <= 2000 else 2)
    assert all(len(part.text) <= 2000 and part.text.count("```") == 2 for part in found)


def test_rows_6_and_7_plain_text_over_the_limit() -> None:
    assert [len(part) for part in chunk("x" * 2001, 2000)] == [2000, 1]
    long = ("Some words. " * 400)[:4500]
    found = chunk(long, 2000)
    assert len(found) == 3
    assert "".join(found) == long


def test_row_10_a_hundred_rows() -> None:
    table = "| n | square |\n|---|---|\n" + "".join(f"| {n} | {n * n} of something or other |\n" for n in range(100))
    found = chunk(table, 1000)
    assert len(found) > 2
    assert all(part.startswith("| n | square |\n|---|---|\n| ") for part in found)


def test_row_10_a_drawn_table() -> None:
    table = "| n | square |\n|---|---|\n" + "".join(f"| {n} | {n * n} of something or other |\n" for n in range(100))
    drawn = to_markdown(table)
    head = "".join(drawn.splitlines(keepends=True)[:3])
    found = chunk(drawn, 1000)
    assert len(found) > 2
    assert head.startswith("```\nn  | square")
    assert all(part.startswith(head) and part.rstrip().endswith("```") for part in found)


def test_row_11_a_limit_in_bytes() -> None:
    found = chunk("漢" * 1000, 2048, Unit.BYTES)
    assert [len(part.encode()) for part in found] == [2046, 954]
    assert "".join(found) == "漢" * 1000


@pytest.mark.parametrize(("size", "limit", "count"), [(5000, 4096, 2), (9000, 4000, 3)])
def test_rows_12_14_15_long_answers(size: int, limit: int, count: int) -> None:
    prose = ("A sentence of words. " * 500)[:size]
    assert len(chunk(prose, limit)) == count
    code = "```py\n" + "x = 1  # a line\n" * ((size - 10) // 16) + "```"
    found = chunk(code, limit)
    assert len(found) == count
    assert sum(part.count("x = 1") for part in found) == (size - 10) // 16
    assert not any(open_fences(part) for part in found)


# Where a cut goes


def test_a_paragraph_before_a_line_before_a_sentence_before_a_word() -> None:
    assert chunk("one two aaaa\n\nthree. four", 20) == ["one two aaaa\n\n", "three. four"]
    assert chunk("one two. aaaa\nthree. four", 20) == ["one two. aaaa\n", "three. four"]
    assert chunk("one two aaaa. three. four", 20) == ["one two aaaa. ", "three. four"]
    assert chunk("one two aaaaaaaa three", 20) == ["one two aaaaaaaa ", "three"]
    assert chunk("一二三四五六七八九十十。一二三四五六七八九十", 20) == [
        "一二三四五六七八九十十。",
        "一二三四五六七八九十",
    ]


def test_a_heading_goes_with_what_follows() -> None:
    words = "some words and more words\n\n"
    assert chunk(words + "# Head\n\n" + "word " * 7, 40) == [words, "# Head\n\n" + "word " * 6, "word "]
    code = "```\nx = 1\ny = 2\n```"
    assert chunk(words + "**Head**\n\n" + code, 40) == [words, "**Head**\n\n" + code]


def test_a_boundary_far_from_the_limit_is_left_for_a_finer_one() -> None:
    assert chunk("a\n\nbbb ccc ddd eee fff ggg", 20) == ["a\n\nbbb ccc ddd eee ", "fff ggg"]


def test_a_fence_that_fits_in_one_part_is_not_cut() -> None:
    code = "```py\nx = 1\ny = 2\n```\n"
    assert chunk("Some words before it.\n\n" + code, 30) == ["Some words before it.\n\n", code]


def test_an_open_fence_is_closed_at_the_end() -> None:
    assert chunk("```py\nx = 1", 50) == ["```py\nx = 1\n```"]


def test_back_ticks_from_the_middle_of_a_line_never_begin_a_part() -> None:
    assert chunk("some words and then ```x``` here", 20) == ["some words and ", "then ```x``` here"]


def test_a_surrogate_pair_is_not_halved() -> None:
    for before in range(12, 20):
        for after in ("", "x", "\u0301", "\n"):
            found = parts("x" * before + "\ud83d\ude00" * 8 + after, 16)
            assert not any(part.body.startswith("\ude00") for part in found)


def test_a_long_line_of_quoted_code_stays_in_its_quote() -> None:
    found = chunk("> ```\n> " + "x" * 40 + "\n> ```\n", 40)
    assert found == ["> ```\n> " + "x" * 26 + "\n> ```", "> ```\n> " + "x" * 14 + "\n> ```\n"]


def test_something_whole_that_is_too_long_is_cut_between_the_whole_things_in_it() -> None:
    link = "[t](http://u.x)"
    assert chunk(f"`{link} {link} {link}`", 36) == [f"`{link} {link} ", f"{link}`"]


def test_blank_lines_before_a_closing_fence_do_not_make_a_block_of_their_own() -> None:
    assert chunk("```\none = 1\ntwo = 2\n\n\n\n\n```", 24) == ["```\none = 1\n```", "```\ntwo = 2\n\n\n\n\n```"]


def test_code_spans_end_at_the_next_run_of_the_same_length() -> None:
    text = "a `b` c ``d ` e`` f ``` `g` `h"
    assert [text[start:end] for start, end in code_spans(text, 0, len(text))] == ["`b`", "``d ` e``", "`g`"]


def test_what_closes_a_fence() -> None:
    lines = ["- ```py", "  > ```", "  - ```", "  ``` x", "  ~~~", "      ```", "```", "after"]
    (fence,) = (zone for zone in zones("\n".join(lines)) if isinstance(zone, Fence))
    text = "\n".join(lines)
    assert text[fence.body : fence.last] == "\n".join(lines[1:6]) + "\n"
    assert text[fence.end :] == "\nafter"
    assert fence.lead == "  "


def test_inline_code_in_three_back_ticks_opens_no_fence() -> None:
    assert zones("```x``` is code\ny\n") == []


def test_the_end_of_a_quote_ends_its_fence() -> None:
    text = "> ```\n> x\ny\n```\nz\n```\n"
    first, second = zones(text)
    assert isinstance(first, Fence)
    assert text[first.start : first.end] == "> ```\n> x\n"
    assert text[second.start : second.end] == "```\nz\n```"


def test_blank_parts_are_not_sent() -> None:
    assert chunk("\n" * 100, 16) == []
    assert chunk("a" + "\n" * 100, 16) == ["a" + "\n" * 15]


def test_a_limit_without_room_is_refused_at_once() -> None:
    with pytest.raises(LimitTooSmall, match="a limit of 15 bytes is too small"):
        parts("x", 15, Unit.BYTES)


@pytest.mark.figure
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "text",
    [
        "`" * 25_000, "```\n" * 12_000, "> ```\n" * 7_000, "[" * 25_000, "[a](" * 12_000, "x" * 50_000, " " * 50_000,
        "a" + "\u0301" * 50_000, "|---|---|\n" * 5_000, "- " * 25_000, " \u0301" * 15_000, '[a](b "' * 7_000,
        " " * 25_000 + "```\n" + "```x\n" * 5_000, ">" * 25_000 + "```\n" + "> ```\n" * 4_000, "🇨🇳" * 12_000,
    ],
)  # fmt: skip
def test_time_grows_in_line_with_the_text(text: str) -> None:
    assert grows_in_line(lambda times: list(parts(text * times, 2000, Unit.UTF16)), 1)


@pytest.mark.figure
def test_a_megabyte_takes_less_than_a_tenth_of_a_second() -> None:
    """On a machine that runs a million rounds of a loop in that time; others are measured by the loop."""
    guide = (Path(__file__).parent / "golden" / "guide.md").read_text("utf-8")
    text = guide * (1_000_000 // len(guide) + 1)
    limit = max(0.1, min(spent(million_rounds) for _ in range(3)))
    assert is_within(limit, lambda: spent(lambda: list(parts(text, 2000, Unit.CHARACTERS))))


def million_rounds() -> int:
    total = 0
    for number in range(1_000_000):
        total += number * number % 7
    return total


def test_a_rich_document_at_2000_characters() -> None:
    golden = Path(__file__).parent / "golden"
    source = (golden / "guide.md").read_text("utf-8")
    found = list(parts(source, 2000))
    assert "".join(part.body for part in found) == source
    assert "\n=== next part ===\n".join(part.text for part in found) == (golden / "guide.parts.md").read_text("utf-8")
