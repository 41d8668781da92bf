"""Bounded tool output (decision C-33)."""

from kesoku.history.bound import bounded


def test_what_fits_is_left_as_it_is() -> None:
    value = {"rows": [1, 2, 3]}
    assert bounded(value, 100) is value
    assert bounded(None, 0) is None
    assert bounded("x" * 100, 100) == "x" * 100


def test_values_are_cut_in_their_json_form() -> None:
    cut = bounded({"rows": ["x" * 1000]}, 20)
    assert cut.startswith('{"rows": [')
    assert cut.endswith('x"]}')
