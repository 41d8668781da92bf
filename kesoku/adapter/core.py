"""What every bot of a process shares: the ports, and the limits that the config sets."""

from dataclasses import dataclass, field

from kesoku.adapter.command import CommandRegistry, NoCommands
from kesoku.adapter.composer import Roots
from kesoku.adapter.drafts import DraftBoard
from kesoku.adapter.policy import DeliveryPolicy, IntakePolicy
from kesoku.adapter.staging import Staging
from kesoku.ports import Clock, Gateway, Store
from kesoku.render.mask import NOTHING, Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """Handed to the inbox and the outbox of each bot."""

    store: Store
    gateway: Gateway
    clock: Clock
    staging: Staging
    roots: Roots
    drafts: DraftBoard = field(default_factory=DraftBoard)
    commands: CommandRegistry = field(default_factory=NoCommands)
    delivery: DeliveryPolicy = field(default_factory=DeliveryPolicy)
    intake: IntakePolicy = field(default_factory=IntakePolicy)
    mask: Mask = NOTHING
    """Keeps known secrets out of the arguments of tool calls that adapters show."""
