"""What is kept of a session's settled turns never shows in a request."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.errors import SelectionInvalid
from kesoku.history.block import OMITTED, Style
from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.history.prefix import NOTHING, Prefix, PrefixCache
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.record import Record
from kesoku.messages.turn import CompiledRequest, TurnRequest
from kesoku.testing.random_talk import MISHAPS, RandomTalk
from kesoku.testing.talk import Talk


def compiled(records: list[Record], talk: Talk) -> CompiledRequest:
    return compile_turns(records, talk.steps, TurnRequest(), provider="scripted")


def unknown(records: list[Record]) -> list[Record]:
    """The same records as other values, of a session that nobody has seen: facts that no request tells."""
    unseen = make.notice("").id
    return [replace(each, session_id=unseen, facts=FrozenDict(unseen=unseen)) for each in records]


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


def interleaved(random: Random, records: list[Record]) -> list[Record]:
    """The records as they come when people ask while a turn runs: prompts stand before the end of the turn before."""
    seqs = {each.id: 10 * number for number, each in enumerate(records)}
    for each in records:
        if each.id == each.turn_id and random.randrange(2):
            seqs[each.id] -= random.choice((15, 25, 45))
    return [replace(each, seq=seqs[each.id]) for each in records]


@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_a_session_that_grows_is_compiled_as_if_for_the_first_time(seed: int) -> None:
    # D-X12
    random_talk, random = RandomTalk(seed), Random(seed)
    limits: Any = random.choice((None, CompileLimits(tokens=random.choice((0, 10, 200, 2_000)), tool_output=50)))
    queued = random.randrange(2)

    def ask(**choice: Any) -> None:
        records = interleaved(Random(seed), random_talk.records) if queued else list(random_talk.records)
        chosen = {"limits": limits, "provider": "gemini", **choice}
        try:
            cold: Any = compile_turns(unknown(records), random_talk.steps, TurnRequest(), **chosen)
        except SelectionInvalid as error:
            cold = str(error)
        try:
            warm: Any = compile_turns(records, random_talk.steps, TurnRequest(), **chosen)
        except SelectionInvalid as error:
            warm = str(error)
        assert warm == cold
        assert isinstance(warm, str) or warm.digest() == cold.digest()

    for _ in range(random.randrange(2, 7)):
        for _ in random_talk.turn():
            ask(active_turn=random_talk.talk.turn)
            if random.randrange(6) == 0:
                break
        ask()
        if random.randrange(4) == 0:
            ask(**random_talk.choice())
        if random.randrange(4) == 0:
            random_talk.talk.records = random.choice(MISHAPS)(random, list(random_talk.records))


def test_the_files_of_turns_that_nobody_answered_stay_until_somebody_does() -> None:
    # K-184
    talk, file = Talk(), Attachment(name="a.png", path="/staging/a.png", mime_type="image/png")
    talk.prompt("answered")
    talk.answer("yes")
    talk.prompt("look", files=(file,), status=MessageStatus.INTERRUPTED)
    talk.prompt("look again", files=(file,), status=MessageStatus.INTERRUPTED)
    for ends in (MessageStatus.INTERRUPTED, MessageStatus.PROCESSED, MessageStatus.PROCESSED):
        talk.prompt("what is it?", status=MessageStatus.PROCESSING)
        request = compiled(talk.records, talk)
        assert request == compiled(unknown(talk.records), talk)
        talk.records[-1] = replace(talk.records[-1], status=ends)
        talk.answer("a cat")
    assert "media" not in str(request.turns).lower()


def test_the_first_master_prompt_counts() -> None:
    # K-218
    talk = Talk()
    for n in range(4):
        talk.opens(make.system_prompt(f"be kind {n}"), status=MessageStatus.RESPONDED)
        talk.prompt(f"p{n}")
        talk.answer(f"a{n}")
        assert compiled(talk.records, talk).system == "be kind 0"


def test_what_nobody_answered_may_be_left_out_too() -> None:
    talk = Talk()
    for n in range(3):
        talk.prompt(f"p{n}" * 100, status=MessageStatus.INTERRUPTED)
    request = compile_turns(talk.records, (), TurnRequest(), limits=CompileLimits(tokens=200))
    assert OMITTED in str(request.turns[0])


def test_a_turn_may_lose_the_prompt_by_which_it_had_its_place() -> None:
    talk = Talk()
    talk.prompt("one")
    early = talk.add(make.nudge(), turn="lost")
    talk.prompt("two")
    talk.answer("yes")
    lost = replace(talk.prompt("lost"), turn_id="lost", message=replace(talk.records[-1].message, id="lost"))
    records = [*talk.records[:-1], lost]
    assert early.seq < lost.seq
    for seen in (records, records[:-1]):
        assert compiled(seen, talk) == compiled(unknown(seen), talk)


def test_only_what_is_new_is_written_down() -> None:
    talk = Talk()
    for n in range(20):
        talk.prompt(f"p{n}")
        talk.answer(f"a{n}")
    first = compiled(talk.records, talk)
    talk.prompt("next")
    second = compiled(talk.records, talk)
    assert all(one is other for one, other in zip(first.turns[:-2], second.turns, strict=False))


def test_the_longest_unused_beginning_goes_first() -> None:
    talks = [Talk() for _ in range(3)]
    style = Style(provider=None, tool_output=1)
    sessions = [tuple(unknown([talk.prompt("hello")])) for talk in talks]
    prefixes = PrefixCache(room=1_100)  # a record takes 500

    def keep(session: tuple[Record, ...]) -> None:
        prefixes.put(session, style, Prefix(span=session))

    for session in (*sessions[:2], sessions[0], sessions[2]):
        keep(session)
    assert [prefixes.get(session, style) is NOTHING for session in sessions] == [False, True, False]
