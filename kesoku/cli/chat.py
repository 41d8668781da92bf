"""`kesoku chat`: one sitting at this terminal."""

import argparse
import asyncio
import gc
import os
import secrets
import signal
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from kesoku import plugins
from kesoku.adapter.manifest import Manifest
from kesoku.app import App, Job, Place
from kesoku.app.cast import Cast, cast
from kesoku.app.model import OFFLINE, enabled
from kesoku.app.secret import conceal
from kesoku.cli.exit import Exit
from kesoku.cli.say import complain
from kesoku.cli.settings import logged, settings
from kesoku.config import Loaded
from kesoku.errors import NoSuchBot, NoSuchSession, ServedElsewhere
from kesoku.messages.lifecycle import Serving
from kesoku.messages.record import Address
from kesoku.ports import ChatModel, Transaction

BOT = "cli"
_RECALLED = 400
"""Messages of a conversation among which those of the person are looked for."""


def run(options: argparse.Namespace) -> int:
    """Sit until the person leaves; the exit code says how it went."""
    conceal()
    loaded = settings(options.config)
    place = Place.of(loaded.config, os.environ)
    place.prepare()
    with logged(loaded, default=place.log):
        return asyncio.run(_sit(options, loaded))


async def _sit(options: argparse.Namespace, loaded: Loaded) -> int:
    place = _target(options.session)
    bots = dict.fromkeys((BOT, *([place.chatbot_id] if place else [])))
    others = enabled(loaded.config) if place else ()  # who stands in for a bot may work for agents of any
    models = cast(loaded, bots, also=others, name=options.model or "", offline_fallback=True)
    if place is not None and place.chatbot_id == BOT:  # another channel of this terminal: sit down there
        options = argparse.Namespace(**{**vars(options), "session": None, "resume": True})
        return await _open(options, loaded, models, channel=place.channel_id)
    try:
        return await _open(options, loaded, models, channel=BOT)
    except ServedElsewhere as busy:
        channel = secrets.token_hex(2)
        note = f"Another chat (process {busy.pid}) has the channel {BOT}; this one is {BOT}:{channel}."
        return await _open(options, loaded, models, channel=channel, note=note)


async def _open(options: argparse.Namespace, loaded: Loaded, models: Cast, *, channel: str, note: str = "") -> int:
    manifest = plugins.find_instance(plugins.ADAPTERS, BOT, Manifest)
    entry = loaded.config.adapters.get(BOT)
    configured: Any = entry.settings if entry else manifest.config()
    target = _target(options.session)
    sitting = configured.model_copy(
        update={
            "channel": channel,
            "target": str(target) if target else None,
            "question": _question(options),
            "attach": tuple(options.attach),
            "output": "json" if options.json else "plain" if options.plain else configured.output,
            "banner": "\n".join(filter(None, (_greeting(options, models.assistant(BOT).model), note))),
        }
    )
    job = Job(
        bots={BOT: (manifest, sitting)},
        channels={BOT: channel},
        work=frozenset({target} if target else ()),
        workspace=Path.cwd(),
        approve_all=options.yes,
    )
    async with App(loaded, job, models) as app:
        here = Address(chatbot_id=BOT, channel_id=channel)
        for address in app.stands_in:
            complain(await _deputy(app, address, loaded))
        if target is None:
            await _bind(app, here, options)
            (bot,) = app.bots
            bot.adapter.earlier = await app.store.read(lambda tx: _said(tx, here))
        return await _run(app)


async def _deputy(app: App, address: Address, loaded: Loaded) -> str:
    """What a person is told who speaks into a channel that nobody serves. Raises NoSuchBot where nobody ever did."""
    told = f"nobody serves {address} now: it is answered here, and"
    if address.chatbot_id in loaded.config.adapters:
        return f"{told} `kesoku run` will deliver it"
    if await app.store.read(lambda tx: tx.sessions.bound(address)) is None:
        raise NoSuchBot(place=str(address), bots=tuple(loaded.config.adapters))
    return f"{told} a bot {address.chatbot_id} would deliver it, which the config does not have"


async def _run(app: App) -> int:
    gc.freeze()  # as `run` does
    loop = asyncio.get_running_loop()
    ended: list[int] = []

    def stop() -> None:
        ended.append(Exit.TERMINATED)
        app.stop(patient=False)

    for each in (signal.SIGTERM, signal.SIGHUP):
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(each, stop)
    await app.run()
    (bot,) = app.bots
    return ended[0] if ended else int(bot.adapter.exit_code)


def _target(where: str | None) -> Address | None:
    """A place on another platform, `bot:channel`; None for a session id."""
    chatbot_id, colon, channel_id = (where or "").partition(":")
    return Address(chatbot_id=chatbot_id, channel_id=channel_id) if colon and chatbot_id and channel_id else None


async def _bind(app: App, here: Address, options: argparse.Namespace) -> None:
    """A fresh conversation, the last one (--resume), or a named one (--session)."""
    now = app.now()

    def operation(tx: Transaction) -> bool:
        bound = tx.sessions.bound(here)
        if options.session:
            if tx.sessions.get(options.session) is None:
                return False
            tx.sessions.bind(here, options.session)
        elif bound is None or (not options.resume and not _waits(tx, here)):
            tx.sessions.bind(here, tx.sessions.create(at=now).id)
        return True

    if not await app.store.write(operation):
        raise NoSuchSession(session_id=options.session)


def _said(tx: Transaction, here: Address) -> list[str]:
    """What the person said last in the conversation that is bound here."""
    bound = tx.sessions.bound(here)
    last = tx.messages.tail(bound.id, _RECALLED) if bound else []
    return [record.message.text for record in last if record.kind == "user_prompt"]


def _waits(tx: Transaction, here: Address) -> bool:
    """Whether something of an earlier sitting is still to be answered or shown here."""
    bound = tx.sessions.bound(here)
    if bound is None:
        return False
    lease = tx.leases.get(bound.id)
    if lease is not None and lease.owner is not None:
        return True  # the process was killed in the middle of a turn, which goes on now
    return bool(tx.messages.queued(bound.id) or tx.messages.waiting(Serving(addresses=frozenset({here}))))


def _question(options: argparse.Namespace) -> str | None:
    """The words of the command line, and what is piped in; None for a conversation."""
    words = " ".join(options.question)
    piped = "" if sys.stdin.isatty() or (options.json and not words) else _piped(wanted=words in {"", "-"})
    words = "" if words == "-" else words
    if not words and not piped:
        return None
    return f"{words}\n\n{piped}" if words and piped else words or piped


def _piped(*, wanted: bool) -> str:
    """Standard input as text; only read where something was really given."""
    if sys.stdin.closed or not (wanted or _has_data()):
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace").strip()


def _has_data() -> bool:
    """Whether standard input is a file or a pipe, not a device such as /dev/null."""
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


def _greeting(options: argparse.Namespace, model: ChatModel) -> str:
    if options.json or options.question or not sys.stdin.isatty():
        return ""
    hint = " It only understands a handful of requests; try: help" if model.provider == OFFLINE else ""
    return f"Kesoku · model {model.name}.{hint} · /help lists commands, Ctrl-C stops a turn, Ctrl-D leaves"
