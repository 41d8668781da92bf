"""Phased order: turns, rounds, phases (seed 004 section 5.1)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.order import phased
from kesoku.messages import make
from kesoku.messages.record import Record
from kesoku.testing.talk import Talk


def names(records: tuple[Record, ...], known: dict[str, Record]) -> list[str]:
    titles = {record.id: title for title, record in known.items()}
    return [titles[record.id] for record in records]


def two_rounds(*, stamped: bool) -> tuple[list[Record], dict[str, Record]]:
    """T1 C1 C2 R2 R1 T2 C3 R3 A, as the commits came."""
    talk = Talk(stamped=stamped)
    said = {"P": talk.prompt("go")}
    talk.round = 1
    said |= {"T1": talk.thought("one"), "C1": talk.call("a"), "C2": talk.call("b")}
    said |= {"R2": talk.result(said["C2"]), "R1": talk.result(said["C1"])}
    talk.round = 2
    said |= {"T2": talk.thought("two"), "C3": talk.call("c")}
    said |= {"R3": talk.result(said["C3"]), "A": talk.answer("done")}
    return talk.records, said


WANTED = ["P", "T1", "C1", "C2", "R1", "R2", "T2", "C3", "R3", "A"]


def test_rounds_and_phases_of_stamped_records() -> None:
    # K-172, K-173, K-174, K-178
    records, said = two_rounds(stamped=True)
    assert names(phased(records), said) == WANTED


def test_rounds_are_derived_for_rows_without_stamps() -> None:
    # K-174, K-176
    records, said = two_rounds(stamped=False)
    assert all(record.turn_id is None and record.round == 0 for record in records)
    assert names(phased(records), said) == WANTED


def test_a_late_thought_stands_before_the_calls_of_its_round() -> None:
    # K-175
    talk = Talk()
    prompt = talk.prompt("go")
    talk.round = 1
    call = talk.call("a")
    result = talk.result(call)
    thought = talk.thought("late")
    assert [each.id for each in phased(talk.records)] == [prompt.id, thought.id, call.id, result.id]


def test_turns_that_overlap_in_time_stay_apart() -> None:
    # K-176
    talk = Talk()
    first = talk.prompt("one")
    talk.round = 1
    call = talk.call("slow")
    second = talk.prompt("two")
    talk.round = 1
    other = talk.call("quick")
    other_result = talk.result(other)
    result = talk.result(call)
    order = [first.id, call.id, result.id, second.id, other.id, other_result.id]
    assert [each.id for each in phased(talk.records)] == order
    loose = [replace(each, turn_id=None, round=0) for each in talk.records]
    assert [each.id for each in phased(loose)] == order


def test_the_commit_decides_where_nothing_else_does() -> None:
    # K-177
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    thoughts = [talk.thought(str(n)) for n in range(5)]
    one_time = [replace(each, message=replace(each.message, created_at=1.0)) for each in talk.records]
    assert [each.id for each in phased(reversed(one_time))][1:] == [each.id for each in thoughts]


def test_a_steered_prompt_opens_the_round_that_read_it_first() -> None:
    talk = Talk()
    prompt = talk.prompt("go")
    talk.round = 1
    call = talk.call("a")
    steered = talk.add(make.user_prompt("also this", author="Ada"), round=2)
    result = talk.result(call)
    talk.round = 2
    thought = talk.thought("two")
    order = [prompt.id, call.id, result.id, steered.id, thought.id]
    assert [each.id for each in phased(talk.records)] == order
    unstamped = [replace(each, round=0) if each.id == steered.id else each for each in talk.records]
    assert [each.id for each in phased(unstamped)] == order


def test_a_call_that_never_returned_does_not_hold_its_round_open() -> None:
    talk = Talk(stamped=False)
    prompt = talk.prompt("go")
    lost, call = talk.call("lost"), talk.call("a")
    result = talk.result(call)
    thought = talk.thought("next")
    assert [each.id for each in phased(talk.records)] == [prompt.id, lost.id, call.id, result.id, thought.id]


def test_parents_that_form_a_circle_end() -> None:
    talk = Talk(stamped=False)
    talk.prompt("go")
    one, two = talk.thought("1"), talk.thought("2")
    circle = [replace(one, parent_id=two.id), replace(two, parent_id=one.id)]
    assert {each.id for each in phased(circle)} == {one.id, two.id}


@given(st.randoms(use_true_random=False), st.booleans())
def test_any_arrival_gives_one_order_and_loses_nothing(random, stamped) -> None:  # type: ignore[no-untyped-def]
    records, _ = two_rounds(stamped=stamped)
    shuffled = records[:]
    random.shuffle(shuffled)
    assert phased(shuffled) == phased(records)
    assert phased(phased(records)) == phased(records)
    assert {each.id for each in phased(records)} == {each.id for each in records}
