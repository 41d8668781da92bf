"""A history is one more way into the one compiler: it says the same, and a selection costs what the selection costs."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.errors import SelectionInvalid
from kesoku.history.compile import compile_turns
from kesoku.history.history import History
from kesoku.history.order import phased, placed
from kesoku.history.placements import Placements
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.messages.source import RelaySource
from kesoku.messages.turn import ResultBlock, TurnRequest
from kesoku.testing.grammar import violations
from kesoku.testing.random_talk import RandomTalk
from kesoku.testing.talk import Talk
from tests.unit.history.reading import blocks, script

REQUEST = TurnRequest(system="be kind")


def unique(records: list[Record]) -> list[Record]:
    return list({each.id: each for each in records}.values())


def talk(turns: int = 2) -> Talk:
    """Turns with a call each."""
    written = Talk()
    for n in range(turns):
        written.prompt(f"ask {n}")
        written.round = 1
        written.result(written.call("look"), f"saw {n}")
        written.answer(f"said {n}")
    return written


def ids(records: list[Record]) -> list[str]:
    return [each.id for each in records]


@settings(max_examples=100)
@given(st.integers(0, 10**9))
def test_a_stored_session_is_compiled_as_its_records_are(seed: int) -> None:
    random = RandomTalk(seed)
    random.grow()
    records = unique(random.records)
    choice = random.choice()
    known = {each.id for each in records}
    if "selection" in choice:
        choice["selection"] = [each for each in choice["selection"] if each in known]
    request = History.of(records).compile(random.steps, REQUEST, provider="gemini", **choice)
    assert request.digest() == compile_turns(records, random.steps, REQUEST, provider="gemini", **choice).digest()


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_records_that_come_one_by_one_are_compiled_like_those_that_come_at_once(seed: int) -> None:
    random = RandomTalk(seed)
    random.grow()
    records = unique(random.records)
    history, selection = History(), random.random.sample(ids(records), len(records) // 2)
    random.random.shuffle(records)
    for each in records:
        history.include(each)
    for chosen in (None, selection):
        at_once = compile_turns(records, random.steps, REQUEST, selection=chosen)
        assert history.compile(random.steps, REQUEST, selection=chosen).digest() == at_once.digest()


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_a_stored_session_stands_in_phased_order(seed: int) -> None:
    random = RandomTalk(seed)
    random.grow()
    records = unique(random.records)
    history = History.of(records)
    assert [each.id for each in history] == [each.id for each in phased(records)]
    assert history.system is None


def test_a_selection_is_read_as_it_is() -> None:
    written = talk()
    history = History.of(written.records)
    later, earlier = (each.id for each in reversed(history.instructions))
    history.select([later, earlier])
    assert script(history.compile()) == [("user", "ask 1\n\nask 0")]
    assert script(history.compile(selection=[earlier])) == [("user", "ask 0")]
    assert script(history.compile(selection=[])) == []
    with pytest.raises(SelectionInvalid, match="gone"):
        history.compile(selection=[earlier, "gone"])


def test_a_pair_that_a_selection_tears_is_not_read() -> None:
    history = History.of(talk().records)
    asked, called, result = history.instructions[0], history.action_requests[0], history.action_responses[0]
    assert blocks(history.compile(selection=[asked.id, called.id]), ResultBlock) == []
    whole = history.compile(selection=[asked.id, called.id, result.id])
    assert [each.output for each in blocks(whole, ResultBlock)] == ["saw 0"]


def test_the_system_prompt_of_a_history_is_that_of_its_requests() -> None:
    history = History([make.user_prompt("ask", author="Ada")], system=make.system_prompt("be brief"))
    assert history.compile().system == "be brief"
    assert history.compile(selection=[history.instructions[0].id]).system == "be brief"
    assert history.compile((), REQUEST).system == "be kind"
    history.set_system(make.system_prompt("be long"))
    assert history.compile().system == "be long"


def test_a_compacted_history_reads_its_summary_first_and_can_be_taken_back() -> None:
    history = History.of(talk(3).records)
    history.set_system(make.system_prompt("be brief"))
    *covered, asked, called, result, answered = (each.id for each in history if each is not history.system)
    summary = history.add(message=make.summary("they asked twice", covered=covered))
    tail = [asked, called, result, answered]
    history.name_progression("compacted", [history.progression[0], summary.id, *tail])
    history.select("compacted")
    assert script(history.compile())[0] == ("user", "they asked twice\n\nask 2")
    assert history.compile().system == "be brief"
    history.select("main")
    assert script(history.compile())[0] == ("user", "ask 0")


def test_messages_that_were_never_stored_are_compiled_in_their_order() -> None:
    history = History(system=make.system_prompt("be brief"))
    history.add(instruction="ask", author="Ada")
    called = history.add(action_request="look")
    history.respond(called.id, "saw")
    history.add(assistant_response="said")
    history.add(message=make.notice("a line for people"))
    history.add(message=make.wakeup("job-1", "done"))
    history.add(assistant_response="well")
    history.add(instruction="more", author="Ada")
    request = history.compile()
    assert violations(request) == []
    assert [role for role, _ in script(request)] == ["user", "model", "user", "model", "user", "model", "user"]
    assert [text.split("\n")[-1] for _, text in script(request)][0::2] == [
        "Instruction: ask",
        "",
        "done",
        "Instruction: more",
    ]
    assert [each.output for each in blocks(request, ResultBlock)] == ["saw"]


def test_what_is_added_to_a_stored_session_is_compiled_with_it() -> None:
    written = talk(1)
    history = History.of(written.records)
    history.compile()
    history.add(message=make.user_prompt("more", author="Ada"))
    history.include(replace(Talk().prompt("another"), seq=99))
    history.update(history.assistant_responses[0].id, text="said otherwise")
    history.add(assistant_response="done")
    assert [text for _, text in script(history.compile())][-3:] == ["said otherwise", "more\n\nanother", "done"]


def test_a_record_that_is_stored_later_takes_the_place_of_the_stand_in() -> None:
    message = make.user_prompt("ask", author="Ada")
    history = History([message])
    assert script(history.compile()) == [("user", "ask")]
    waits = Talk().opens(message, status=MessageStatus.PENDING_AGENT)
    other = Talk().opens(make.user_prompt("other", author="Ada"))
    history.include(waits)
    history.include(other)
    assert script(history.compile(active_turn=other.id)) == [("user", "other")]


def test_a_record_that_is_stored_anew_says_what_it_says_now() -> None:
    records = talk(1).records
    history = History.of(records)
    prompt = records[0]
    history.include(replace(prompt, message=prompt.message.update(text="edited")))
    assert script(history.compile())[0] == ("user", "edited")
    assert len(history) == len(records)


def test_mail_is_a_member_that_no_model_reads() -> None:
    history = History([Message.create(source=RelaySource(), content="psst")])
    history.add(message=make.user_prompt("ask", author="Ada"))
    assert script(history.compile()) == [("user", "ask")]
    assert [each["content"] for each in history.to_chat_msgs()] == ["psst", "ask"]


def test_the_result_that_is_superseded_is_not_read() -> None:
    history = History.of(talk(1).records)
    called = history.action_requests[0]
    history.respond(called.id, "saw more", replace=True)
    assert [each.output for each in blocks(history.compile(), ResultBlock)] == ["saw more"]
    assert [each["content"] for each in history.to_chat_msgs()].count("saw 0") == 1


def test_a_cleared_history_compiles_what_came_since() -> None:
    history = History.of(talk().records)
    called, system = history.action_requests[0], make.system_prompt("be brief")
    history.set_system(system)
    history.clear()
    history.add(message=make.user_prompt("anew", author="Ada"))
    history.include(called)
    for selection in (None, [each.id for each in history]):
        request = history.compile(selection=selection)
        assert request.system == "be brief"
        assert script(request)[0] == ("user", "anew")
        assert len(blocks(request, ResultBlock)) == 1


def test_a_selection_of_a_long_session_reads_the_records_of_its_turns_only() -> None:
    order = placed(talk(200).records)
    asked, called, result, answered = order[-4:]
    for chosen in (asked, called, result, answered):
        found = Placements(order).around([chosen.record.id])
        assert sorted(ids(list(found))) == sorted(each.record.id for each in order[-4:])
    assert len(Placements(order).around([order[0].record.id, asked.record.id])) == 8


def test_a_history_holds_the_very_values_that_were_stored() -> None:  # D-047
    records = talk().records
    history = History.of(records)
    assert all(history[each.id] is each.message for each in records)
    assert len(history) == len(records)
