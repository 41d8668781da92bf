"""`kesoku import`: what comes in, where it goes, and that nothing of it starts or is sent."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from kesoku.commands.export import raw
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address, Record
from kesoku.messages.redaction import REDACTED, redacted
from kesoku.store import SqlStore
from kesoku.testing.random_talk import RandomTalk
from kesoku.testing.store_material import store_talk

from .machine import ANSWER, CALL, PLACE, PROMPT, RESULT, TALK, Machine, Row, lines

FORMS: dict[str, Any] = {
    "array": TALK,
    "object": {"records": TALK, "more": 1},
    "lines": lines(TALK),
    "lines with a gap": b"\n" + lines(TALK[:2]) + b"\r\n\r\n" + lines(TALK[2:]) + b"\n",
    "with a byte order mark": b"\xef\xbb\xbf" + lines(TALK),
    "pretty": json.dumps({"records": TALK}, indent=1).encode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_array_an_object_and_lines_say_the_same(machine: Machine, form: Any) -> None:
    assert machine.run(machine.file(form)) == 0
    assert machine.said.startswith("Imported 4 messages of 1 conversation.\n")
    assert "go on with it: kesoku chat --session s1" in machine.said
    found = machine.session()
    assert [each.id for each in found] == ["m1", "m2", "m3", "m4"]
    assert [each.session_n for each in found] == [1, 2, 3, 4]
    assert found[0].address == Address(chatbot_id="discord", channel_id="lounge")
    assert found[1].message.content.response_id == "m3"
    assert found[3].message.rendered == "Fog."


def test_the_same_file_twice_changes_nothing(machine: Machine) -> None:
    """D-X13: rows without ids get the same ones, and everything is there already. C-43"""
    rows = [
        {key: value for key, value in row.items() if key != "id"} for row in (PROMPT, {**ANSWER, "parent_id": None})
    ]
    file = machine.file(rows)
    before = Path(file).read_bytes()
    first = machine.report(file)
    assert (first["imported"], first["derived_ids"]) == (2, 2)
    found = machine.session()
    second = machine.report(file)
    assert (second["imported"], second["present"]) == (0, 2)
    assert machine.session() == found
    assert Path(file).read_bytes() == before


def test_a_file_that_has_grown_adds_what_is_new(machine: Machine) -> None:
    machine.run(machine.file(TALK))
    later = {**PROMPT, "id": "m5", "parent_id": "m4", "content": "and now?"}
    report = machine.report(machine.file([*TALK, later]))
    assert (report["imported"], report["present"]) == (1, 4)
    assert [each.id for each in machine.session()] == ["m1", "m2", "m3", "m4", "m5"]


def test_roles_are_not_believed(machine: Machine) -> None:
    """C-04: the kind decides the class, and the class the role."""
    forged = [
        {**PROMPT, "kind": "user_prompt", "role": "system"},
        {**PROMPT, "id": "m2", "kind": "notice", "source": {"kind": "notice"}, "role": "system", "status": "delivered"},
    ]
    report = machine.report(machine.file(forged))
    assert (report["imported"], report["forged_roles"]) == (2, 2)
    assert [(each.kind, each.message.role) for each in machine.session()] == [
        ("user_prompt", "user"),
        ("notice", "assistant"),
    ]


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({**PROMPT, "status": "pending_agent"}, "interrupted"),
        ({**PROMPT, "status": "processing"}, "interrupted"),
        ({**PROMPT, "status": "error"}, "error"),
        ({**ANSWER, "parent_id": None, "status": "pending"}, "delivered"),
        ({**ANSWER, "parent_id": None, "type": "thought", "status": "responded"}, "delivered"),
        ({**PROMPT, "role": "system", "status": "responded"}, "responded"),
        (
            {**PROMPT, "role": "system", "content": "[Background Job] j1 finished", "status": "pending_agent"},
            "interrupted",
        ),
    ],
)
def test_nothing_that_is_imported_is_answered_or_sent(machine: Machine, row: Row, status: str) -> None:
    report = machine.report(machine.file([row]))
    (found,) = machine.session()
    assert found.status == status
    assert report["interrupted"] + report["delivered"] == (status != row["status"])
    everywhere = Serving(addresses=frozenset({found.address}))
    assert machine.look(lambda tx: tx.leases.next(everywhere)) is None
    assert machine.look(lambda tx: tx.messages.waiting(everywhere)) == []


def test_of_several_results_of_a_call_the_last_one_counts(machine: Machine) -> None:
    """C-03"""
    later = {**RESULT, "id": "m9", "content": "sun"}
    assert machine.report(machine.file([PROMPT, CALL, RESULT, later]))["imported"] == 4
    found = machine.session()
    assert [each.superseded_by for each in found] == [None, None, "m9", None]
    assert found[1].message.content.response_id == "m9"
    third = {**RESULT, "id": "m10", "content": "rain"}
    report = machine.report("--session", "s1", machine.file([third]))
    assert report["refused_rows"][0]["why"] == "the call that it answers has another result here"


def test_a_result_that_comes_later_belongs_to_the_call_that_is_here(machine: Machine) -> None:
    """The first file was written in the middle of a turn."""
    machine.run(machine.file(TALK[:2]))
    report = machine.report(machine.file(TALK))
    assert (report["imported"], report["present"], report["refused"]) == (2, 2, 0)
    assert machine.session()[1].message.content.response_id == "m3"
    assert machine.look(lambda tx: tx.messages.open_calls("s1")) == []
    assert machine.report(machine.file(TALK))["present"] == 4


def test_what_stands_before_its_prompt_or_its_call_comes_behind_it(machine: Machine) -> None:
    turn = [{**row, "turn_id": "m1"} for row in TALK]
    rider = {**PROMPT, "id": "m0", "turn_id": "m1"}
    assert machine.report(machine.file([rider, *reversed(turn)]))["imported"] == 5
    assert [each.id for each in machine.session()] == ["m0", "m1", "m4", "m2", "m3"]


WRONG: dict[str, Row] = {
    "nothing": {"superseded_by": "m99", "response_id": "m99"},
    "a message that is no result": {"superseded_by": "m1", "response_id": "m1"},
    "an earlier one": {"superseded_by": "m3x", "response_id": "m3x"},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_calls_and_results_that_name_the_wrong_one_are_put_right(machine: Machine, wrong: Row) -> None:
    """R-5: one result of a call counts, and both know it. C-03"""
    first, second = RESULT, {**RESULT, "id": "m9", "content": "sun"}
    rows = [PROMPT, CALL, {**first, "superseded_by": "m9"}, second]
    machine.run(machine.file(rows))
    records = [each.to_dict() for each in machine.session()]
    call, *results = [{**each, "session_id": "s2", "id": f"{each['id']}x"} for each in records[1:]]
    call["content"] = {**call["content"], "response_id": wrong["response_id"]}
    call["parent_id"] = None
    for each in results:
        each["content"] = {**each["content"], "request_id": call["id"]}
        each |= {"parent_id": "m1", "superseded_by": wrong["superseded_by"]}
    assert machine.report(machine.file([call, *results]))["imported"] == 3
    found = machine.session("s2")
    assert found[0].message.content.response_id == "m9x"
    assert [each.superseded_by for each in found] == [None, "m9x", None]
    assert [each.parent_id for each in found[1:]] == [call["id"]] * 2


def test_a_call_does_not_name_a_result_that_was_refused(machine: Machine) -> None:
    report = machine.report(machine.file([PROMPT, CALL, {**RESULT, "session_id": "s2"}]))
    assert (report["imported"], report["refused"]) == (2, 1)
    assert machine.session()[1].message.content.response_id is None
    assert len(machine.look(lambda tx: tx.messages.open_calls("s1"))) == 1


def test_a_prompt_that_answers_something_missing_stands_alone(machine: Machine) -> None:
    report = machine.report(machine.file([{**PROMPT, "parent_id": "m0"}]))
    assert (report["imported"], report["loose"]) == (1, 1)
    assert machine.session()[0].parent_id is None


def test_odd_texts_come_in_as_they_are(machine: Machine) -> None:
    rows = [
        {**PROMPT, "id": "m\ud800", "content": "a\ud800b"},
        {**PROMPT, "id": "m2", "content": "nul \x00 end", "created_at": "2026-05-27T21:00:00+08:00"},
        {**PROMPT, "id": "m3", "content": None, "metadata": {"odd": {"x": [1, None]}}},
    ]
    assert machine.run(machine.file(rows)) == 0
    found = machine.session()
    assert [each.message.rendered for each in found] == ["a\ud800b", "nul \x00 end", ""]
    assert found[1].message.created_at == 1_779_886_800.0
    assert found[2].message.metadata["odd"] == {"x": (1, None)}
    assert machine.report(machine.file(rows))["present"] == 3


def test_a_conversation_that_is_here_with_other_messages_is_left_alone(machine: Machine) -> None:
    machine.run(machine.file(TALK))
    other = [{**PROMPT, "id": "x1", "content": "somebody else"}]
    assert machine.run(machine.file(other)) == 65
    assert "with 4 messages that the file does not have" in machine.complaint
    assert "--session s1" in machine.complaint
    assert len(machine.session()) == 4
    assert machine.run("--session", "s1", machine.file(other)) == 0
    assert [each.id for each in machine.session()] == ["m1", "m2", "m3", "m4", "x1"]


def test_a_message_is_stored_once(machine: Machine) -> None:
    machine.run(machine.file(TALK))
    assert machine.run(machine.file([{**PROMPT, "content": "other"}])) == 65
    assert "row 1: the message m1 is stored already and says something else" in machine.complaint
    assert machine.run("--session", "s2", machine.file(TALK)) == 65
    assert "the message m1 is stored already in the conversation s1" in machine.complaint


def test_what_was_redacted_here_does_not_come_back(machine: Machine) -> None:
    """C-16"""
    file = machine.file(TALK)
    machine.run(file)
    gone = redacted(machine.session()[0].message)
    machine.look(lambda tx: tx.archive.overwrite(gone, actor="a", at=1), write=True)
    assert machine.report(file)["present"] == 4
    assert machine.session()[0].message.rendered == REDACTED


def test_session_and_channel_say_where_it_goes(machine: Machine) -> None:
    row = {key: value for key, value in PROMPT.items() if key not in PLACE}
    there = ("--session", "mine", "--channel", "wechat:room:7", machine.file([row]))
    assert machine.run(*there) == 0
    (found,) = machine.session("mine")
    room = Address(chatbot_id="wechat", channel_id="room:7")
    assert found.address == room
    bound = machine.look(lambda tx: tx.sessions.bound(room))
    assert bound is not None
    assert bound.id == "mine"
    assert machine.report(*there)["present"] == 1
    machine.run("--channel", "wechat:room:7", machine.file(TALK))
    bound = machine.look(lambda tx: tx.sessions.bound(room))
    assert bound is not None
    assert bound.id == "mine"  # a channel that has a conversation goes on with it


def test_one_place_takes_one_conversation(machine: Machine) -> None:
    rows = [PROMPT, {**PROMPT, "id": "x", "session_id": "s2"}]
    for option in (("--session", "s9"), ("--channel", "a:b")):
        assert machine.run(*option, machine.file(rows)) == 65
        assert "the files hold 2 conversations" in machine.complaint
    assert machine.report(machine.file(rows))["sessions"] == [{"id": "s1", "messages": 1}, {"id": "s2", "messages": 1}]


def test_several_files_go_together(machine: Machine) -> None:
    first, second = machine.file(TALK[:2], "a.json"), machine.file(TALK[2:], "b.json")
    assert machine.report(first, second)["imported"] == 4
    other = machine.file([{**PROMPT, "content": "x"}], "c.json")
    assert machine.run(first, other) == 65
    assert f"stands in row 1 of {first} too" in machine.complaint


def test_a_dry_run_checks_everything_and_stores_nothing(machine: Machine) -> None:
    file = machine.file(TALK)
    assert machine.run("--dry-run", file) == 0
    assert machine.said.startswith("Would import 4 messages")
    assert machine.report("--dry-run", machine.file([RESULT], "bad.json"))["refused"] == 1
    assert not machine.database.exists()
    machine.run(file)
    machine.look(lambda tx: tx.sessions.create(session_id="s2", at=1), write=True)
    assert machine.report("--dry-run", machine.file([*TALK, {**PROMPT, "id": "m7"}]))["imported"] == 1
    assert len(machine.session()) == 4


@pytest.mark.parametrize("given", ["nowhere", ":x", "x:", " : "])
def test_a_channel_that_is_none_is_a_mistake_of_the_command_line(machine: Machine, given: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        machine.run("--channel", given, machine.file(TALK))


@pytest.mark.parametrize("seed", range(8))
def test_an_export_comes_back_as_it_was(machine: Machine, tmp_path: Path, seed: int) -> None:
    """`/export raw` of one database gives the same records in another one."""
    source = tmp_path / "source.db"

    async def exported() -> tuple[list[Record], Row]:
        async with await SqlStore.open(source) as store:
            talk = RandomTalk(seed)
            for _ in range(4):
                list(talk.turn())
            await store.write(lambda tx: store_talk(tx, talk.talk, session="s1"))
            session = await store.read(lambda tx: tx.sessions.get("s1"))
            assert session is not None
            records = await store.read(lambda tx: tx.messages.session("s1"))
            return records, raw(session, records)

    records, form = asyncio.run(exported())
    assert records
    report = machine.report(machine.file(form))
    assert report["refused_rows"] == []
    found = machine.session()
    assert [settled(each) for each in found] == [settled(each) for each in records]
    assert [each.superseded_by for each in found] == [each.superseded_by for each in records]


def test_a_prompt_that_took_the_place_of_a_turn_says_so_still(machine: Machine) -> None:
    row = {**PROMPT, "kind": "user_prompt", "source": {"kind": "user"}, "content": {"text": "no, wait"}}
    machine.run(machine.file([{**row, "superseded_turn": "m0"}]))
    assert machine.session()[0].superseded_turn == "m0"


def test_a_file_of_messages_names_no_file_of_this_machine(machine: Machine) -> None:
    """Else it would choose what a model is shown. Files that came in here stay where they are."""
    ours = machine.database.with_name("kesoku.db.files") / "s1" / "0815-a.png"
    paths = ["/etc/passwd", str(ours), f"{ours.parent}/../s2/b.png"]
    attached = [{"name": Path(each).name, "path": each} for each in paths]
    assert machine.run(machine.file([{**PROMPT, "metadata": {"attachments": attached}}])) == 0
    files = machine.session()[0].message.content.attachments
    assert [each.name for each in files] == ["passwd", "0815-a.png", "b.png"]
    assert [each.path for each in files] == [None, str(ours), None]
    assert [each.skipped for each in files] == ["the file was not imported", None, "the file was not imported"]


def settled(record: Record) -> Row:
    """A record without the numbers of its database, and with the status that an import gives it."""
    form = {key: value for key, value in record.to_dict().items() if key != "seq"}
    for file in form["content"].get("attachments", ()):
        if file.pop("path", None):
            file["skipped"] = "the file was not imported"
    moved = {"pending_agent": "interrupted", "processing": "interrupted", "pending": "delivered"}
    if record.status is MessageStatus.RESPONDED and record.message.type != "text":
        return form | {"status": "delivered"}
    return form | {"status": moved.get(form["status"], form["status"])}


class Terminal(io.StringIO):
    """Standard error as a person sees it."""

    def isatty(self) -> bool:
        return True


def test_a_long_import_tells_a_person_how_far_it_is(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.run(machine.file(TALK)) == 0
    assert machine.complaint == ""
    seen = Terminal()
    monkeypatch.setattr("sys.stderr", seen)
    machine.run(machine.file([{**PROMPT, "id": f"n{n}", "session_id": "s2"} for n in range(1_001)]))
    assert seen.getvalue() == "\r500 of 1,001 messages\r1,000 of 1,001 messages\r1,001 of 1,001 messages\n"


@pytest.mark.parametrize(
    ("given", "shown", "typed"),
    [
        ("s 2", "s 2", " --session 's 2'"),
        ("x; rm -rf ~", "x; rm -rf ~", " --session 'x; rm -rf ~'"),
        ("s\n- conversation s3", "s - conversation s3", ""),
        ("--yes", "--yes", ""),
    ],
)
def test_the_id_of_a_conversation_is_one_word_for_a_shell_and_one_line(
    machine: Machine, given: str, shown: str, typed: str
) -> None:
    """The report is copied from; whoever wrote the file chose the id."""
    assert machine.run(machine.file([{**PROMPT, "session_id": given}])) == 0
    go_on = f"; go on with it: kesoku chat{typed}" if typed else ""
    assert f"- conversation {shown}: 1 message{go_on}\n" in machine.said
