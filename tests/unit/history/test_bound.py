"""Bounded tool output (decision C-33)."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.bound import bounded, clip


@given(st.text(), st.integers(0, 60))
def test_the_ends_are_kept_and_the_cut_is_named(text: str, limit: int) -> None:
    cut = clip(text, limit)
    size = len(text.encode())
    if size <= limit:
        assert cut == text
        return
    head, middle, tail = cut.partition(f"\n[... {size - 2 * (limit // 2):,} of {size:,} bytes are left out here ...]\n")
    assert middle
    assert len((head + tail).encode()) <= limit
    assert text.startswith(head)
    assert text.endswith(tail)


def test_what_fits_is_left_as_it_is() -> None:
    value = {"rows": [1, 2, 3]}
    assert bounded(value, 100) is value
    assert bounded(None, 0) is None
    assert bounded("x" * 100, 100) == "x" * 100


def test_values_are_cut_in_their_json_form() -> None:
    cut = bounded({"rows": ["x" * 1000]}, 20)
    assert cut.startswith('{"rows": [')
    assert cut.endswith('x"]}')


def test_lone_surrogates_do_not_stop_a_cut() -> None:
    assert "left out" in clip("\ud800" * 100, 10)
