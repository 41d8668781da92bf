"""What is too long keeps its ends, and says what is missing between them."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku.render.ends import Ends, clip, gap


@given(st.text(), st.integers(0, 200))
def test_what_fits_is_kept_and_what_does_not_is_named(text: str, limit: int) -> None:
    clipped, size = clip(text, limit), len(text.encode())
    if size <= limit:
        assert clipped is text
        return
    head, middle, tail = clipped.partition(gap(size - limit // 2 * 2, size))
    assert middle
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len((head + tail).encode()) <= limit


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60))
def test_the_pieces_in_which_a_stream_comes_do_not_matter(pieces: list[bytes], limit: int) -> None:
    by_piece, at_once = Ends(limit), Ends(limit)
    for piece in pieces:
        by_piece.add(piece)
    at_once.add(b"".join(pieces))
    assert by_piece.text() == at_once.text()
    assert by_piece.total == at_once.total == sum(map(len, pieces))


def test_lone_surrogates_do_not_stop_a_cut() -> None:
    assert "left out" in clip("\ud800" * 100, 10)
