"""A process that writes with several callers, and tells on its output what was acknowledged."""

import asyncio
import json
import os
import sys
import time

from kesoku.store import SqlStore
from kesoku.testing.store_material import add, prompt


async def main(path: str, seconds: float, callers: int) -> None:
    async def caller(store: SqlStore) -> None:
        while time.monotonic() < end:
            (record,) = await store.write(add(prompt()))
            os.write(1, f"{json.dumps(record.id)}\n".encode())

    async with await SqlStore.open(path) as store:
        await store.write(add())
        os.write(1, b'"ready"\n')
        end = time.monotonic() + seconds
        await asyncio.gather(*(caller(store) for _ in range(callers)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
