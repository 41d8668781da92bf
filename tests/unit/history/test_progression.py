"""Orders of ids: values without repetition, apart from what the ids stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.errors import SelectionInvalid
from kesoku.history.progression import Progression

ids = st.sampled_from("abcdef")
orders = st.lists(ids, unique=True).map(tuple)


@given(st.lists(ids))
def test_an_order_holds_what_it_is_given_and_nothing_twice(given_ids: list[str]) -> None:
    repeated = {each for each in given_ids if given_ids.count(each) > 1}
    if repeated:
        with pytest.raises(SelectionInvalid) as caught:
            Progression(ids=tuple(given_ids))
        assert set(caught.value.repeated) == repeated
    else:
        assert list(Progression(ids=tuple(given_ids))) == given_ids


@given(orders, ids, ids)
def test_what_replaces_an_id_stands_at_its_index(order: tuple[str, ...], old: str, new: str) -> None:
    before = Progression(ids=order)
    if old in order and new in order and new != old:
        with pytest.raises(SelectionInvalid):
            before.replacing(old, new)
        return
    after = before.replacing(old, new)
    assert len(after) == len(before)
    assert before.ids == order
    if old in order:
        assert after.index(new) == before.index(old)
        assert [each for each in after if each != new] == [each for each in before if each != old]
    else:
        assert after == before


def test_an_id_that_does_not_stand_there_replaces_nothing() -> None:
    order = Progression(ids=("a", "b"))
    assert order.replacing("x", "y") is order
    assert order.replacing("a", "y").ids == ("y", "b")


def test_an_order_reads_like_a_sequence() -> None:
    order = Progression(ids=("a", "b", "c"))
    assert (len(order), order[0], order[-1], order[1:], order.index("c")) == (3, "a", "c", ("b", "c"), 2)
    assert "b" in order
    assert "x" not in order
    assert order == Progression(ids=("a", "b", "c"))
    assert order != Progression(ids=("a", "c", "b"))
