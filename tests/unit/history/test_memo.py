"""What is remembered of past turns never shows in a request."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.compile import compile_turns
from kesoku.history.memo import Memo
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.record import Record
from kesoku.messages.turn import CompiledRequest, TurnRequest
from kesoku.testing.talk import Talk


def counted(calls: list[str]) -> Callable[[str, tuple[str, ...]], str]:
    def make(like: str, same: tuple[str, ...]) -> str:
        calls.append(like)
        return "".join((like, *same)).upper()

    return make


def test_a_result_is_made_once() -> None:
    calls: list[str] = []
    memo = Memo(counted(calls), limit=1000)
    assert [memo("a", ("x",)), memo("b", ("x",)), memo("a", ("x",))] == ["AX", "BX", "AX"]
    assert calls == ["a", "b"]


def test_equal_values_are_not_the_same() -> None:
    one = make.answer("one", provider="p", model="m")
    other = replace(one, content=replace(one.content, text="other"))
    memo: Memo[str, Any, Any] = Memo(lambda _, same: same[0].rendered, limit=10_000)
    assert one == other
    assert [memo("", (each,)) for each in (one, other, one)] == ["one", "other", "one"]


def test_a_value_of_the_past_is_never_taken_for_one_that_came_to_its_place_in_memory() -> None:
    memo: Memo[str, list[int], int] = Memo(lambda _, same: same[0][0], limit=100_000)
    assert [memo("", ([n],)) for n in range(1000)] == list(range(1000))


def test_the_oldest_results_go_when_there_is_no_room() -> None:
    calls: list[str] = []
    memo = Memo(counted(calls), limit=8 * len(repr(("x",))))
    for like in "abcdefghi":
        memo(like, ("x",))
    calls.clear()
    assert (memo("b", ("x",)), memo("i", ("x",)), calls) == ("BX", "IX", [])
    assert (memo("a", ("x",)), calls) == ("AX", ["a"])


def test_large_values_drive_nothing_out() -> None:
    calls: list[str] = []
    memo = Memo(counted(calls), limit=8 * len(repr(("x",))))
    memo("a", ("x",))
    assert memo("b", ("large",)) == memo("b", ("large",)) == "BLARGE"
    assert memo("a", ("x",)) == "AX"
    assert calls == ["a", "b", "b"]


def test_a_result_that_could_not_be_made_is_not_kept() -> None:
    memo: Memo[str, str, int] = Memo(lambda _, same: 1 // len(same), limit=100)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            memo("", ())


def compiled(records: list[Record], talk: Talk) -> CompiledRequest:
    return compile_turns(records, talk.steps, TurnRequest(), provider="scripted")


def unknown(records: list[Record]) -> list[Record]:
    """The same records as other values: with a fact that no request tells."""
    unseen = FrozenDict(unseen=make.notice("").id)
    return [replace(each, facts=unseen) for each in records]


def redacted(record: Record) -> Record:
    """Other words under the same id and version, as someone with an SQL shell leaves them."""
    content: Any = record.message.content
    field = {"tool_call": "tool", "tool_result": "output"}.get(record.kind, "text")
    return replace(record, message=replace(record.message, content=replace(content, **{field: "gone"})))


CHANGES: dict[str, Callable[[Record], Record]] = {
    "words": redacted,
    "version": lambda record: replace(record, message=replace(record.message, version=record.message.version + 1)),
    "waits": lambda record: replace(record, status=MessageStatus.PENDING_AGENT),
    "interrupted": lambda record: replace(record, status=MessageStatus.INTERRUPTED),
    "superseded": lambda record: replace(record, superseded_by="another"),
    "round": lambda record: replace(record, round=record.round + 1),
    "adrift": lambda record: replace(record, turn_id=None, parent_id=None),
}


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    talk = Talk(stamped=draw(st.booleans()))
    for n, (author, calls, returned) in enumerate(
        draw(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 2), st.booleans()), min_size=1, max_size=5))
    ):
        talk.prompt(f"p{n}", author=author)
        talk.round = 1
        for call in [talk.call("look", {"n": n}) for _ in range(calls)]:
            if returned:
                talk.result(call, f"r{n}")
        talk.round = 2
        talk.answer(f"a{n}")
    return talk


@given(talks(), st.sampled_from(sorted(CHANGES)), st.data())
def test_whatever_changes_in_an_old_record_shows_in_the_next_request(
    talk: Talk, change: str, data: st.DataObject
) -> None:
    # D-051
    before = compiled(talk.records, talk)
    at = data.draw(st.integers(0, len(talk.records) - 1))
    changed = [*talk.records[:at], CHANGES[change](talk.records[at]), *talk.records[at + 1 :]]
    after, anew = compiled(changed, talk), compiled(unknown(changed), talk)
    assert after == anew
    assert after.digest() == anew.digest()
    assert (after.digest() == before.digest()) == (after == before)
    again = compiled(talk.records, talk)
    assert again == before
    assert again.digest() == before.digest()


@given(talks(), st.data())
def test_a_record_that_goes_is_gone(talk: Talk, data: st.DataObject) -> None:
    compiled(talk.records, talk)
    at = data.draw(st.integers(0, len(talk.records) - 1))
    rest = talk.records[:at] + talk.records[at + 1 :]
    assert compiled(rest, talk) == compiled(unknown(rest), talk)


def test_a_late_result_a_second_author_and_another_provider_show_in_old_turns() -> None:
    talk = Talk()
    talk.prompt("one", author="Ada")
    call = talk.call("look", signature=b"s")
    talk.prompt("two", author="Ada")
    assert "has not returned" in str(compiled(talk.records, talk).turns)
    talk.result(call, "late news")
    assert "late news" in str(compiled(talk.records, talk).turns)
    assert "signature=b's'" in str(compiled(talk.records, talk).turns)
    other = compile_turns(talk.records, talk.steps, TurnRequest(), provider="other")
    assert "signature=b's'" not in str(other.turns)
    for text in ("three", "four"):
        talk.prompt(text, author="Bo")
    assert "`Bo`:\\nthree" in str(compiled(talk.records, talk).turns)
    alone = [each for each in talk.records if each.message.author == "Bo"]
    assert "`Bo`" not in str(compiled(alone, talk).turns)
