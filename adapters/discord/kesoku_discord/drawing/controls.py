"""Buttons and menus under messages: the ids that say what a press means, and their form on the wire. Pure.

An id survives restarts, so it holds all that a press needs; Discord gives it back as it was sent (100 characters).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kesoku.adapter import Button, Outgoing
from kesoku_discord.drawing.text import is_blank, one_line, size

LABEL = 80
"""UTF-16 units on a button."""
OPTION = 100
"""UTF-16 units of an option of a menu."""
SUBJECT = 80
"""Characters of a subject with which an id is still short enough."""
_ROW, _MENU, _ROWS = 5, 25, 5
_GREY, _RED = 2, 4


class Act(StrEnum):
    """What a press does."""

    ASK = "ask"
    """Answers a question of the core: `subject` is its id, `index` the choice."""
    PICK = "pick"
    """Answers a question within an answer: `index` is the choice; of a menu, its value is."""
    STOP = "stop"
    """Stops the turn `subject`."""
    RETRY = "retry"
    """Answers the turn `subject` once more."""
    CONTEXT = "context"
    """Shows what the model reads in the turn `subject`."""
    TRACE = "trace"
    """Shows how the message `subject` came about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What the id of a pressed control says."""

    act: Act
    subject: str = ""
    index: int | None = None

    def encode(self) -> str:
        """The id, at most 100 characters for subjects of up to 80."""
        return f"{self.act}:{'' if self.index is None else self.index}:{self.subject}"


def decode(custom_id: str) -> Control | None:
    """What `encode` wrote; None for the id of somebody else."""
    act, _, rest = custom_id.partition(":")
    index, mark, subject = rest.partition(":")
    if act not in set(Act) or not mark or (index and not (index.isascii() and index.isdecimal())):
        return None
    if not subject and act != Act.PICK:
        return None
    return Control(act=Act(act), subject=subject, index=int(index) if index else None)


def rows_of(outgoing: Outgoing) -> list[dict[str, Any]]:
    """The components of a part on the wire: those that it brings, and its choices, as buttons or as menus."""
    brought = list((outgoing.payload or {}).get("components", ()))
    return (brought + _asked(outgoing.buttons))[:_ROWS]


def buttons(controls: Iterable[tuple[str, Control]]) -> list[dict[str, Any]]:
    """Rows of buttons, five a row, of (label, what it does)."""
    made = [_button(label, each) for label, each in controls]
    return [{"type": 1, "components": made[at : at + _ROW]} for at in range(0, len(made), _ROW)]


def choices(labels: Sequence[str], control: Control) -> list[dict[str, Any]]:
    """The choices of a question: buttons if they are few and short, else menus, `control` with each index."""
    if len(labels) <= _ROW and all(size(label) <= LABEL for label in labels):
        return buttons((label, _with(control, index)) for index, label in enumerate(labels))
    menus = [range(at, min(at + _MENU, len(labels))) for at in range(0, len(labels), _MENU)][:_ROWS]
    return [{"type": 1, "components": [_menu(labels, each, _with(control, each.start))]} for each in menus]


def _asked(asked: Sequence[Button]) -> list[dict[str, Any]]:
    if not asked:
        return []
    return choices([each.label for each in asked], Control(act=Act.ASK, subject=asked[0].token))


def _with(control: Control, index: int) -> Control:
    return Control(act=control.act, subject=control.subject, index=index)


def _button(label: str, control: Control) -> dict[str, Any]:
    style = {Act.STOP: _RED}.get(control.act, _GREY)
    return {"type": 2, "style": style, "label": _label(label, LABEL), "custom_id": control.encode()}


def _menu(labels: Sequence[str], shown: range, control: Control) -> dict[str, Any]:
    options = [{"label": _label(labels[index], OPTION), "value": str(index)} for index in shown]
    return {"type": 3, "custom_id": control.encode(), "options": options, "min_values": 1, "max_values": 1}


def _label(text: str, limit: int) -> str:
    """One line of which something is seen: Discord takes no empty label."""
    return "…" if is_blank(text) else one_line(text, limit)
