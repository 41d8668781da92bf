"""Rows without a kind: which class of message a flat row of an older database is (decisions C-04 and C-43)."""

from collections.abc import Mapping
from typing import Any

from kesoku.messages import phrase
from kesoku.messages.enums import INBOUND_STATUSES

PAIRS = "user text, assistant text, assistant thought, tool tool_call, tool tool_result and system text"
"""The roles and types that such a row may have, for people."""
_NOTE_STARTS = {phrase.ALERT: "job", phrase.EMPTY: "nudge"}


def kind_of_row(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """(kind, source kind) by role, type, sender, metadata and status; None where the row fits nothing."""
    role = "tool" if row.get("role") == "action" else row.get("role")
    match (role, row.get("type")):
        case ("user", "text"):
            return "user_prompt", _prompt_source(row)
        case ("assistant", "thought"):
            return "thought", "model"
        case ("assistant", "text"):
            return _assistant_text(row)
        case ("tool", "tool_call"):
            return "tool_call", "model"
        case ("tool", "tool_result"):
            return "tool_result", "tool"
        case ("system", "text"):
            return _system_text(row)
    return None


def _prompt_source(row: Mapping[str, Any]) -> str:
    metadata = row.get("metadata") or {}
    if metadata.get("is_cronjob") or any(str(key).endswith("_cronjob") for key in metadata):
        return "cron"
    return "command" if metadata.get("is_compaction") else "user"


def _assistant_text(row: Mapping[str, Any]) -> tuple[str, str]:
    if row.get("sender") == "Notification":
        return "notice", "notice"
    return "answer", "error" if str(row.get("content") or "").startswith(phrase.ERROR) else "model"


def _system_text(row: Mapping[str, Any]) -> tuple[str, str] | None:
    if row.get("chatbot_id") == "system":
        return "system_prompt", "system"
    content = str(row.get("content") or "")
    for start, source in _NOTE_STARTS.items():
        if content.startswith(start):
            return "system_note", source
    # A system row that no known text begins: what waits for the agent is an alert, the rest was said to the model.
    if row.get("status") in INBOUND_STATUSES:
        return "system_note", "job"
    return ("system_note", "nudge") if row.get("status") == "responded" else None
