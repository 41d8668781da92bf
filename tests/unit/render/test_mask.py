"""Secrets never come through a mask."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku.render.mask import MASK, Mask

digits = st.text("01")
"""Few letters, none of them in MASK, so that secrets meet and overlap often."""


@given(digits, st.text("01", min_size=4), digits)
def test_a_known_secret_never_comes_through(before: str, secret: str, after: str) -> None:
    mask = Mask({secret})
    text = before + secret + after
    masked = mask.text(text)
    assert secret not in masked
    assert len(masked.replace(MASK, "")) == len(text) - masked.count(MASK) * len(secret)
    assert mask.value({text: [text, {"x": text}, 1, None]}) == {masked: [masked, {"x": masked}, 1, None]}


def test_the_longest_secret_is_taken_first_and_short_ones_are_none() -> None:
    assert Mask({"token", "token-long", "a", ""}).text("a token-long token") == f"a {MASK} {MASK}"
    assert Mask(()).text("untouched") == "untouched"
