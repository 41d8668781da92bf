"""How long a hook waits for its next attempt."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku.hooks.filter import Filter
from kesoku.hooks.hook import LONGEST_PAUSE, EventHook

from .conftest import RecordingTarget


def hook(attempts: int = 8, first_pause: float = 5.0) -> EventHook:
    wants = Filter(events=["answer"])
    return EventHook(name="x", wants=wants, target=RecordingTarget(), attempts=attempts, first_pause=first_pause)


def test_each_pause_is_twice_as_long_as_the_one_before() -> None:
    assert [hook().pause(number) for number in range(1, 9)] == [5, 10, 20, 40, 80, 160, 320, None]


def test_a_receiver_may_ask_for_more_and_not_for_less() -> None:
    assert [hook().pause(1, wanted=wanted) for wanted in (60.0, 1.0, -3.0)] == [60, 5, 5]


@given(st.integers(1, 10_000), st.floats(1, 3600), st.none() | st.floats(0, 1e12))
def test_no_pause_is_longer_than_an_hour_or_shorter_than_the_first(
    number: int, first: float, wanted: float | None
) -> None:
    pause = hook(attempts=100_000, first_pause=first).pause(number, wanted=wanted)
    assert pause is not None
    assert min(first, LONGEST_PAUSE) <= pause <= LONGEST_PAUSE
