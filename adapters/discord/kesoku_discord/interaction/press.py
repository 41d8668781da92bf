"""Presses of buttons and choices in menus: answers to questions, and commands on a message."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import discord

from kesoku import UserSource
from kesoku.adapter import Inbox, Pressed, Prompt, Record
from kesoku_discord.channels import configured
from kesoku_discord.config import ChannelConfig, DiscordConfig
from kesoku_discord.drawing import closing
from kesoku_discord.drawing.controls import Act, Control, decode
from kesoku_discord.inbound.intake import MESSAGE_ID
from kesoku_discord.interaction.command import command_of, run
from kesoku_discord.interaction.origin import key_of, person_of, place_of
from kesoku_discord.interaction.reply import Reply

COMMANDS: Mapping[Act, str] = {Act.STOP: "stop", Act.RETRY: "retry", Act.CONTEXT: "context", Act.TRACE: "why"}
"""The command of the core that a button gives, with the message as its argument."""
PRESS = "discord_interaction_id"
"""The metadata cell of a prompt that says which press made it."""
_UNUSED = "This button is no longer in use."


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """One press: what it was done on, and how the person is answered."""

    chatbot_id: str
    config: DiscordConfig
    interaction: discord.Interaction
    reply: Reply

    @property
    def message(self) -> discord.Message:
        """The message with the button."""
        if self.interaction.message is None:
            raise LookupError("a press without a message")
        return self.interaction.message

    @property
    def data(self) -> Mapping[str, Any]:
        """What Discord says about it."""
        return self.interaction.data or {}

    @property
    def channel(self) -> ChannelConfig:
        """What is configured where it was done."""
        here = self.interaction
        return configured(self.config, here.channel_id or 0, here.channel) or ChannelConfig()

    def index(self, control: Control) -> int | None:
        """The number of the choice: of the button, or of what was chosen in a menu."""
        chosen = next(iter(self.data.get("values") or ()), "")
        return int(chosen) if chosen.isascii() and chosen.isdecimal() else control.index

    def event(self, token: str, index: int | None) -> Pressed:
        """The event for the core."""
        return Pressed(
            key=key_of(self.interaction),
            address=place_of(self.chatbot_id, self.interaction),
            principal=person_of(self.interaction),
            token=token,
            index=index,
        )


async def press(inbox: Inbox, pressed: Press) -> None:
    """Do what a button says, and answer the person."""
    control = decode(str(pressed.data.get("custom_id", "")))
    if control is None:
        await pressed.reply.think()
        await pressed.reply.try_to_say(_UNUSED)
    elif control.act is Act.ASK:
        await pressed.reply.acknowledge()
        await _ask(inbox, pressed, pressed.event(control.subject, pressed.index(control)))
    elif control.act is Act.PICK:
        await pressed.reply.acknowledge()
        await _pick(inbox, pressed, pressed.index(control))
    else:
        await pressed.reply.think()
        arguments = {"message": control.subject}
        given = command_of(pressed.chatbot_id, pressed.interaction, COMMANDS[control.act], arguments)
        await run(inbox, given, pressed.reply)


async def _ask(inbox: Inbox, pressed: Press, event: Pressed) -> None:
    """Answer a question of the core, which says who may, takes one answer only, and draws the message again.

    That it was taken shows in what the core returns: the notice with the question. Else its words are for the person.
    """
    records = await inbox.accept([event])
    if pressed.reply.kept and not any(_asks(record) for record in records):
        await pressed.reply.try_to_say(pressed.reply.kept)


async def _pick(inbox: Inbox, pressed: Press, index: int | None) -> None:
    """Answer a question out of an answer, as if the person had written the choice; once, whoever is first.

    What the model asked is no command and answers no question of the core, whatever its choices are called: the text
    with its header is all that the core reads.
    """
    event = pressed.event("", index)
    if not await inbox.allowed(event.principal, event.address):
        await _ask(inbox, pressed, event)  # there is none: the core turns the person away, in its own words
        return
    channel, message_id, label = pressed.channel, str(pressed.message.id), dict(_labels(pressed.message)).get(index)
    if label is None:
        await pressed.reply.try_to_say(_UNUSED)
        return
    prompt = Prompt(
        keys=(f"pick:{message_id}",),
        address=event.address,
        principal=event.principal,
        text=inbox.header(event.principal, pressed.interaction.created_at, mention=True) + _numbered(label, index),
        platform_ids={MESSAGE_ID: message_id, PRESS: str(pressed.interaction.id)},
        reply_to=message_id,
        model=channel.model,
        role=channel.role,
    )
    for record in await inbox.accept([prompt]):
        await _picked(pressed, record)


async def _picked(pressed: Press, record: Record) -> None:
    """Show who picked what; and say so to a person who came too late. A notice that refuses stands in the channel."""
    if record.kind != "user_prompt":
        return
    said = record.message.text.partition("\n")[2]
    await pressed.reply.redraw(closing.picked(pressed.message.content, record.message.author, said))
    source = record.message.source
    if not isinstance(source, UserSource) or source.platform_ids.get(PRESS) != str(pressed.interaction.id):
        await pressed.reply.try_to_say(f"Already answered: {closing.chose(record.message.author, said)}")


def _asks(record: Record) -> bool:
    return getattr(record.message.content, "question", None) is not None


def _numbered(label: str, index: int | None) -> str:
    """The label; behind its number where it was too long for a button, and stands in full in the text."""
    return label if index is None or not label.endswith("…") else f"{index + 1}. {label}"


def _labels(message: discord.Message) -> Iterator[tuple[int | None, str]]:
    """What stands on the buttons, or in the menus, of the choices that a message offers, by their numbers."""
    for row in message.components:
        for each in getattr(row, "children", ()):
            control = decode(getattr(each, "custom_id", None) or "")
            if control is None or control.act is not Act.PICK:
                continue
            if isinstance(each, discord.SelectMenu):
                yield from ((int(option.value), option.label) for option in each.options)
            elif isinstance(each, discord.Button):
                yield control.index, each.label or "…"
