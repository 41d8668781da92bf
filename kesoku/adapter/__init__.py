"""The public face for adapters: everything that an adapter may import from the core, and nothing else.

An adapter imports `kesoku`, this, and `kesoku.render`. Importing this module has no effect and loads no
store, no gateway and no platform SDK.
"""

from kesoku.adapter.command import Argument, Choice, CommandRegistry, CommandSpec, Invocation
from kesoku.adapter.event import Command, Deleted, Edited, Event, Pressed, Principal, Prompt
from kesoku.adapter.manifest import (
    AdapterConfig,
    AdapterFactory,
    Capabilities,
    Manifest,
    Pace,
)
from kesoku.adapter.outgoing import (
    Button,
    Draft,
    Outgoing,
    OutgoingFile,
    Receipt,
    RenderContext,
    Tick,
    TurnEnd,
)
from kesoku.adapter.spi import (
    Adapter,
    Answers,
    ClosesQuestions,
    Deletes,
    Edits,
    Finds,
    HearsDelivered,
    HearsInterrupted,
    Inbox,
    Live,
    Plans,
    ShowsDrafts,
    State,
    Typing,
)
from kesoku.errors import Ambiguous, DeliveryError, Hold, LoginNeeded, Refused, RetryLater
from kesoku.messages.content import Attachment, Question
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address, Record
from kesoku.messages.visibility import Presentation, Visibility
from kesoku.ports import Finding, Severity

__all__ = [
    "Adapter",
    "AdapterConfig",
    "AdapterFactory",
    "Address",
    "Ambiguous",
    "Answers",
    "Argument",
    "Attachment",
    "Button",
    "Capabilities",
    "Choice",
    "ClosesQuestions",
    "Command",
    "CommandRegistry",
    "CommandSpec",
    "Deleted",
    "Deletes",
    "DeliveryError",
    "Draft",
    "Edited",
    "Edits",
    "Event",
    "Finding",
    "Finds",
    "HearsDelivered",
    "HearsInterrupted",
    "Hold",
    "Inbox",
    "Invocation",
    "Live",
    "LoginNeeded",
    "Manifest",
    "Outgoing",
    "OutgoingFile",
    "Pace",
    "Plans",
    "Presentation",
    "Pressed",
    "Principal",
    "Prompt",
    "Question",
    "Receipt",
    "Recent",
    "Record",
    "Refused",
    "RenderContext",
    "RetryLater",
    "Severity",
    "ShowsDrafts",
    "State",
    "Tick",
    "TurnEnd",
    "Typing",
    "Visibility",
]
