"""What a hook is told: one event with its message, as JSON."""

import json
from dataclasses import dataclass

from kesoku.hooks.filter import event_of
from kesoku.messages.lifecycle import Change
from kesoku.render.mask import NOTHING, Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One event on its way to one hook. The same event always has the same `message_id` and `event_seq`."""

    hook: str
    event: str
    event_seq: int
    message_id: str
    body: bytes
    """JSON in ASCII."""


def call_of(hook: str, change: Change, mask: Mask = NOTHING) -> Call:
    """The call that tells a hook of a change. `message` is the record as it stands when it is read, masked."""
    event = event_of(change) or ""
    body = {
        "hook": hook,
        "event": event,
        "event_seq": change.seq,
        "at": change.at / 1_000_000,
        "before": change.before,
        "after": change.after,
        "actor": change.actor,
        "reason": change.reason,
        "message": mask.value(change.record.to_dict()),
    }
    return Call(
        hook=hook,
        event=event,
        event_seq=change.seq,
        message_id=change.record.id,
        body=json.dumps(body).encode("ascii"),
    )
