"""The flat rows of seed 004 section 6, typed in a second time, printed and read literally."""

from typing import Any

import pytest

from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import freeze
from kesoku.messages.record import Record
from kesoku.messages.restore import import_rows, record_from_row

BASE = {"session_id": "sess_agent_history", "chatbot_id": "discord", "channel_id": "1234567890123"}
OUTPUT = "=== STDOUT ===\n5 passed in 0.42s\n=== STDERR ===\n"
TRAJECTORY_1: list[dict[str, Any]] = [  # K-228 K-230 K-231 K-234 K-236
    {
        "id": "msg_user_001",
        **BASE,
        "sender": "Chii",
        "role": "user",
        "type": "text",
        "content": "`Chii` <@112233> at `2026-05-27 20:50:00 SGT`:\nRun tests for agent history module",
        "status": "pending_agent",
    },
    {
        "id": "msg_thought_001",
        **BASE,
        "parent_id": "msg_user_001",
        "sender": "Kesoku",
        "role": "assistant",
        "type": "thought",
        "content": "I need to run the unit tests for the history module using uv.",
        "status": "responded",
    },
    {
        "id": "msg_call_001",
        **BASE,
        "parent_id": "msg_user_001",
        "sender": "Kesoku",
        "role": "tool",
        "type": "tool_call",
        "content": "Calling tool `run_shell_command` with arguments:\n```json\n{\n"
        '  "command": "uv run pytest tests/test_history.py"\n}\n```',
        "status": "responded",
        "metadata": {
            "tool_name": "run_shell_command",
            "tool_arguments": {"command": "uv run pytest tests/test_history.py"},
        },
    },
    {
        "id": "msg_result_001",
        **BASE,
        "parent_id": "msg_call_001",
        "sender": "run_shell_command",
        "role": "tool",
        "type": "tool_result",
        "content": OUTPUT,
        "status": "responded",
        "metadata": {"tool_name": "run_shell_command", "tool_result": "5 passed in 0.42s"},
    },
    {
        "id": "msg_reply_001",
        **BASE,
        "parent_id": "msg_user_001",
        "sender": "Kesoku",
        "role": "assistant",
        "type": "text",
        "content": "All 5 tests passed in 0.42 seconds.",
        "status": "pending",
        "metadata": {
            "turn_metrics": {
                "session_turns": 3,
                "context_tokens": 8421,
                "turn_tool_calls": 1,
                "turn_tokens": 1042,
                "turn_time": 2.1,
            }
        },
    },
]
CRON = {  # K-239
    "id": "msg_cron_001",
    "session_id": "sess_wechat_status",
    "chatbot_id": "wechat",
    "channel_id": "room123456@chatroom",
    "sender": "Cronjob",
    "role": "user",
    "type": "text",
    "content": "`Cronjob` at `2026-05-27 21:00:00 CST`:\nRun active diagnostics and output status summary.",
    "status": "pending_agent",
    "metadata": {"wechat_cronjob": True},
}


@pytest.mark.parametrize("row", TRAJECTORY_1, ids=lambda row: row["id"])
def test_rows_of_trajectory_1_are_read_and_printed_literally(row: dict[str, Any]) -> None:
    assert record_from_row(row).to_row() == row


def test_the_cron_row_prints_both_marks() -> None:  # K-239 (C-27)
    row = record_from_row(CRON).to_row()
    assert row == CRON | {"metadata": {"is_cronjob": True, "wechat_cronjob": True}}


def test_the_makers_print_the_same_rows() -> None:  # K-231 K-232 K-234
    call = make.tool_call(
        "run_shell_command", {"command": "uv run pytest tests/test_history.py"}, provider="gemini", model="m"
    )
    _, result = make.respond(call, OUTPUT, summary="5 passed in 0.42s")
    for made, row in ((call, TRAJECTORY_1[2]), (result, TRAJECTORY_1[3])):
        twin = record_from_row(row)
        printed = Record(
            message=made,
            address=twin.address,
            session_id=twin.session_id,
            status=twin.status,
            parent_id=twin.parent_id,
        ).to_row()
        assert {**printed, "id": row["id"]} == row


def test_what_is_not_default_goes_under_envelope_and_comes_back() -> None:  # C-11
    message = make.answer("hi", provider="p", model="m").with_recipient("alice")
    record = Record(
        message=message, address=record_from_row(CRON).address, session_id="s", status=MessageStatus.PENDING
    )
    row = record.to_row()
    assert row["envelope"] == {"recipient": "alice", "version": 2}
    back = record_from_row(row)
    assert back.message.recipient == "alice"
    assert back.to_row() == row


def test_a_note_of_a_hook_keeps_its_kind_and_source() -> None:
    note = make.hook_note("memory: likes tea", hook="memory")
    address = record_from_row(CRON).address
    row = Record(message=note, address=address, session_id="s", status=MessageStatus.RESPONDED).to_row()
    back = record_from_row(row)
    assert (back.message.kind, back.message.source.kind) == ("system_note", "hook")
    assert back.to_row() == row


def test_an_old_database_imports_with_a_report() -> None:  # C-04 C-43 D-X13
    rows: list[dict[str, Any]] = [
        {key: value for key, value in TRAJECTORY_1[0].items() if key != "id"},
        {**TRAJECTORY_1[0], "id": "a", "kind": "user_prompt", "role": "assistant"},
        {**TRAJECTORY_1[0], "id": "b", "role": "assistant", "type": "tool_call"},
        {**TRAJECTORY_1[3], "id": "c", "parent_id": None},
        {**TRAJECTORY_1[0], "id": "d", "status": "delivered"},
        {**TRAJECTORY_1[0], "id": "e", "kind": "confession"},
    ]
    records, report = import_rows(rows, origin="old.db")
    again, _ = import_rows(rows, origin="old.db")
    other, _ = import_rows(rows, origin="other.db")
    assert [each.id for each in records] == [each.id for each in again]
    assert records[0].id != other[0].id
    assert records[1].message.role == "user"
    assert (report.imported, report.derived_ids, report.forged_roles) == (2, 1, 1)
    assert [identity for identity, _ in report.refused] == ["b", "c", "d", "e"]
    reasons = dict(report.refused)
    assert "no class has this role and type" in reasons["b"]
    assert "parent_id is missing" in reasons["c"]
    assert "'delivered'" in reasons["d"]
    assert "'confession'" in reasons["e"]


@pytest.mark.parametrize("junk", [{}, {"role": 3}, {"metadata": "x", "role": "user"}, {"role": "user", "type": "text"}])
def test_junk_rows_are_refused_by_number_and_never_crash(junk: dict[str, Any]) -> None:
    records, report = import_rows([junk], origin="x")
    assert records == []
    assert report.refused[0][0] == "row 1"


def test_metadata_of_others_survives() -> None:
    row = {**TRAJECTORY_1[0], "metadata": {"discord_message_id": "9", "mood": "calm"}}
    record = record_from_row(row)
    assert record.to_row() == row
    assert record.message.metadata == freeze({"mood": "calm"})
