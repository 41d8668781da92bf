"""Mail between sessions and agents: who gets it, what could not be delivered, and why."""

from kesoku.exchange.durable import StoreExchange
from kesoku.exchange.exchange import Exchange
from kesoku.exchange.memory import MemoryMailStore

__all__ = ["Exchange", "MemoryMailStore", "StoreExchange"]
