"""Every command of this process, wired to what it acts on."""

from collections.abc import Sequence

from kesoku.adapter.staging import Staging
from kesoku.agent.budget import Budget
from kesoku.agent.view import Viewer
from kesoku.commands.branching import Branching
from kesoku.commands.compact import Compact
from kesoku.commands.context import Context
from kesoku.commands.conversation import Conversation
from kesoku.commands.export import Export
from kesoku.commands.hooks import HookCommand
from kesoku.commands.look import Look
from kesoku.commands.mail import Mail
from kesoku.commands.pair import Pair
from kesoku.commands.queue import Queue
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry, SlashCommand
from kesoku.commands.why import Why
from kesoku.ports import Clock, Gateway, Store
from kesoku.render.mask import Mask


def registry(
    *,
    gateway: Gateway,
    store: Store,
    clock: Clock,
    viewer: Viewer,
    budget: Budget,
    staging: Staging,
    hooks: Sequence[str],
    mask: Mask,
) -> Registry:
    """All commands, in the order in which /help lists them. `hooks` are the names of the configured event hooks, `mask`
    knows the secrets that nobody is shown."""
    conversation = Conversation(
        gateway=gateway,
        store=store,
        clock=clock,
        viewer=viewer,
        budget=budget,
    )
    more: dict[str, Sequence[SlashCommand]] = {
        "What the model reads": (
            *Context(gateway=gateway, store=store, clock=clock, viewer=viewer, mask=mask).commands(),
            *Compact(gateway=gateway, store=store, viewer=viewer).commands(),
        ),
        "Another way to go on": Branching(gateway=gateway, store=store, clock=clock).commands(),
        "What waits": Queue(gateway=gateway, store=store, clock=clock).commands(),
        "What was said": (
            *Look(store=store, viewer=viewer, mask=mask).commands(),
            *Why(store=store, mask=mask).commands(),
            *Export(store=store, viewer=viewer, staging=staging, mask=mask).commands(),
            *Redact(store=store, clock=clock, folder=staging.folder, mask=mask).commands(),
        ),
        "Other conversations": Mail(store=store, clock=clock).commands(),
        "People": Pair(store=store, clock=clock).commands(),
        "Event hooks": (HookCommand(hooks, store=store, clock=clock).command(),),
    }
    return Registry(conversation.commands(more))
