"""What a branch holds, against a plain set of places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.messages.branch import Branch, Span

WHOLE = Branch(session_id="s")
LAST = 30
"""The places that are looked at."""


def places(branch: Branch) -> set[int]:
    return {n for n in range(1, LAST + 1) if branch.covers(n)}


@st.composite
def branches(draw: st.DrawFn) -> Branch:
    """Any branch that clearing, leaving and going on make of a session, each at a later place."""
    branch = WHOLE
    for n in sorted(draw(st.sets(st.integers(0, LAST), max_size=5))):
        branch = draw(st.sampled_from([branch.ending, branch.going_on, branch.clearing, branch.restoring]))(n)
    return branch


def test_a_session_is_read_whole_until_somebody_changes_that() -> None:
    assert WHOLE.is_whole
    assert places(WHOLE) == set(range(1, LAST + 1))
    for changed in (WHOLE.clearing(0), WHOLE.without(["a"]), WHOLE.keeping("t")):
        assert changed.is_whole is (changed.spans == WHOLE.spans and not changed.forgotten and not changed.pinned)


@given(branches(), st.integers(0, LAST))
def test_what_a_branch_holds_up_to_a_place_stays(branch: Branch, n: int) -> None:
    assert places(branch.ending(n)) == {each for each in places(branch) if each <= n}
    until = {each for each in places(branch) if each <= n}
    assert places(branch.going_on(n)) == until | set(range(n + 1, LAST + 1))


@given(branches(), st.integers(0, LAST))
def test_clearing_keeps_only_what_comes_later(branch: Branch, n: int) -> None:
    assert places(branch.clearing(n)) == set(range(n + 1, LAST + 1))


@given(branches(), st.integers(0, LAST), st.integers(0, LAST))
def test_a_clearing_can_be_taken_back(branch: Branch, n: int, later: int) -> None:
    """What was said since is read, too."""
    back = branch.clearing(n).restoring(max(n, later))
    assert places(back) == {each for each in places(branch) if each <= n} | set(range(n + 1, LAST + 1))
    assert back.cleared == branch.cleared


@given(branches())
def test_spans_are_in_order_and_do_not_touch(branch: Branch) -> None:
    def ends(span: Span) -> tuple[int, float]:
        return span[0], float("inf") if span[1] is None else span[1]

    for one, other in zip(map(ends, branch.spans), map(ends, branch.spans[1:]), strict=False):
        assert one[1] + 1 < other[0]
    assert all(first <= last for first, last in map(ends, branch.spans))


@pytest.mark.parametrize("ids", [["a"], ["a", "b"]])
def test_what_is_forgotten_is_neither_kept_nor_forgotten_twice(ids: list[str]) -> None:
    branch = WHOLE.keeping("t").without(ids, turns=["t"]).without(ids)
    assert branch.forgotten == frozenset(ids)
    assert branch.pinned == ()


def test_a_turn_that_is_kept_is_kept_whole() -> None:
    branch = WHOLE.without(["a", "b"]).keeping("t", ids=["a"]).keeping("t")
    assert branch.pinned == ("t",)
    assert branch.forgotten == {"b"}
