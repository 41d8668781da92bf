"""The cursor never passes what is not handled."""

from hypothesis import given
from hypothesis import strategies as st

from kesoku_discord.inbound.watermark import Watermark
from kesoku_discord.snowflake import span


def started(seen: int = 0, **facts: float) -> Watermark:
    """One that is past its catch-up."""
    mark = Watermark(**facts)
    mark.start(seen)
    mark.release()
    return mark


def test_it_follows_what_is_done() -> None:
    """One after the other."""
    mark = started(10)
    mark.begin(11)
    assert mark.cursor() == 10
    assert mark.cursor(finishing=11) == 11
    assert mark.done(11) == 11


def test_it_waits_for_the_slowest() -> None:
    """Two channels, the later message is done first."""
    mark = started(10)
    mark.begin(11)
    mark.begin(15)
    assert mark.cursor(finishing=15) == 10
    assert mark.done(15) == 10
    assert mark.done(11) == 15


def test_what_failed_is_read_again() -> None:
    """But not for ever: beyond the horizon it would not be answered anyway."""
    mark = started(10, horizon=60.0)
    mark.begin(11)
    mark.failed(11)
    mark.begin(12)
    assert mark.done(12) == 10
    late = 12 + span(61.0)
    assert mark.done(late) == late


def test_it_stays_while_older_ones_are_read() -> None:
    """A live message that is done meanwhile does not move it."""
    mark = Watermark()
    assert mark.done(99) == 0
    mark.start(10)
    mark.begin(20)
    assert mark.done(20) == 10
    mark.release()
    assert mark.cursor() == 99


def test_it_is_due_when_it_has_moved_far() -> None:
    """So that quiet reading is stored now and then."""
    mark = started(10, every=30.0)
    mark.done(10 + span(29.0))
    assert not mark.due()
    mark.done(10 + span(30.0))
    assert mark.due()
    mark.store(mark.cursor())
    assert not mark.due()


@given(
    st.integers(0, 50),
    st.lists(st.tuples(st.sampled_from(["begin", "done", "failed"]), st.integers(1, 60)), max_size=60),
)
def test_it_never_passes_unfinished_work_and_never_goes_back_over_stored(
    seen: int, steps: list[tuple[str, int]]
) -> None:
    """In whatever order messages begin and end."""
    mark = started(seen)
    open_ids: set[int] = set()
    failed: set[int] = set()
    for step, message_id in steps:
        getattr(mark, step)(message_id)
        if step == "begin":
            open_ids.add(message_id)
        else:
            open_ids.discard(message_id)
        if step == "failed":
            failed.add(message_id)
        newer = {each for each in open_ids | failed if each > seen}
        assert seen <= mark.cursor() < min(newer, default=1_000)
        for finishing in open_ids:
            assert mark.cursor(finishing) >= mark.cursor()
            assert mark.cursor(finishing) < min(newer - ({finishing} - failed), default=1_000)


def test_what_history_tells_does_not_carry_the_cursor_beyond_the_beginning() -> None:
    """Something older in another channel may not have come yet, because the connection has broken off."""
    mark = Watermark()
    mark.start(10, newest=20)
    for message_id in (15, 30):
        mark.begin(message_id)
        mark.read(message_id)
    mark.release()
    assert mark.cursor() == 20
    assert mark.done(30) == 30
