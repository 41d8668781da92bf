"""Thousands of prompts at once, and those who were asleep meanwhile."""

import asyncio
import time
from collections import Counter
from pathlib import Path
from statistics import median

from kesoku.gateway import FloodBounds
from kesoku.messages.record import Address, Post
from kesoku.store import SqlStore
from kesoku.testing.gateway_harness import GatewayHarness, prompt

MANY, PEOPLE, EACH = 1_200, 60, 15
HELD = 512
"""Changes that may wait in memory for one listener."""


async def test_a_flood_is_refused_with_one_notice_each_and_who_slept_sees_all_of_it(tmp_path: Path) -> None:
    bounds = FloodBounds(queued_per_channel=EACH, per_channel_per_minute=MANY, per_person_per_minute=MANY)
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        bench = GatewayHarness(store, bounds=bounds)
        async with bench.gateway.listen(lambda _: True) as sleeper:
            costs = []
            for start in range(0, MANY, MANY // 4):
                began = time.process_time()
                await asyncio.gather(*(bench.gateway.accept([offered(n)]) for n in range(start, start + MANY // 4)))
                costs.append(time.process_time() - began)
            kept = PEOPLE * EACH + PEOPLE
            seen = []
            for _ in range(kept):
                seen.append((await anext(sleeper)).seq)
                assert len(sleeper._page) <= HELD  # type: ignore[attr-defined]
        assert seen == list(range(1, kept + 1))
        kinds = Counter(each.record.kind for each in await bench.events())
        assert kinds == {"user_prompt": PEOPLE * EACH, "notice": PEOPLE}
        assert median(costs[1:]) < 3 * costs[0], "a long queue slows down who comes next"


def offered(number: int) -> Post:
    person = f"Person {number % PEOPLE}"
    return prompt(by=person, at=Address(chatbot_id="discord", channel_id=person))
