"""Bounded output and masking: pure functions, so mostly properties."""

import re

from hypothesis import given
from hypothesis import strategies as st

from kesoku.render.mask import MASK, Mask
from kesoku.tools.bound import Ends, clip

CUT = re.compile(r"\n\[\.\.\. ([\d,]+) of ([\d,]+) bytes left out here \.\.\.\]\n")


@given(st.text(), st.integers(2, 200))
def test_what_fits_is_kept_and_what_does_not_is_named(text: str, limit: int) -> None:
    clean = text.replace("\0", "\ufffd")
    size = len(clean.encode())
    clipped = clip(text, limit)
    if size <= limit // 2 * 2:
        assert clipped == clean
    else:
        cut = CUT.search(clipped)
        assert cut is not None
        assert int(cut[2].replace(",", "")) == size
        head, tail = clipped[: cut.start()], clipped[cut.end() :]
        assert clean.startswith(head)
        assert clean.endswith(tail)
        assert len(head.encode()) + len(tail.encode()) <= limit


@given(st.lists(st.binary(max_size=40)), st.integers(2, 60))
def test_the_pieces_in_which_a_stream_comes_do_not_matter(pieces: list[bytes], limit: int) -> None:
    by_piece, at_once = Ends(limit), Ends(limit)
    for piece in pieces:
        by_piece.add(piece)
    at_once.add(b"".join(pieces))
    assert by_piece.text() == at_once.text()
    assert by_piece.total == at_once.total == sum(map(len, pieces))


def test_lone_surrogates_and_nul_become_storable() -> None:
    assert clip("a\ud800b\0c") == "a?b\ufffdc"


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
