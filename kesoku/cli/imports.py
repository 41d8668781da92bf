"""`kesoku import`: conversations out of files, of our own exports and of other bots."""

import argparse
import asyncio
import json
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kesoku.adapter.staging import Staging
from kesoku.app.place import Place
from kesoku.cli.exit import Exit
from kesoku.cli.import_plan import Plan, Target, check, read
from kesoku.cli.settings import logged, settings
from kesoku.messages.freeze import thaw
from kesoku.messages.imported import Imported
from kesoku.messages.lifecycle import IMPORTER
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Store, Transaction
from kesoku.render import counted, printable_name, visible
from kesoku.store import SqlStore

_CHUNK = 500
"""Messages of one commit. All of them were checked before the first, so only a crash or a full disk can end an import
halfway, and the same command goes on where it ended."""
_SHOWN = 20
"""Refused rows that the report names."""
_COLUMNS = 100
"""Of the id of a conversation that the report shows."""


def run(options: argparse.Namespace) -> int:
    """Import; exit code 1 if rows were refused, 65 if all were."""
    loaded = settings(options.config)
    place = Place.of(loaded.config, os.environ)
    with logged(loaded, default=None):
        target = Target(session_id=options.session, address=_address(options.channel))
        plan = read([Path(each) for each in options.files], target, Staging(place.staging).folder)
        with _database(place, dry=options.dry_run) as path:
            asyncio.run(_imported(path, plan, target, dry=options.dry_run, patience=loaded.config.store.busy_seconds))
    print(_as_json(plan, dry=options.dry_run) if options.json else "\n".join(_report(plan, dry=options.dry_run)))
    if plan.refused:
        return Exit.FAILED if plan.rows or plan.present else Exit.BAD_DATA
    return Exit.OK


def _address(given: str | None) -> Address | None:
    bot, _, channel = (given or "").partition(":")
    return Address(chatbot_id=bot, channel_id=channel) if given else None


@contextmanager
def _database(place: Place, *, dry: bool) -> Iterator[Path]:
    """The database; for a dry run where there is none, an empty one that is gone afterwards."""
    if place.database.exists() or not dry:
        place.prepare()
        yield place.database
    else:
        with TemporaryDirectory() as folder:
            yield Path(folder) / "empty.db"


async def _imported(path: Path, plan: Plan, target: Target, *, dry: bool, patience: float) -> None:
    async with await SqlStore.open(path, patience=patience) as store:
        await store.read(lambda tx: check(tx, plan, target))
        if not dry:
            await _stored(store, plan.rows, target)


async def _stored(store: Store, rows: Sequence[Imported], target: Target) -> None:
    at = time.time_ns() // 1000
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        await store.write(lambda tx, chunk=chunk: _put(tx, chunk, at))  # type: ignore[misc]
        _progress(start + len(chunk), len(rows))
    if rows and target.address is not None:
        await store.write(lambda tx: _bind(tx, rows[0], target.address))


def _put(tx: Transaction, rows: Sequence[Imported], at: int) -> None:
    for row in rows:
        record = row.record
        if tx.sessions.get(record.session_id) is None:
            tx.sessions.create(session_id=record.session_id, at=at)
        post = Post(
            message=record.message,
            address=record.address,
            session_id=record.session_id,
            parent_id=record.parent_id,
            turn_id=record.turn_id,
            round=record.round,
            status=record.status,
        )
        mark = record.superseded_turn
        tx.messages.insert(post, session_id=record.session_id, at=at, superseded_turn=mark, actor=IMPORTER)
        if record.superseded_by is not None:
            tx.messages.supersede(record.id, by=record.superseded_by)
        elif record.kind == "tool_result":
            _link(tx, record, at)
        if record.turn_id is not None and (metrics := record.facts.get("turn_metrics")):
            tx.steps.set_metrics(record.turn_id, thaw(metrics))


def _link(tx: Transaction, result: Record, at: int) -> None:
    """Let a call name its result that was imported before there was one."""
    call = tx.messages.get(result.parent_id or "")
    if call is not None and call.message.content.response_id is None:
        tx.messages.rewrite(call.message.update(response_id=result.id), actor=IMPORTER, at=at)


def _bind(tx: Transaction, row: Imported, address: Address | None) -> None:
    """Let a channel go on with the conversation, unless it has one."""
    if address is not None and tx.sessions.bound(address) is None:
        tx.sessions.bind(address, row.record.session_id)


def _progress(done: int, of: int) -> None:
    if of > _CHUNK and sys.stderr.isatty():
        print(f"\r{done:,} of {of:,} messages", end="\n" if done == of else "", file=sys.stderr, flush=True)


def _counts(plan: Plan) -> dict[str, int]:
    rows = plan.rows
    return {
        "imported": len(rows),
        "present": plan.present,
        "refused": len(plan.refused),
        "derived_ids": sum(not row.had_id for row in rows),
        "forged_roles": sum(row.was_forged for row in rows),
        "interrupted": sum(row.was_waiting for row in rows),
        "delivered": sum(row.was_unsent for row in rows),
        "loose": plan.loose,
    }


def _as_json(plan: Plan, *, dry: bool) -> str:
    sessions = [{"id": id_, "messages": number} for id_, number in _sessions(plan).items()]
    form: dict[str, Any] = {"dry_run": dry, **_counts(plan), "sessions": sessions}
    return json.dumps({**form, "refused_rows": [asdict(each) for each in plan.refused]})


def _sessions(plan: Plan) -> Counter[str]:
    return Counter(row.record.session_id for row in plan.rows)


def _report(plan: Plan, *, dry: bool) -> Iterator[str]:
    counts, sessions = _counts(plan), _sessions(plan)
    done = "Would import" if dry else "Imported"
    yield f"{done} {counted(counts['imported'], 'message')} of {counted(len(sessions), 'conversation')}."
    for name, words in _WORDS.items():
        if counts[name]:
            yield f"- {counts[name]:,} {words}"
    for id_, number in sessions.items():
        go_on = "" if dry else _go_on(id_)
        yield f"- conversation {printable_name(id_, _COLUMNS)}: {counted(number, 'message')}{go_on}"
    for each in plan.refused[:_SHOWN]:
        yield f"- refused: {visible(each.path)}, row {each.number}: {visible(each.why)}"
    if len(plan.refused) > _SHOWN:
        yield f"- and {counted(len(plan.refused) - _SHOWN, 'more refused row')}; --json lists all"


def _go_on(session_id: str) -> str:
    """What to type to go on; nothing for an id that cannot be typed. Whoever wrote the file may have chosen it to be
    more than one word for a shell."""
    if session_id != printable_name(session_id, _COLUMNS) or session_id.startswith("-"):
        return ""
    return f"; go on with it: kesoku chat --session {shlex.quote(session_id)}"


_WORDS = {
    "present": "already there",
    "derived_ids": "had no id and got the one that they get at every import",
    "forged_roles": "claimed a role that is not theirs; the kind decided",
    "interrupted": "waited for an answer, and are interrupted: nothing that is imported starts a turn",
    "delivered": "were still to be shown, and count as delivered: nothing that is imported is sent",
    "loose": "answer a message that is not there, and stand alone",
}
