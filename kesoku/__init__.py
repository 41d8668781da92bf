"""Kesoku: AI bots on many platforms at once, with durable turns. The public face: message classes, enums, errors."""

from kesoku.errors import KesokuError
from kesoku.messages.enums import MessageRole, MessageStatus, MessageType
from kesoku.messages.kinds import (
    Answer,
    Notice,
    Summary,
    SystemNote,
    SystemPrompt,
    Thought,
    ToolCall,
    ToolResult,
    UserPrompt,
)
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record

__version__ = "0.1.0"

__all__ = [
    "Address",
    "Answer",
    "KesokuError",
    "Message",
    "MessageRole",
    "MessageStatus",
    "MessageType",
    "Notice",
    "Record",
    "Summary",
    "SystemNote",
    "SystemPrompt",
    "Thought",
    "ToolCall",
    "ToolResult",
    "UserPrompt",
]
