"""`kesoku run`: serve every configured adapter until told to stop."""

import argparse
import asyncio
import gc
import signal

from kesoku import plugins
from kesoku.adapter.manifest import AdapterConfig, Manifest
from kesoku.adapter.supervisor import Ending
from kesoku.app import App, Job
from kesoku.app.cast import cast
from kesoku.app.model import enabled
from kesoku.app.secret import conceal
from kesoku.cli.exit import Exit
from kesoku.cli.settings import logged, settings
from kesoku.config import Config, Loaded
from kesoku.errors import NothingToServe


def run(options: argparse.Namespace) -> int:
    """Serve; the exit code says why it ended."""
    conceal()
    loaded = settings(options.config)
    with logged(loaded, default=None):
        return asyncio.run(_serve(options, loaded))


async def _serve(options: argparse.Namespace, loaded: Loaded) -> int:
    bots = _bots(loaded.config, options.only)
    models = cast(loaded, bots, also=enabled(loaded.config), offline_fallback=False)
    async with App(loaded, Job(bots=bots), models) as app:
        gc.freeze()  # what is loaded by now stays: to look through all of it again would stop everything for 30 ms
        received = _stop_on_signal(app)
        endings = await app.run()
    if received:
        return Exit.TERMINATED if received[0] == signal.SIGTERM else Exit.INTERRUPTED
    return Exit.UNAVAILABLE if Ending.LOGIN_NEEDED in endings else Exit.OK


def _bots(config: Config, only: list[str] | None) -> dict[str, tuple[Manifest, AdapterConfig]]:
    """Every enabled adapter that is not the person at this machine."""
    found = {}
    for name, entry in config.adapters.items():
        manifest = plugins.find_instance(plugins.ADAPTERS, entry.type, Manifest)
        wanted = entry.settings.enabled and not manifest.capabilities.local
        if wanted and (not only or name in only):
            found[name] = (manifest, entry.settings)
    missing = set(only or ()) - set(found)
    if missing or not found:
        raise NothingToServe(wanted=tuple(sorted(missing)), configured=tuple(config.adapters))
    return found


def _stop_on_signal(app: App) -> list[int]:
    """The first signal finishes what runs; a second one of Ctrl-C ends at once."""
    received: list[int] = []
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        received.append(number)
        loop.remove_signal_handler(number)
        app.stop()

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop, each)
    return received
