"""What the config says about limits is what each room decides by."""

from typing import Any

import pytest
from pydantic import ValidationError

from kesoku.adapter.policy import DeliveryPolicy, IntakePolicy
from kesoku.agent.limits import TurnLimits
from kesoku.app import policy
from kesoku.config import Config
from kesoku.gateway.policy import Busy, BusyPolicy, FloodBounds, InterruptBy


def test_by_default_everything_is_as_the_rooms_have_it() -> None:
    config = Config()
    assert policy.busy_policy(config) == BusyPolicy()
    assert policy.flood_bounds(config) == FloodBounds()
    assert policy.intake_policy(config) == IntakePolicy()
    assert policy.delivery_policy(config) == DeliveryPolicy()
    assert policy.turn_limits(config) == TurnLimits(history_tokens=config.agent.context_tokens)


def test_every_setting_arrives() -> None:
    agent = {"max_steps": 3, "max_seconds": 4, "approval_seconds": 5, "tool_output_limit": 1024, "context_tokens": 1000}
    config = Config.model_validate(
        {
            "agent": {**agent, "busy": "queue", "interrupt_by": "same_sender"},
            "limits": {
                "per_person_per_minute": 1,
                "per_channel_per_minute": 2,
                "queued_per_channel": 3,
                "queued_total": 4,
            },
            "delivery": {"max_age_hours": 0.5, "live_every_seconds": 3},
        }
    )
    limits = TurnLimits(steps=3, seconds=4.0, approval_seconds=5.0, tool_output=1024, history_tokens=1000)
    assert policy.turn_limits(config) == limits
    assert policy.busy_policy(config) == BusyPolicy(busy=Busy.QUEUE, interrupt_by=InterruptBy.SAME_SENDER)
    bounds = policy.flood_bounds(config)
    assert bounds == FloodBounds(
        per_person_per_minute=1, per_channel_per_minute=2, queued_per_channel=3, queued_total=4
    )
    assert policy.intake_policy(config) == IntakePolicy(per_person_per_minute=1)
    assert policy.delivery_policy(config) == DeliveryPolicy(max_age=1800.0, live_every=3.0)


@pytest.mark.parametrize(
    "tables",
    [
        {"agent": {"approval_seconds": 0}},
        {"agent": {"approval_seconds": 86_401}},
        {"delivery": {"live_every_seconds": 0}},
        {"delivery": {"live_every_seconds": 61}},
    ],
)
def test_times_that_make_no_sense_are_refused(tables: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate(tables)
