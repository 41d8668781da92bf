"""A loopback server, models that talk to it, and time that only their sleeping moves."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.messages.freeze import EMPTY
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.model_contract import request, user

Make = Callable[..., GeminiModel]
HELLO = request(user("hello"))
START = 1_798_761_600.0
"""2027-01-01 00:00 UTC, in the afternoon of a day in California."""


class Pauses(list[float]):
    """Sleeps that take no time: what was asked for, in order, and a wall clock that they move."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)

    def now(self) -> float:
        return START + sum(self)


def event(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    """One event of a stream."""
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **candidate}]}


@pytest.fixture
async def server(no_proxy: None, pauses: Pauses) -> AsyncIterator[LoopbackGemini]:
    async with LoopbackGemini(now=pauses.now) as server:
        yield server


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
async def make(server: LoopbackGemini, pauses: Pauses) -> AsyncIterator[Make]:
    made = []

    def make(
        *, key: str = "test-key", environment: Mapping[str, str] = EMPTY, sleep: Any = pauses.sleep, **config: Any
    ) -> GeminiModel:
        config = {"api_key": SecretStr(key), "base_url": server.base_url, **config}
        model = GeminiModel(
            name="g",
            config=GeminiConfig(**config),
            environment=environment,
            sleep=sleep,
            jitter=lambda: 0.5,
            now=pauses.now,
        )
        made.append(model)
        return model

    yield make
    for model in made:
        await model.aclose()
