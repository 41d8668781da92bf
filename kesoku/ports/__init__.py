"""Every port of the core: what a room may ask of another, with pre-condition, result and error.

The wings (store, gateway, agent, adapter, llm) never import each other; they meet here.
"""

from kesoku.ports.agent import Approver, ChatModel, Clock, Drafts
from kesoku.ports.archive import Archive
from kesoku.ports.branch import BranchStore, RequestStore
from kesoku.ports.finding import Finding, Severity
from kesoku.ports.gateway import Choose, Gateway, Subscription
from kesoku.ports.hook import HookStore
from kesoku.ports.ledger import DeliveryStore, QuestionStore, StateStore
from kesoku.ports.mail import MailStore
from kesoku.ports.store import (
    EventLog,
    LeaseStore,
    MessageStore,
    SessionStore,
    StepStore,
    Store,
    Transaction,
)

__all__ = [
    "Approver",
    "Archive",
    "BranchStore",
    "ChatModel",
    "Choose",
    "Clock",
    "DeliveryStore",
    "Drafts",
    "EventLog",
    "Finding",
    "Gateway",
    "HookStore",
    "LeaseStore",
    "MailStore",
    "MessageStore",
    "QuestionStore",
    "RequestStore",
    "SessionStore",
    "Severity",
    "StateStore",
    "StepStore",
    "Store",
    "Subscription",
    "Transaction",
]
