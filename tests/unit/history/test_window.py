"""How far back a turn looks."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.window import window


@given(st.integers(1, 5_000), st.integers(1, 1_000))
def test_at_most_so_many_records_and_hardly_fewer(n: int, records: int) -> None:
    before = n - 1 - window(n, records)
    assert min(n - 1, records - records // 4) <= before <= records


def test_it_moves_in_quarters() -> None:
    assert [window(n, 8) for n in range(1, 14)] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 4]
