"""Mailboxes, and what lies in them."""

from typing import Protocol


class MailStore(Protocol):
    """Mail between sessions and agents as one transaction sees it."""
