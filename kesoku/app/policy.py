"""The limits that the config sets, as the values that each room decides by."""

from kesoku.adapter.policy import DeliveryPolicy, IntakePolicy
from kesoku.agent.limits import TurnLimits
from kesoku.config import Config
from kesoku.gateway.policy import Busy, BusyPolicy, FloodBounds, InterruptBy


def turn_limits(config: Config) -> TurnLimits:
    """How far a turn may go."""
    agent = config.agent
    return TurnLimits(
        steps=agent.max_steps,
        seconds=agent.max_seconds,
        tool_output=agent.tool_output_limit,
        history_tokens=agent.context_tokens,
        approval_seconds=agent.approval_seconds,
    )


def busy_policy(config: Config) -> BusyPolicy:
    """How a prompt meets a running turn."""
    return BusyPolicy(busy=Busy(config.agent.busy), interrupt_by=InterruptBy(config.agent.interrupt_by))


def flood_bounds(config: Config) -> FloodBounds:
    """How much is taken in."""
    limits = config.limits
    return FloodBounds(
        per_person_per_minute=limits.per_person_per_minute,
        per_channel_per_minute=limits.per_channel_per_minute,
        queued_per_channel=limits.queued_per_channel,
        queued_total=limits.queued_total,
    )


def intake_policy(config: Config) -> IntakePolicy:
    """How messages of people are taken in."""
    return IntakePolicy(
        file_bytes=config.limits.file_bytes,
        per_person_per_minute=config.limits.per_person_per_minute,
        timezone=config.timezone,
        timezone_label=config.timezone_label,
    )


def delivery_policy(config: Config) -> DeliveryPolicy:
    """How messages are brought out."""
    delivery = config.delivery
    return DeliveryPolicy(max_age=delivery.max_age_hours * 3600, live_every=delivery.live_every_seconds)
