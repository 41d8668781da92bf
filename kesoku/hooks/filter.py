"""Which changes a hook is told of: words for what happened, bots and channels."""

from collections.abc import Collection
from dataclasses import dataclass

from kesoku.config.hook_event import HOOK_EVENTS, HookEvent
from kesoku.messages.lifecycle import IMPORTER, Change


def event_of(change: Change) -> str | None:
    """The word for a change; None for one that has none, such as the link between a call and its result."""
    return next((each.word for each in HOOK_EVENTS if _names(each, change)), None)


def _names(event: HookEvent, change: Change) -> bool:
    return (
        change.kind == event.change
        and change.record.kind in event.kinds
        and event.source in {"", change.record.message.source.kind}
        and event.after in {"", change.after}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a hook wants to hear of. No bots and no channels mean all of them; else either may say yes."""

    events: Collection[str]
    bots: Collection[str] = ()
    channels: Collection[str] = ()

    def accepts(self, change: Change) -> bool:
        """Whether the hook is told of this change; what was imported is no news."""
        if change.actor == IMPORTER or event_of(change) not in self.events:
            return False
        address = change.record.address
        everywhere = not self.bots and not self.channels
        return everywhere or address.chatbot_id in self.bots or str(address) in self.channels
