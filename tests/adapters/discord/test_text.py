"""What text may hold, how it is cut, and what nobody sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku_discord.drawing.text import cut, is_blank, sayable, size

ANY = st.text(st.one_of(st.sampled_from("a .\n🎸\u200d👩é\u0301漢\0\ud800\udc00\u200b"), st.characters()), max_size=300)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain\ttext\n", "plain\ttext\n"), ("漢字 🎸", "漢字 🎸"), ("a\0b", "a\ufffdb"), ("a\ud800b", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"), ("\ud83c\udfb8", "🎸"), ("\x1b[31m\u202e", "\x1b[31m\u202e"),
    ],
)  # fmt: skip
def test_what_no_json_is_made_of_is_replaced(text: str, said: str) -> None:
    assert sayable(text) == said


def test_a_text_is_cut_between_words_else_between_graphemes() -> None:
    assert cut("just as long", 12) == "just as long"
    assert cut("some words more than fit", 20) == "some words more…"
    assert cut("👩‍👧" * 9, 20) == "👩‍👧" * 3 + "…"


@given(ANY, st.integers(17, 120))
def test_what_is_cut_fits_and_can_be_sent(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert size(shown) <= limit
    assert sayable(shown) == shown
    assert shown == sayable(text) or shown.endswith("…")


@pytest.mark.parametrize(
    "text", ["", " \n\t\u3000\u00a0", "\u200b\u2060\ufeff", "\u3164", "\u2800\ufe0f", "\u202e\u200f"]
)
def test_what_nobody_sees_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}x")
