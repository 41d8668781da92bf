"""The three axes of a message: who said it, what it is, and where it stands (seed 004 section 2)."""

from enum import StrEnum


class MessageRole(StrEnum):
    """Who a message speaks for. `action` is read as `tool` (decision C-05)."""

    SYSTEM = "system"
    """The master prompt, notes of the machinery, nudges, summaries."""
    USER = "user"
    """A person, a cron trigger, or a simulated prompt; never the agent."""
    ASSISTANT = "assistant"
    """Thoughts, answers, and notices for people."""
    TOOL = "tool"
    """A tool call, or the output of one."""
    ACTION = TOOL
    UNSET = "unset"
    """A routed message that is no turn of a conversation."""

    @classmethod
    def _missing_(cls, value: object) -> "MessageRole | None":
        return cls.TOOL if value == "action" else None


CONVERSATIONAL_ROLES = frozenset({MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL})
"""The roles that a stored message of a conversation may have."""


class MessageType(StrEnum):
    """What a message is."""

    TEXT = "text"
    """Dialogue for people, or plain input for the model."""
    THOUGHT = "thought"
    """Reasoning of the assistant before it acts."""
    TOOL_CALL = "tool_call"
    """A request to run a tool."""
    TOOL_RESULT = "tool_result"
    """What a tool returned, or how it failed."""


class MessageStatus(StrEnum):
    """Where a message stands. Moves only along `status.TRANSITIONS`."""

    PENDING_AGENT = "pending_agent"
    """Queued, waits for a worker of its session."""
    PROCESSING = "processing"
    """Held by exactly one worker."""
    PROCESSED = "processed"
    """Its final answer is stored."""
    INTERRUPTED = "interrupted"
    """Ended in the middle, by a newer message or a command."""
    ERROR = "error"
    """Halted: no session, an unrecoverable crash, or refused by the platform for good."""
    PENDING = "pending"
    """Going out, waits for its adapter."""
    DELIVERED = "delivered"
    """Shown on the platform, or hidden there on purpose."""
    RESPONDED = "responded"
    """Internal, complete without delivery."""


INBOUND_STATUSES = frozenset(
    {
        MessageStatus.PENDING_AGENT,
        MessageStatus.PROCESSING,
        MessageStatus.PROCESSED,
        MessageStatus.INTERRUPTED,
        MessageStatus.ERROR,
    }
)
"""The life of what comes in."""

OUTBOUND_STATUSES = frozenset({MessageStatus.PENDING, MessageStatus.DELIVERED, MessageStatus.RESPONDED})
"""The life of what goes out or stays inside."""
