"""Every port of the core: what a room may ask of another, with pre-condition, result and error.

The wings (store, gateway, agent, adapter, llm, exchange) never import each other; they meet here.
"""

from kesoku.ports.agent import Approver, ChatModel, Clock, Commands, Drafts
from kesoku.ports.gateway import Exchange, Gateway, Subscription
from kesoku.ports.store import (
    DeliveryStore,
    EventLog,
    LeaseStore,
    MailStore,
    MessageStore,
    QuestionStore,
    SessionStore,
    StateStore,
    StepStore,
    Store,
    Transaction,
)

__all__ = [
    "Approver",
    "ChatModel",
    "Clock",
    "Commands",
    "DeliveryStore",
    "Drafts",
    "EventLog",
    "Exchange",
    "Gateway",
    "LeaseStore",
    "MailStore",
    "MessageStore",
    "QuestionStore",
    "SessionStore",
    "StateStore",
    "StepStore",
    "Store",
    "Subscription",
    "Transaction",
]
