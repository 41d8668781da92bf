"""Titles of threads."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku_discord.inbound.title import LONGEST, title_of
from tests.cost import grows_in_line


def units(text: str) -> int:
    """UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How do I tune a guitar?", "How do I tune a guitar?"),
        ("<@500000000000000001> how do I tune it?\nIt is old.", "how do I tune it?"),
        ("\n\n## **Plan** for `Friday`\n- a", "Plan for Friday"),
        ("```python\nprint(1)\n```\nwhy is this slow?", "print(1)"),
        ("https://example.org/x?y=1\nlook at this", "look at this"),
        ("see [the docs](https://example.org/a_b) please", "see the docs please"),
        ("> ||spoiler|| ~~gone~~ __snake_case__", "spoiler gone snake_case"),
        ("<:kita:12345> <a:wave:1> hi <#600000000000000002> <t:1700000000:R> @everyone all", "hi all"),
        ("</stop:12345> does nothing", "does nothing"),
        ("1. first\n2. second", "first"),
        ("**what** is 6 * 7 and 2 ** 3?", "what is 6 * 7 and 2 ** 3?"),
    ],
)
def test_it_is_the_first_line_that_says_something(text: str, title: str) -> None:
    """Without markup, links and mentions."""
    assert title_of(text) == title


@pytest.mark.parametrize(
    "text", ["", "  \n ", "🎸🎸", "https://example.org", "<@500000000000000001>", "***", "\u200b\u202e"]
)
def test_where_nothing_is_said_it_names_the_person_or_the_files(text: str) -> None:
    """Never empty."""
    assert title_of(text, name="Ada") == "Conversation with Ada"
    assert title_of(text, name="Ada", files=["song.ogg", "a.png"]) == "song.ogg, a.png"
    assert title_of(text) == "Conversation with ?"


def test_a_long_line_is_cut_at_a_word() -> None:
    """Never within one, if there are words."""
    title = title_of("guitar " * 40)
    assert title == ("guitar " * 14).strip() + "…"
    assert units(title_of("x" * 500)) == LONGEST
    assert units(title_of("a" + "🎸" * 200)) <= LONGEST


def test_what_would_ping_or_steer_is_inert() -> None:
    """Control, bidi and invisible characters; markup of Discord."""
    assert title_of("a\u202eb\x1b[31mc \u2066d") == "ab [31mc d"
    assert title_of("hi", name="`x`\n@everyone") == "hi"
    assert title_of("", name="`x`\n@everyone") == "Conversation with 'x'"
    assert title_of("", files=["<@1", "b.png"]) == "1, b.png"


_HOSTILE = st.text(
    st.one_of(st.sampled_from("<@>#:*_`~|[]()/\\\n\r\t \u200b\u202e\u2066\x00a1é🎸\ud800\u200d"), st.characters()),
    max_size=200,
)


@given(_HOSTILE, _HOSTILE, st.lists(_HOSTILE, max_size=3))
def test_every_title_can_be_given_to_discord(text: str, name: str, files: list[str]) -> None:
    """One line, 1 to 100 units, valid UTF-8, no control or format characters but joiners, no mention."""
    title = title_of(text, name=name, files=files)
    assert 1 <= units(title) <= LONGEST
    assert title == title.strip()
    assert title.encode()
    assert "\n" not in title
    bad = [char for char in title if unicodedata.category(char) in {"Cc", "Cf", "Cs"} and char not in "\u200c\u200d"]
    assert bad == []
    assert "<@" not in title
    assert "@everyone" not in title


@pytest.mark.parametrize("part", ["\n", "\t\n", "[", "[a](", "`", "~", "> ", " ", "*", "@", "a://", "<@"])
def test_the_time_grows_in_line_with_the_text(part: str) -> None:
    """Everything waits while a title is made: not longer for a text that is made for it."""
    assert grows_in_line(lambda parts: title_of(part * parts), 12_500)
