"""What a model reads (seed 004 sections 5.2 and 5.4; complaints 50 to 58)."""

from dataclasses import replace

import pytest

from kesoku.errors import SelectionInvalid
from kesoku.history.compile import compile_turns
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.turn import CallBlock, MediaBlock, ResultBlock, TextBlock, ToolSpec, TurnRequest
from kesoku.testing.talk import Talk

from .reading import NOTES, PNG, REQUEST, blocks, compiled, script


def test_the_parts_of_the_request_go_where_they_belong() -> None:
    # K-095, K-096, K-218
    talk = Talk()
    talk.opens(make.system_prompt("an older prompt"))
    talk.prompt("hi")
    tools = (ToolSpec(name="t", description="", parameters={}),)
    request = compile_turns(
        talk.records, (), TurnRequest(system="be kind", tools=tools, response_format={}, options={"a": 1})
    )
    assert (request.system, request.tools, request.response_format, request.options) == ("be kind", tools, {}, {"a": 1})
    assert script(request) == [("user", "hi")]
    assert compile_turns(talk.records, (), TurnRequest()).system == "an older prompt"


def test_thoughts_stay_in_the_active_turn_only() -> None:
    # K-083, K-084, K-181, K-182
    talk = Talk()
    talk.prompt("one")
    talk.round = 1
    talk.thought("old thought")
    talk.answer("first")
    talk.prompt("two", status=MessageStatus.PROCESSING)
    talk.round = 1
    talk.thought("new thought")
    talk.thought("another")
    request = compiled(talk)
    assert script(request) == [("user", "one"), ("model", "first"), ("user", "two"), ("model", "new thoughtanother")]
    assert [block.thought for block in request.turns[-1].blocks if isinstance(block, TextBlock)] == [True, True]


def test_a_single_turn_is_the_active_one() -> None:
    # K-183, K-186
    talk = Talk()
    talk.prompt("look", files=(PNG,))
    talk.round = 1
    talk.thought("hm")
    request = compiled(talk)
    assert script(request) == [("user", "look"), ("model", "hm")]
    assert blocks(request, MediaBlock) == [MediaBlock(path="/staging/a.png", mime_type="image/png", name="a.png")]


def test_past_turns_lose_their_files_and_say_so() -> None:
    # K-074, K-075, K-184, K-185, K-186, K-187, K-188
    talk = Talk()
    talk.prompt("look", files=(PNG, NOTES))
    talk.answer("nice")
    talk.prompt("plain")
    talk.answer("yes")
    talk.prompt("", files=(replace(PNG, name="data.csv"),))
    talk.answer("numbers")
    talk.prompt("again", files=(PNG,), status=MessageStatus.PROCESSING)
    stored = tuple(talk.records)
    request = compiled(talk)
    assert script(request)[0] == ("user", "look\n[Attachments stripped from history: a.png, notes.txt]")
    assert script(request)[2] == ("user", "plain")
    assert script(request)[4] == ("user", "[Attachments stripped from history: data.csv]")
    assert len(blocks(request, MediaBlock)) == 1
    assert compiled(talk) == request
    assert tuple(talk.records) == stored
    assert [each.message.content for each in talk.records] == [each.message.content for each in stored]


def test_stripping_keeps_the_id() -> None:
    # D-028
    talk = Talk()
    prompt = talk.prompt("look", files=(PNG,))
    talk.answer("nice")
    talk.prompt("next")
    assert compiled(talk).turns[0].sources == ((prompt.id, 1),)


def test_files_of_a_turn_that_was_interrupted_at_once_are_still_read() -> None:
    talk = Talk()
    talk.prompt("old", files=(NOTES,))
    talk.answer("ok")
    talk.prompt("", files=(PNG,), status=MessageStatus.INTERRUPTED)
    talk.prompt("what is on this picture?", status=MessageStatus.PROCESSING)
    request = compiled(talk)
    assert [block.name for block in blocks(request, MediaBlock)] == ["a.png"]
    assert request.turns[-1].blocks[-1] == TextBlock(text="what is on this picture?")


def test_files_that_cannot_be_read_are_named_with_the_reason() -> None:
    talk = Talk()
    talk.prompt("look", files=(Attachment(name="film.mkv", skipped="900 MB is too big"), Attachment(name="gone.txt")))
    assert script(compiled(talk)) == [
        (
            "user",
            "look\n[Attachment film.mkv is not available: 900 MB is too big]\n"
            "[Attachment gone.txt is not available: its file is missing]",
        )
    ]


def test_notices_are_never_read() -> None:
    # K-104, K-105, K-179, K-180
    talk = Talk()
    talk.prompt("one")
    talk.add(make.notice("🔄 compacted"))
    talk.answer("first")
    talk.prompt("two")
    talk.add(make.notice("still here"))
    assert script(compiled(talk)) == [("user", "one"), ("model", "first"), ("user", "two")]


def test_of_several_error_notes_of_a_turn_the_last_one_is_read() -> None:
    # K-107, K-108
    talk = Talk()
    talk.prompt("one")
    talk.error("first failure")
    talk.error("second failure")
    talk.prompt("two")
    talk.error("third failure")
    assert [text for role, text in script(compiled(talk)) if role == "model"] == [
        f"{make.ERROR}second failure",
        f"{make.ERROR}third failure",
    ]


def test_notes_become_marked_text_of_the_user() -> None:
    # K-101, K-102, K-214, K-215
    talk = Talk()
    talk.prompt("one")
    talk.nudge("say something")
    talk.answer("first")
    talk.prompt("two")
    talk.nudge("again")
    assert script(compiled(talk)) == [
        ("user", "one\n\n[System Notification]\nsay something"),
        ("model", "first"),
        ("user", "two\n\n[System Notification]\nagain"),
    ]


def test_a_wakeup_opens_a_turn_of_the_user_with_the_output() -> None:
    # K-098, K-099, K-216
    talk = Talk()
    talk.prompt("start it")
    talk.answer("running")
    talk.opens(make.wakeup("job_1", "exit 0"))
    talk.answer("it is done")
    talk.opens(make.wakeup("job_2", "exit 1"), status=MessageStatus.PROCESSING)
    users = [text for role, text in script(compiled(talk)) if role == "user"]
    assert users[1:] == [
        "[System Notification]\n[System Alert] Background Job job_1 finished\nexit 0",
        "[System Notification]\n[System Alert] Background Job job_2 finished\nexit 1",
    ]


def test_a_note_at_the_start_of_a_slice_is_still_the_users() -> None:
    # K-219
    talk = Talk()
    talk.prompt("one")
    talk.nudge("go on")
    talk.answer("first")
    talk.records = talk.records[1:]
    request = compiled(talk)
    assert script(request) == [("user", "[System Notification]\ngo on"), ("model", "first")]
    assert request.system == "be kind"


def test_a_summary_has_no_mark() -> None:
    # K-215
    talk = Talk()
    talk.opens(make.summary("they spoke of cats", covered=("a", "b")), status=MessageStatus.RESPONDED)
    talk.prompt("and dogs?")
    assert script(compiled(talk)) == [("user", "they spoke of cats\n\nand dogs?")]


def test_schedules_and_commands_are_ordinary_prompts() -> None:
    # K-077, K-078, K-080, K-081, K-221
    talk = Talk()
    talk.opens(make.cron_prompt("check the disk"))
    talk.answer("fine")
    talk.opens(make.compaction_prompt())
    talk.answer("done")
    talk.opens(make.cron_prompt("check again"))
    assert [role for role, _ in script(compiled(talk))] == ["user", "model", "user", "model", "user"]
    assert script(compiled(talk))[0] == ("user", "check the disk")
    assert script(compiled(talk))[2] == ("user", make.COMPACTION)


def test_prompts_in_a_row_become_one_turn() -> None:
    # K-222, K-224
    talk = Talk()
    first = talk.prompt("build a web page", status=MessageStatus.INTERRUPTED)
    second = talk.prompt("no, a tool", status=MessageStatus.PROCESSING)
    request = compiled(talk)
    assert script(request) == [("user", "build a web page\n\nno, a tool")]
    assert request.turns[0].sources == ((first.id, 1), (second.id, 1))


def test_prompts_that_wait_are_not_read_yet() -> None:
    talk = Talk()
    talk.prompt("one", status=MessageStatus.PROCESSING)
    running = talk.turn
    talk.prompt("two", status=MessageStatus.PENDING_AGENT)
    assert script(compiled(talk)) == [("user", "one")]
    talk.prompt("three")
    talk.answer("later")
    assert script(compiled(talk, active_turn=running)) == [("user", "one")]


def test_parallel_calls_are_one_turn_and_so_are_their_results() -> None:
    # K-089, K-092, K-223, K-227; complaint 53
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    one, two = talk.call("a", {"n": 1}), talk.call("b")
    second = talk.result(two, "second")
    talk.add(make.notice("between"))
    first = talk.result(one, "first")
    request = compiled(talk)
    assert [turn.role for turn in request.turns] == ["user", "model", "user"]
    assert [block.call_id for block in request.turns[1].blocks if isinstance(block, CallBlock)] == [one.id, two.id]
    assert request.turns[2].blocks == (
        ResultBlock(call_id=one.id, name="a", output="first"),
        ResultBlock(call_id=two.id, name="b", output="second"),
    )
    assert [i for i, _ in request.turns[2].sources] == [first.id, second.id]


def test_past_calls_and_results_are_kept_raw() -> None:
    # K-090, K-093, K-189
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    good, bad = talk.call("a", {"path": "x"}), talk.call("b")
    talk.result(good, {"rows": [1, 2]})
    talk.result(bad, "half", error="boom")
    talk.answer("done")
    talk.prompt("next")
    request = compiled(talk)
    assert blocks(request, CallBlock)[0].arguments == {"path": "x"}
    assert blocks(request, ResultBlock) == [
        ResultBlock(call_id=good.id, name="a", output={"rows": (1, 2)}),
        ResultBlock(call_id=bad.id, name="b", output="half", error="boom"),
    ]


def test_an_interrupted_call_is_answered_before_the_new_prompt() -> None:
    # complaints 50 and 51
    talk = Talk()
    talk.prompt("go", status=MessageStatus.INTERRUPTED)
    talk.round = 1
    talk.call("a")
    talk.prompt("stop, do this", status=MessageStatus.PROCESSING)
    request = compiled(talk)
    assert [turn.role for turn in request.turns] == ["user", "model", "user"]
    result, text = request.turns[2].blocks
    assert isinstance(result, ResultBlock)
    assert result.error == "This call has not returned a result."
    assert text == TextBlock(text="stop, do this")


def test_a_note_in_a_round_of_calls_stands_behind_the_results() -> None:
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    call = talk.call("a")
    talk.nudge("you repeat yourself")
    talk.result(call)
    request = compiled(talk)
    assert isinstance(request.turns[2].blocks[0], ResultBlock)
    assert request.turns[2].blocks[1] == TextBlock(text="[System Notification]\nyou repeat yourself")


def test_only_the_result_that_counts_is_read() -> None:
    talk = Talk()
    talk.prompt("go")
    talk.round = 1
    call = talk.call("a")
    talk.result(call, "first try")
    talk.result(talk.records[1], "second try", replace=True)
    talk.records = [
        replace(each, superseded_by=talk.records[-1].id) if each.message.rendered == "first try" else each
        for each in talk.records
    ]
    assert [block.output for block in blocks(compiled(talk), ResultBlock)] == ["second try"]


def test_empty_replies_leave_no_empty_turn() -> None:
    # complaint 67
    talk = Talk()
    talk.prompt("go")
    talk.step(TextBlock(text=" \n"))
    talk.nudge("answer")
    assert script(compiled(talk)) == [("user", "go\n\n[System Notification]\nanswer")]


def test_the_answer_of_a_finished_turn_is_not_doubled() -> None:
    talk = Talk()
    talk.prompt("go")
    talk.step(TextBlock(text="hm", thought=True), TextBlock(text="done"))
    talk.answer("done")
    assert script(compiled(talk, provider="scripted")) == [("user", "go"), ("model", "hmdone")]


def test_an_answer_of_the_machinery_follows_the_results() -> None:
    talk = Talk()
    talk.prompt("go")
    (call,) = talk.step(CallBlock(call_id="", name="a", arguments={}))
    talk.result(call)
    talk.add(make.answer("I stopped.", provider="kesoku", model="turn"))
    assert script(compiled(talk))[-1] == ("model", "I stopped.")


def test_a_refused_text_is_not_read_in_place_of_the_honest_answer() -> None:
    talk = Talk()
    talk.prompt("go")
    talk.step(TextBlock(text="half a sen"))
    talk.add(make.answer("The model's reply was blocked.", provider="kesoku", model="turn"))
    assert script(compiled(talk, provider="scripted")) == [("user", "go"), ("model", "The model's reply was blocked.")]


def test_a_prompt_that_says_nothing_still_is_a_turn() -> None:
    talk = Talk()
    talk.prompt(" ")
    assert script(compiled(talk)) == [("user", "[Empty message]")]


def test_a_selection_is_taken_literally() -> None:
    # K-219
    talk = Talk()
    first = talk.prompt("one")
    talk.answer("first")
    second = talk.prompt("two")
    answer = talk.answer("second")
    request = compiled(talk, selection=[second.id, answer.id, first.id])
    assert script(request) == [("user", "two"), ("model", "second"), ("user", "one")]


def test_a_selection_never_tears_a_pair() -> None:
    # complaints 52 and 55
    talk = Talk()
    prompt = talk.prompt("go")
    one, two = talk.step(
        CallBlock(call_id="", name="a", arguments={}, signature=b"s"), CallBlock(call_id="", name="b", arguments={})
    )
    result = talk.result(one)
    lost = talk.result(two)
    last = talk.prompt("next")
    request = compiled(talk, selection=[prompt.id, one.id, two.id, result.id, last.id], provider="scripted")
    assert [block.call_id for block in blocks(request, CallBlock)] == [one.id]
    request = compiled(talk, selection=[prompt.id, lost.id, last.id])
    assert blocks(request, ResultBlock) == []


def test_a_summary_that_says_nothing_is_no_turn() -> None:
    talk = Talk()
    talk.opens(make.summary(" ", covered=()), status=MessageStatus.RESPONDED)
    talk.prompt("hi")
    assert script(compiled(talk)) == [("user", "hi")]


def test_a_selection_of_unknown_messages_names_all_of_them() -> None:
    talk = Talk()
    prompt = talk.prompt("go")
    with pytest.raises(SelectionInvalid) as caught:
        compile_turns(talk.records, (), REQUEST, ["x", prompt.id, "y", prompt.id])
    assert (caught.value.missing, caught.value.repeated) == (("x", "y"), (prompt.id,))


def test_a_step_extends_the_request_before_it() -> None:
    # D-X12
    talk = Talk()
    talk.prompt("old")
    talk.answer("ok")
    talk.prompt("go", files=(PNG,))
    before = compiled(talk, provider="scripted")
    for n in range(4):
        for call in talk.step(
            TextBlock(text=f"thought {n}", thought=True), CallBlock(call_id="", name="a", arguments={"n": n})
        ):
            talk.result(call, f"result {n}")
        after = compiled(talk, provider="scripted")
        assert after.turns[: len(before.turns)] == before.turns
        assert len(after.turns) == len(before.turns) + 2
        before = after


def test_the_same_log_gives_the_same_bytes() -> None:
    # D-051
    talk = Talk()
    talk.prompt("go", files=(PNG,))
    for call in talk.step(TextBlock(text="hm", thought=True), CallBlock(call_id="", name="a", arguments={"x": [1]})):
        talk.result(call, {"deep": [1, {"er": None}]})
    talk.nudge()
    digest = compiled(talk, provider="scripted").digest()
    talk.records.reverse()
    assert compiled(talk, provider="scripted").digest() == digest


def test_nothing_at_all_is_no_turn() -> None:
    assert compile_turns((), (), REQUEST).turns == ()
