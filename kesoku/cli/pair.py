"""`kesoku pair`: let in who was given a code, list who was let in, and put somebody out again."""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from kesoku.adapter.pairing import WELCOME, Guest, Pairing, PairingCode
from kesoku.app import Place
from kesoku.cli.exit import Exit
from kesoku.cli.settings import settings
from kesoku.config import Config, Loaded
from kesoku.errors import CodeUnknown, NoDatabase, NothingToServe, NotPaired, SeveralBots
from kesoku.messages import make
from kesoku.ports import Transaction
from kesoku.render import visible
from kesoku.store import SqlStore

T = TypeVar("T")

_OWNER = "kesoku pair"
"""Who confirmed a code at this machine."""


def run(options: argparse.Namespace) -> int:
    """Do it in the database; a bot that runs sees it with the next message."""
    loaded = settings(options.config)
    bots, at = _bots(loaded.config, options.bot), time.time_ns() // 1000
    if options.list:
        _print(options, *_listed(_stored(loaded, lambda tx: _looked_up(tx, bots, at), write=False), at))
    elif options.remove:
        bot = _stored(loaded, lambda tx: _removed(tx, bots, options.remove))
        facts = {"bot": bot, "removed": options.remove}
        _print(options, facts, [f"{options.remove} was let in to {bot} by a code, and is no more"])
    else:
        welcome = make.notice(WELCOME, reason="reply")
        bot, guest = _stored(loaded, lambda tx: _admitted(tx, bots, options.code, welcome, at))
        _print(options, {"bot": bot, **_guest(guest)}, [f"{_person(guest)} may talk to {bot} now"])
    return Exit.OK


def _bots(config: Config, only: str | None) -> tuple[str, ...]:
    """The bots that are meant. Raises NothingToServe where there is none of that name."""
    if only is not None and only not in config.adapters:
        raise NothingToServe(wanted=(only,), configured=tuple(config.adapters))
    return (only,) if only is not None else tuple(config.adapters)


def _stored(loaded: Loaded, operation: Callable[[Transaction], T], *, write: bool = True) -> T:
    """The result of an operation on the database. Raises NoDatabase, and what the operation raises."""
    place = Place.of(loaded.config, os.environ)
    if not place.database.exists():
        raise NoDatabase(path=place.database)

    async def work() -> T:
        async with await SqlStore.open(place.database, patience=loaded.config.store.busy_seconds) as store:
            return await (store.write if write else store.read)(operation)

    return asyncio.run(work())


def _admitted(tx: Transaction, bots: Sequence[str], code: str, welcome: Any, at: int) -> tuple[str, Guest]:
    bot = _one([each for each in bots if Pairing(tx, each).knows(code, at)], f"the code {code}")
    if bot is None:
        raise CodeUnknown(code=code)
    return bot, Pairing(tx, bot).admit(code, by=_OWNER, welcome=welcome, at=at)


def _removed(tx: Transaction, bots: Sequence[str], entry: str) -> str:
    user_id = entry.partition(":")[2]
    bot = _one([each for each in bots if Pairing(tx, each).is_guest(user_id)], entry)
    if bot is None:
        raise NotPaired(entry=entry)
    Pairing(tx, bot).remove(user_id)
    return bot


def _one(bots: Sequence[str], what: str) -> str | None:
    if len(bots) > 1:
        raise SeveralBots(what=what, bots=bots)
    return bots[0] if bots else None


Known = dict[str, tuple[list[Guest], list[PairingCode]]]
"""Guests and open codes of each bot."""


def _looked_up(tx: Transaction, bots: Sequence[str], at: int) -> Known:
    return {each: (Pairing(tx, each).guests(), Pairing(tx, each).codes(at)) for each in bots}


def _listed(known: Known, at: int) -> tuple[dict[str, Any], list[str]]:
    """As JSON, and in lines."""
    facts = {
        bot: {"guests": [_guest(each) for each in guests], "codes": [_code(each) for each in codes]}
        for bot, (guests, codes) in known.items()
    }
    return facts, list(_lines(known, at)) or ["nobody was let in by a code, and nobody waits with one"]


def _lines(known: Known, at: int) -> Iterator[str]:
    for bot, (guests, codes) in known.items():
        for guest in guests:
            yield f"{bot}: {_person(guest)}, let in {_time(guest.at)} by {visible(guest.by)}"
        for code in codes:
            minutes = (code.until - at) // 60_000_000 + 1
            yield f"{bot}: {_person(code)} waits with the code {code.code}, for {minutes} min"


def _guest(guest: Guest) -> dict[str, Any]:
    return {**asdict(guest), "at": _time(guest.at)}


def _code(code: PairingCode) -> dict[str, Any]:
    return {**asdict(code), "until": _time(code.until)}


def _person(person: Guest | PairingCode) -> str:
    return f"{visible(person.name)} (user:{visible(person.user_id)})"


def _time(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros / 1e6, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _print(options: argparse.Namespace, facts: dict[str, Any], lines: Sequence[str]) -> None:
    print(json.dumps(facts, ensure_ascii=False) if options.json else "\n".join(lines))
