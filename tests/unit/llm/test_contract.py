"""Both built-in providers keep the contract of the port."""

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.offline import OfflineModel
from kesoku.ports import ChatModel
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.model_contract import ModelContract


class TestOffline(ModelContract):
    """The built-in model."""

    can_fail = False

    @pytest.fixture
    def model(self) -> ChatModel:
        return OfflineModel()


class TestGemini(ModelContract):
    """The real SDK against the loopback server, with call ids."""

    call_ids = True

    @pytest.fixture
    def server(self, no_proxy: None) -> Iterator[LoopbackGemini]:
        with LoopbackGemini.in_thread(call_ids=self.call_ids) as server:
            yield server

    @pytest.fixture
    def model(self, server: LoopbackGemini) -> ChatModel:
        return gemini(server, key="test-key")

    @pytest.fixture
    def failing(self, server: LoopbackGemini) -> ChatModel:
        return gemini(server, key="wrong-key")


@pytest.mark.no_cover
class TestGeminiWithoutIds(TestGemini):
    """The same for models that give their calls no ids."""

    call_ids = False


def gemini(server: LoopbackGemini, *, key: str) -> GeminiModel:
    config = GeminiConfig(api_key=SecretStr(key), base_url=server.base_url)
    return GeminiModel(name="gemini", config=config, environment={})


def test_the_contract_cannot_be_weakened() -> None:
    with pytest.raises(TypeError, match="test_results_are_answered"):
        type("Weak", (ModelContract,), {"test_results_are_answered": lambda self: None})
    mixin = type("Mixin", (), {"test_results_are_answered": lambda self: None})
    with pytest.raises(TypeError, match="test_results_are_answered"):
        type("Weak", (mixin, ModelContract), {})


def test_the_contract_has_tests() -> None:
    assert sum(name.startswith("test_") for name in vars(ModelContract)) >= 18
