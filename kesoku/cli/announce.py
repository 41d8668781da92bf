"""`kesoku announce`: say something in every channel of every live conversation."""

import argparse
import asyncio
import json
import os
import time

from kesoku.app import Place
from kesoku.cli.exit import Exit
from kesoku.cli.say import complain
from kesoku.cli.settings import settings
from kesoku.config import Loaded
from kesoku.exchange.announcement import Announcement, announce
from kesoku.render import counted
from kesoku.store import SqlStore


def run(options: argparse.Namespace) -> int:
    """Store the announcement; whoever serves the channels shows it."""
    loaded = settings(options.config)
    done = asyncio.run(_announce(loaded, options.text))
    places = [str(each) for each in done.destinations]
    if options.json:
        facts = {"mail_id": done.mail_id, "sessions": done.sessions, "destinations": places}
        print(json.dumps(facts, ensure_ascii=False))
    else:
        print(f"announced in {counted(len(places), 'channel')} of {counted(done.sessions, 'conversation')}")
    if not places:
        complain("there is no conversation yet, so nobody reads it")
    return Exit.OK


async def _announce(loaded: Loaded, text: str) -> Announcement:
    place = Place.of(loaded.config, os.environ)
    place.prepare()
    async with await SqlStore.open(place.database, patience=loaded.config.store.busy_seconds) as store:
        return await store.write(lambda tx: announce(tx, text, at=time.time_ns() // 1000))
