"""Seed 004 sections 2 and 3, typed in a second time and held against the code."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import (
    CONVERSATIONAL_ROLES,
    INBOUND_STATUSES,
    OUTBOUND_STATUSES,
    MessageRole,
    MessageStatus,
    MessageType,
)
from kesoku.messages.freeze import freeze
from kesoku.messages.kinds import CATEGORIES, KINDS, category_of
from kesoku.messages.message import Message
from kesoku.messages.record import SYSTEM_ADDRESS, Address, Record
from kesoku.messages.status import TRANSITIONS, sources_of

HERE = Address(chatbot_id="discord", channel_id="1")
CALL = make.tool_call("web_search", {"query": "Tokyo weather"}, provider="p", model="m")
RESULT = make.respond(CALL, "[STDOUT] Tokyo: Sunny, 24°C")[1]


def placed(message: Message, **more: Any) -> Record:
    address = SYSTEM_ADDRESS if message.kind == "system_prompt" else HERE
    return Record(message=message, address=address, session_id="s", status=category_of(message).status, **more)


def test_the_three_enumerations() -> None:  # K-001 K-002 K-003 K-004
    assert {role.value for role in CONVERSATIONAL_ROLES} == {"user", "assistant", "tool", "system"}
    assert {each.value for each in MessageType} == {"text", "thought", "tool_call", "tool_result"}
    inbound = {"pending_agent", "processing", "processed", "interrupted", "error"}
    outbound = {"pending", "delivered", "responded"}
    assert {each.value for each in MessageStatus} == inbound | outbound
    assert {each.value for each in INBOUND_STATUSES} == inbound
    assert {each.value for each in OUTBOUND_STATUSES} == outbound


def test_action_is_read_as_tool() -> None:
    assert MessageRole("action") is MessageRole.TOOL


ROLE_AND_TYPE = {
    "message": ("unset", None),
    "system_prompt": ("system", "text"),
    "user_prompt": ("user", "text"),
    "system_note": ("system", "text"),
    "thought": ("assistant", "thought"),
    "answer": ("assistant", "text"),
    "notice": ("assistant", "text"),
    "tool_call": ("tool", "tool_call"),
    "tool_result": ("tool", "tool_result"),
    "summary": ("system", "text"),
}


def test_role_and_type_are_fixed_by_the_class() -> None:  # K-005..K-011
    assert {kind: (each.role.value, each.type and each.type.value) for kind, each in KINDS.items()} == ROLE_AND_TYPE


# title: maker, role, type, sender, first status, metadata; the place of each is told by the turns that post it
CATEGORY: dict[str, tuple[Callable[[], Message], str, str, str, str, dict[str, Any]]] = {
    "standard user message": (  # K-021 K-022 K-024
        lambda: make.user_prompt(
            "What is the weather in Tokyo?",
            author="Chii",
            platform_ids={"discord_message_id": "77"},
            attachments=[Attachment(name="data.csv", path="staging/data.csv", mime_type="text/csv", size=3)],
        ),
        "user",
        "text",
        "Chii",
        "pending_agent",
        {
            "discord_message_id": "77",
            "attachments": [{"name": "data.csv", "path": "staging/data.csv", "mime_type": "text/csv", "size": 3}],
        },
    ),
    "cron trigger": (  # K-025 K-026 K-028
        lambda: make.cron_prompt("Run status diagnostics"),
        "user",
        "text",
        "Cronjob",
        "pending_agent",
        {"is_cronjob": True},
    ),
    "compaction trigger": (  # K-030 K-032
        make.compaction_prompt,
        "user",
        "text",
        "System",
        "pending_agent",
        {"is_compaction": True},
    ),
    "assistant thought": (  # K-033 K-034 K-036
        lambda: make.thought("I need to check.", provider="p", model="m"),
        "assistant",
        "thought",
        "Kesoku",
        "responded",
        {},
    ),
    "assistant final text": (  # K-037 K-038
        lambda: make.answer("Sunny.", provider="p", model="m"),
        "assistant",
        "text",
        "Kesoku",
        "pending",
        {},
    ),
    "tool call": (  # K-041 K-042 K-044
        lambda: CALL,
        "tool",
        "tool_call",
        "Kesoku",
        "responded",
        {"tool_name": "web_search", "tool_arguments": {"query": "Tokyo weather"}},
    ),
    "tool result": (  # K-045 K-046 K-048
        lambda: RESULT,
        "tool",
        "tool_result",
        "web_search",
        "responded",
        {"tool_name": "web_search", "tool_result": "[STDOUT] Tokyo: Sunny, 24°C"},
    ),
    "system prompt": (  # K-050 K-052
        lambda: make.system_prompt("# System Instructions\nYou are Kesoku..."),
        "system",
        "text",
        "System",
        "responded",
        {},
    ),
    "background wakeup alert": (  # K-054 K-056
        lambda: make.wakeup("job_123", "exit 0"),
        "system",
        "text",
        "System",
        "pending_agent",
        {},
    ),
    "nudge": (make.nudge, "system", "text", "System", "responded", {}),  # K-057 K-058 K-060
    "user-facing notification": (  # K-061 K-062 K-064
        lambda: make.notice("🔄 Conversation history has been automatically compacted"),
        "assistant",
        "text",
        "Notification",
        "pending",
        {},
    ),
    "system error notification": (  # K-065 K-066 K-068
        lambda: make.error_answer("boom"),
        "assistant",
        "text",
        "Kesoku",
        "pending",
        {},
    ),
}


@pytest.mark.parametrize("title", CATEGORY)
def test_every_category_starts_as_the_table_says(title: str) -> None:
    maker, role, kind_type, author, status, metadata = CATEGORY[title]
    record = placed(maker())
    row = record.to_row()
    assert (row["role"], row["type"], row["sender"], row["status"]) == (role, kind_type, author, status)
    assert record.metadata == metadata
    assert "envelope" not in row
    assert category_of(record.message).title == title


def test_the_table_has_exactly_these_twelve_rows() -> None:
    assert [each.title for each in CATEGORIES.values()] == list(CATEGORY)


def test_texts_that_the_seed_fixes() -> None:  # K-068 K-069 K-070 K-071 K-032 K-232
    assert CALL.content.summary == "Calling tool web_search with args: {'query': 'Tokyo weather'}"
    expected = 'Calling tool `web_search` with arguments:\n```json\n{\n  "query": "Tokyo weather"\n}\n```'
    assert CALL.rendered == expected
    assert make.wakeup("job_123", "x").rendered.startswith("[System Alert] Background Job job_123 finished")
    assert make.nudge().rendered.startswith("Your previous response had empty content.")
    begins = "⚠️ An error occurred while processing your request:"
    assert make.error_answer("x").rendered.startswith(begins)
    begins = "[System Notification] The user manually requested compaction"
    assert make.compaction_prompt().rendered.startswith(begins)


def test_a_failed_result_is_told_apart_and_carries_the_trace() -> None:  # K-012
    trace = "Traceback (most recent call last):\nValueError: no"
    failed = make.respond(CALL, error=trace)[1]
    assert not failed.content.success
    assert trace in failed.rendered
    assert RESULT.content.success


def test_turn_metrics_are_facts_of_the_answer() -> None:  # K-040
    record = placed(make.answer("x", provider="p", model="m"), facts=freeze({"turn_metrics": {"turn_time": 2.1}}))
    assert record.metadata == {"turn_metrics": {"turn_time": 2.1}}


ALLOWED = {  # K-132
    "pending_agent": {"processing", "interrupted", "error"},
    "processing": {"processed", "interrupted", "error", "pending_agent"},
    "pending": {"delivered", "error"},
    "responded": {"delivered", "interrupted"},
    "delivered": {"interrupted"},
    "processed": set(),
    "interrupted": set(),
    "error": set(),
}


@pytest.mark.parametrize(("start", "to"), list(product(MessageStatus, MessageStatus)))
def test_transitions_are_exactly_the_diagram(start: MessageStatus, to: MessageStatus) -> None:
    assert (to in TRANSITIONS[start]) is (to.value in ALLOWED[start.value])
    assert (start in sources_of(to)) is (to in TRANSITIONS[start])
