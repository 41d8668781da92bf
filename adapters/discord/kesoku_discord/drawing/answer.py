"""An answer as the messages that show it: text, files, pictures of tables and questions, in its order. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kesoku.adapter import Outgoing, OutgoingFile, Record, RenderContext
from kesoku.render import File, Question, Segment, Table, Voice, parse, printable_name, unparse
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing import tables
from kesoku_discord.drawing.controls import SUBJECT, Act, Control, buttons
from kesoku_discord.drawing.footer import footer
from kesoku_discord.drawing.question import picked
from kesoku_discord.drawing.split import fitted
from kesoku_discord.drawing.text import is_blank

Piece = str | Outgoing
"""Markdown that runs on, or a part of its own."""


def answer(record: Record, context: RenderContext, config: DiscordConfig) -> tuple[Outgoing, ...]:
    """The parts. The first one replies to the prompt; figures and buttons go with a text, the first or the last.

    An answer that has figures but no text, such as one file, ends with a part for them; a blank one has no part at all.
    """
    pieces = tuple(_runs(_pieces(record, context, config)))
    if not pieces:
        return ()
    figures = footer(record) if config.metrics != "off" else ""
    if figures and not any(isinstance(piece, str) for piece in pieces):
        pieces, figures = (*pieces, figures), ""
    parts = list(_with_buttons(_written(pieces, figures, at_top=config.metrics == "header"), record, config))
    parts[0] = replace(parts[0], reply_to=context.reply_to)
    return tuple(parts)


def _pieces(record: Record, context: RenderContext, config: DiscordConfig) -> Iterator[Piece]:
    content = record.message.content
    for segment in parse(content.text):
        yield from _piece(segment, context, config)
    for each in content.attachments:
        path = context.files.get(each.path or "")
        yield Outgoing(files=(OutgoingFile(path=path, name=each.name),)) if path else _missing(each.name)


def _piece(segment: Segment, context: RenderContext, config: DiscordConfig) -> Iterable[Piece]:
    match segment:
        case File(path=named) | Voice(path=named):
            path = context.files.get(named)
            if path is None:
                return (_missing(named),)
            said = getattr(segment, "caption", "")
            about = "" if is_blank(said) else said
            file = OutgoingFile(path=path, name=path.name, description=about, voice=isinstance(segment, Voice))
            return (Outgoing(files=(file,)),)
        case Question():
            return picked(segment)
        case Table():
            drawn = tables.shown(segment, config)
            return (drawn,) if isinstance(drawn, str) else tuple(Outgoing(payload=each) for each in drawn)
        case _:
            return (unparse((segment,)),)


def _missing(name: str) -> str:
    return f"⚠️ `{printable_name(name)}` was not sent"


def _runs(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces with Markdown that follows on Markdown in one."""
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
            continue
        yield from _joined(run)
        run = []
        yield piece
    yield from _joined(run)


def _joined(run: list[str]) -> Iterator[str]:
    text = "\n\n".join(run)
    if not is_blank(text):
        yield text


def _written(pieces: tuple[Piece, ...], figures: str, *, at_top: bool) -> Iterator[tuple[Outgoing, bool]]:
    """The parts, and of each whether it is the last text."""
    runs = [index for index, piece in enumerate(pieces) if isinstance(piece, str)]
    for index, piece in enumerate(pieces):
        if isinstance(piece, Outgoing):
            yield piece, False
            continue
        is_first, is_last = index == runs[0], index == runs[-1]
        texts = fitted(
            piece, above=figures if at_top and is_first else "", below=figures if is_last and not at_top else ""
        )
        for number, text in enumerate(texts, start=1):
            yield Outgoing(text=text), is_last and number == len(texts)


def _with_buttons(
    written: Iterable[tuple[Outgoing, bool]], record: Record, config: DiscordConfig
) -> Iterator[Outgoing]:
    components = _controls(record) if config.buttons else []
    for part, is_last_text in written:
        yield replace(part, payload={"components": components}) if is_last_text and components else part


def _controls(record: Record) -> list[dict[str, Any]]:
    """Retry, Context and Trace for an answer of a turn; the ids must fit into those of buttons."""
    if not record.turn_id or max(len(record.turn_id), len(record.id)) > SUBJECT:
        return []
    return buttons(
        (
            ("Retry", Control(act=Act.RETRY, subject=record.turn_id)),
            ("Context", Control(act=Act.CONTEXT, subject=record.turn_id)),
            ("Trace", Control(act=Act.TRACE, subject=record.id)),
        )
    )
