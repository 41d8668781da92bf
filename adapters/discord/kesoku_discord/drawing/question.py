"""Questions with their choices as buttons or menus, and as numbers where those cannot show them. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from kesoku.adapter import Button, Outgoing, Question
from kesoku.render import Code, unparse, visible
from kesoku.render import Question as Asked
from kesoku_discord.drawing.controls import OPTION, Act, Control, choices
from kesoku_discord.drawing.split import fitted
from kesoku_discord.drawing.text import is_blank, size

MOST = 125
"""Choices that fit into the menus of one message."""
_ENDING = 160
"""UTF-16 units that are left for how it ended."""
_CHOOSE = "Please choose:"


def picked(asked: Asked) -> tuple[Outgoing, ...]:
    """A question within an answer; whatever is pressed is what the person says next."""
    shown = tuple(Outgoing(text=text) for text in fitted(_numbered(asked.text.strip(), asked.choices)))
    if not 0 < len(asked.choices) <= MOST:
        return shown
    return (*shown[:-1], replace(shown[-1], payload={"components": choices(asked.choices, Control(act=Act.PICK))}))


def pressed(text: str, question: Question) -> tuple[Outgoing, ...]:
    """A question of the core, under the text of its notice, with its deadline.

    The first line is Markdown; what stands below it, such as what a tool would be called with, is shown verbatim, so
    that nothing in there looks like anything else.
    """
    first, _, below = text.strip().partition("\n")
    verbatim = f"{first}\n{unparse((Code(text=visible(below)),))}" if below.strip() else first
    deadline = "" if question.deadline is None else f"-# Deadline: <t:{int(question.deadline)}:R>"
    texts = fitted(_numbered(verbatim, question.choices), below=deadline, spare=_ENDING)
    shown = tuple(Outgoing(text=each) for each in texts)
    if len(question.choices) > MOST:
        return shown
    buttons = tuple(Button(label=each, token=question.id, value=each) for each in question.choices)
    return (*shown[:-1], replace(shown[-1], buttons=buttons))


def _numbered(text: str, labels: Sequence[str]) -> str:
    """The text, with the choices below it where buttons and menus cannot show them whole, or not all of them."""
    text = _CHOOSE if is_blank(text) else text
    if len(labels) <= MOST and all(size(label) <= OPTION for label in labels):
        return text
    return "\n".join((text, *(f"{number}. {label}" for number, label in enumerate(labels, start=1))))
