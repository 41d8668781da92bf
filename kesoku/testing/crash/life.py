"""The whole life of a process of the crash kit."""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import traceback
from typing import NoReturn

from kesoku.testing.crash.actor import Actor, Birth
from kesoku.testing.crash.role import ROLES

_PR_SET_PDEATHSIG = 1


def live(birth: Birth) -> NoReturn:
    """Play a role until killed; what is written to the standard streams is in the log. For a process just forked."""
    code = 1
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        log = os.open(birth.scene.logs / f"{birth.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        logging.basicConfig(level=logging.INFO, force=True)
        asyncio.run(_play(birth))
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


async def _play(birth: Birth) -> None:
    async with Actor.open(birth) as actor:
        await ROLES[birth.role](actor)
