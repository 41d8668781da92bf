"""adapter-contract.md: everything between the core and an adapter."""

from pages.markdown import line, members, prose, protocol, table, tree, value

from kesoku.adapter import command, event, manifest, outgoing, spi
from kesoku.errors import Ambiguous, Hold, LoginNeeded, Refused, RetryLater
from kesoku.messages.visibility import Presentation, Visibility
from kesoku.ports import Finding

_INTRO = """
Import all of it from `kesoku.adapter`. A whole adapter is shown in [write an adapter](../how-to/write-an-adapter.md).
"""
_SELF = (manifest.Manifest, manifest.Capabilities, manifest.AdapterConfig, manifest.Pace, Finding)
_HEARD = (event.Principal, event.Prompt, event.Edited, event.Deleted, event.Pressed, event.Command)
_SENT = (
    outgoing.RenderContext,
    outgoing.Outgoing,
    outgoing.OutgoingFile,
    outgoing.Button,
    outgoing.Receipt,
    outgoing.Draft,
    outgoing.Tick,
    outgoing.TurnEnd,
)
_GIVEN = (spi.Inbox, spi.State)
_LISTED = (command.CommandSpec, command.Argument)


def contract() -> str:
    """The page."""
    offered = [getattr(spi, name) for name in spi.__all__]
    offered.sort(key=lambda each: tree(each).lineno)
    optional = [each for each in offered if each not in {spi.Adapter, *_GIVEN}]
    failures = (RetryLater, Refused, Ambiguous, Hold, LoginNeeded)
    errors = table("error", "meaning", rows=((f"`{each.__name__}`", line(each.__doc__)) for each in failures))
    parts = (
        ("What an adapter says about itself", "\n".join(map(value, _SELF))),
        ("Who sees what", f"{value(Visibility)}\n### Presentation\n\n{members(Presentation)}"),
        ("What every adapter has", protocol(spi.Adapter)),
        ("How sending fails", errors),
        ("What the core gives", "\n".join([*map(protocol, _GIVEN), *map(value, _LISTED)])),
        ("What an adapter may have", "\n".join(map(protocol, optional))),
        ("What comes in", "\n".join(map(value, _HEARD))),
        ("What goes out", "\n".join(map(value, _SENT))),
    )
    head = f"# The adapter contract\n\n{prose(spi.__doc__).partition(chr(10))[2].strip()}\n{_INTRO}"
    return "\n".join([head, *(f"## {title}\n\n{body}" for title, body in parts)])
