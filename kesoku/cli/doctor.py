"""`kesoku doctor`: check everything that `run` and `chat` need, with the same validator, and say how to fix it."""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from kesoku import plugins
from kesoku.adapter.manifest import Manifest
from kesoku.adapter.pairing import Pairing
from kesoku.app import Place, hook_check
from kesoku.app.budget import budget
from kesoku.app.model import DEFAULT, create, manifest_of, may_answer
from kesoku.app.secret import of_environment
from kesoku.app.toolbox import toolbox
from kesoku.cli.exit import Exit
from kesoku.config import Config, Loaded, load
from kesoku.config.naming import models_of
from kesoku.errors import ConfigError, ConfigInvalid, KesokuError, ModelError, ModelKeyMissing, PluginError
from kesoku.ports import Finding, Severity, Transaction
from kesoku.render.mask import Mask
from kesoku.store import Gauge, SqlStore, driver, is_safe

_MARKS = {Severity.OK: "ok     ", Severity.WARNING: "warning", Severity.ERROR: "ERROR  "}
_COLOURS = {Severity.OK: "32", Severity.WARNING: "33", Severity.ERROR: "31"}


def run(options: argparse.Namespace) -> int:
    """Print the findings; 1 if one of them is an error."""
    findings, secrets = asyncio.run(_examine(options))
    mask = Mask(secrets | of_environment(os.environ))
    for finding in findings:
        print(_json(finding, mask) if options.json else mask.text(_line(finding)))
    broken = any(finding.severity is Severity.ERROR for finding in findings)
    return Exit.FAILED if broken else Exit.OK


async def _examine(options: argparse.Namespace) -> tuple[list[Finding], frozenset[str]]:
    loaded, findings = _config(options)
    if loaded is None:
        return findings, frozenset()
    about_store, paired = await _database(loaded.config)
    findings += about_store
    findings += _tools(loaded)
    findings += await _models(loaded.config, online=not options.offline)
    findings += _prices(loaded)
    for name, entry in loaded.config.adapters.items():
        findings += await _adapter(name, entry.type, entry.settings, is_paired=name in paired)
    findings += await hook_check.examine(loaded, Place.of(loaded.config, os.environ).database)
    return findings, loaded.secrets


def _config(options: argparse.Namespace) -> tuple[Loaded | None, list[Finding]]:
    try:
        loaded = load(options.config)
    except ConfigInvalid as error:
        return None, [_error("config", str(each), "correct the value") for each in error.problems]
    except ConfigError as error:
        return None, [_error("config", str(error), "name an existing file, or leave --config out")]
    # What only warns at start is an error here (N-16).
    odd = [_error("config", str(each), "correct or remove it") for each in loaded.warnings]
    where = str(loaded.path) if loaded.path else "no file; the defaults hold"
    return loaded, odd or [_ok("config", where)]


async def _database(config: Config) -> tuple[list[Finding], frozenset[str]]:
    """The findings, and the names of the bots to which somebody was let in by pairing."""
    nobody = frozenset[str]()
    place = Place.of(config, os.environ)
    findings = [_sqlite()]
    if not place.database.exists():
        ground = next(each for each in place.database.parents if each.exists())
        if not ground.is_dir() or not os.access(ground, os.W_OK | os.X_OK):
            text = f"{place.database} cannot be made: {ground} takes no new files"
            return [*findings, _error("database", text, "make that folder writable, or set store.path")], nobody
        text = f"{place.database} will be made at the first start"
        return [*findings, _ok("database", text)], nobody
    try:
        store = await SqlStore.open(place.database, patience=config.store.busy_seconds)
        try:
            problems = await store.check()
            load = [] if problems else [_load(await store.gauge())]
            paired = nobody if problems else await store.read(lambda tx: _paired(tx, config.adapters))
        finally:
            await store.aclose()
    except KesokuError as error:
        return [*findings, _error("database", str(error))], nobody
    if problems:
        fix = "restore a backup, or move the file away to begin anew"
        return [*findings, _error("database", f"{place.database}: {problems[0]}", fix)], nobody
    return [*findings, _ok("database", str(place.database)), *load], paired


def _paired(tx: Transaction, bots: Iterable[str]) -> frozenset[str]:
    return frozenset(bot for bot in bots if Pairing(tx, bot).guests())


def _load(gauge: Gauge) -> Finding:
    age = 0.0 if gauge.queued_since is None else time.time() - gauge.queued_since / 1e6
    figures = {
        "queued": gauge.queued,
        "oldest_seconds": max(0, round(age)),
        "running": gauge.running,
        "held": gauge.held,
        "ambiguous": gauge.ambiguous,
        "log_bytes": gauge.log_bytes,
    }
    text = (
        "prompts that wait: {queued}, the oldest for {oldest_seconds} s; turns that run: {running}; "
        "parts of answers on hold: {held}, in doubt: {ambiguous}; bytes in the log: {log_bytes}"
    )
    return Finding(check="load", severity=Severity.OK, text=text.format(**figures), figures=figures)


def _sqlite() -> Finding:
    version, number = driver().sqlite_version, driver().sqlite_version_info
    safe = is_safe(number)
    figures = {"version": number[0] * 1_000_000 + number[1] * 1_000 + number[2], "safe": int(safe)}
    if safe:
        text = f"{version}, safe for several processes on one file"
        return Finding(check="sqlite", severity=Severity.OK, text=text, figures=figures)
    text = f"{version}: before 3.51.3 two processes on one file could damage it in rare cases"
    fix = "Kesoku's own processes take turns; to be safe with other programs too: pip install 'kesoku[sqlite]'"
    return Finding(check="sqlite", severity=Severity.WARNING, text=text, fix=fix, figures=figures)


def _tools(loaded: Loaded) -> list[Finding]:
    try:
        box = toolbox(loaded)
    except ConfigInvalid as error:
        return [_error("tools", str(each), "correct or remove the table") for each in error.problems]
    return [_ok("tools", ", ".join(f"{name} ({box.policy(name)})" for name in box))]


async def _models(config: Config, *, online: bool) -> list[Finding]:
    """Every model that may answer, then those that nobody has chosen yet."""
    names = dict.fromkeys([*may_answer(config), *config.models])
    found = await asyncio.gather(*(_model(config, name, online=online) for name in names))
    return [finding for findings in found for finding in findings]


async def _model(config: Config, name: str, *, online: bool) -> Sequence[Finding]:
    check = f"models.{name}"
    try:
        manifest = manifest_of(config, name)
        create(config, name)
    except ModelKeyMissing as error:
        return [_keyless(check, error) if _is_default(config, name) else _unfit(check, error)]
    except ModelError as error:
        return [_unfit(check, error)]
    if not online:
        return [_ok(check, f"{manifest.title}, not asked")]
    entry = config.models.get(name)
    settings = entry.settings if entry else manifest.config()
    return await _asked(check, manifest.doctor(name, settings)) or [_ok(check, manifest.title)]


def _is_default(config: Config, name: str) -> bool:
    """Whether nobody has chosen this model."""
    return name == DEFAULT and not config.agent.model and name not in models_of(config, config.adapters)


def _keyless(check: str, error: ModelKeyMissing) -> Finding:
    """Not having chosen a model is no mistake."""
    fix = f"{error.cure}; until then `kesoku chat` uses the offline model, and `kesoku run` does not start"
    return Finding(check=check, severity=Severity.WARNING, text=error.cause, fix=fix)


def _unfit(check: str, error: ModelError) -> Finding:
    return _error(check, error.cause, error.cure)


async def _asked(check: str, doctor: Awaitable[Sequence[Finding]]) -> Sequence[Finding]:
    """What a plugin finds. Whatever its library raises is a finding, not the end of the examination."""
    (found,) = await asyncio.gather(doctor, return_exceptions=True)
    if isinstance(found, BaseException):
        return [_error(check, f"the check failed: {type(found).__name__}: {found}")]
    return found


def _prices(loaded: Loaded) -> list[Finding]:
    config = loaded.config
    try:
        budget(loaded, may_answer(config))
    except ConfigInvalid as error:
        return [_error("prices", str(each), "correct the table") for each in error.problems]
    return [_ok("prices", ", ".join(config.prices))] if config.prices else []


async def _adapter(name: str, kind: str, settings: Any, *, is_paired: bool) -> Sequence[Finding]:
    check = f"adapters.{name}"
    try:
        manifest = plugins.find_instance(plugins.ADAPTERS, kind, Manifest)
    except PluginError as error:
        return [_error(check, str(error), "install what it needs")]
    found = await _asked(check, manifest.doctor(name, settings))
    if not (manifest.capabilities.local or settings.allow or settings.admins or is_paired):
        text = "nobody may talk to it yet; whoever writes to it directly is given a code for `kesoku pair`"
        fix = f'pair, or add for example allow = ["user:ID"] to [{check}]'
        found = [*found, Finding(check=check, severity=Severity.WARNING, text=text, fix=fix)]
    return found or [_ok(check, manifest.title)]


def _ok(check: str, text: str) -> Finding:
    return Finding(check=check, severity=Severity.OK, text=text)


def _error(check: str, text: str, fix: str = "") -> Finding:
    return Finding(check=check, severity=Severity.ERROR, text=text, fix=fix)


def _line(finding: Finding) -> str:
    mark = _MARKS[finding.severity]
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        mark = f"\x1b[{_COLOURS[finding.severity]}m{mark}\x1b[0m"
    fix = f"\n        fix: {finding.fix}" if finding.fix else ""
    return f"{mark} {finding.check}: {finding.text}{fix}"


def _json(finding: Finding, mask: Mask) -> str:
    return json.dumps(mask.value(asdict(finding)), ensure_ascii=False)
