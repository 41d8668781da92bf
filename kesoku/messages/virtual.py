"""Entries that are shown beside a history without being stored in it (K-094, K-123)."""

from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import SYSTEM_ADDRESS, Record


def system_entry(text: str) -> Record:
    """The system prompt as people may look at it: an entry of the system's own address, in no session."""
    return Record(
        message=make.system_prompt(text), address=SYSTEM_ADDRESS, session_id="system", status=MessageStatus.RESPONDED
    )
