"""The gateway: the lifecycle of messages over a store, and who serves what."""

from kesoku.gateway.gateway import StoreGateway
from kesoku.gateway.policy import Busy, BusyPolicy, FloodBounds, InterruptBy
from kesoku.gateway.presence import Presence
from kesoku.gateway.prompts import Prompts

__all__ = ["Busy", "BusyPolicy", "FloodBounds", "InterruptBy", "Presence", "Prompts", "StoreGateway"]
