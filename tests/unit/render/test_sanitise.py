"""What could steer a terminal or fake a line becomes visible."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import width

from kesoku.render import printable_name, visible

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text() | st.text(st.sampled_from("\x00\x1b\x07\r\n\t\x7f\x9b\u202e\u2066\ud800a漢")))
def test_nothing_is_left_that_steers(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t" for char in shown)
    assert not set(shown) & set(BIDI)
    assert visible(shown) == shown
    shown.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["C"])))
def test_harmless_text_is_unchanged(text: str) -> None:
    assert visible(text + "\n\t") == text + "\n\t"


def test_what_steers_is_shown_as_a_mark() -> None:
    assert visible("\x1b[2J\x00\x7f\x9b\u202e\ud83d") == "␛[2J␀␡<U+009B><U+202E><U+D83D>"
    assert visible("a\r\nb\rc") == "a\nb␍c"


@given(st.text(), st.integers(1, 40))
def test_a_name_is_one_short_line(text: str, limit: int) -> None:
    name = printable_name(text, limit)
    assert name
    assert len(name.splitlines()) == 1
    assert width(name) <= limit
    assert name == name.strip()
    assert "`" not in name
