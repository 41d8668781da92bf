"""`[models.<name>]` of type gemini: whom it talks to, as whom, and which combinations are refused."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from kesoku.config import load
from kesoku.errors import ConfigInvalid, ModelKeyMissing, ModelKeyRejected, ModelProjectMissing, ModelUnavailable
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.client import Endpoint, borrow, give_back
from kesoku.llm.gemini.config import endpoint_of
from kesoku.llm.gemini.model import GeminiModel
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.model_contract import listen, request, user

KEYED = {"GEMINI_API_KEY": "key-one", "GOOGLE_API_KEY": "key-two"}
CLOUD = {"GOOGLE_CLOUD_PROJECT": "env-project", "GOOGLE_CLOUD_LOCATION": "europe-west4"}
GOOGLE = "https://generativelanguage.googleapis.com"
EVERYWHERE = "https://aiplatform.googleapis.com"


def keyed(key: str, base_url: str = GOOGLE, api_version: str = "v1beta") -> Endpoint:
    return Endpoint(base_url=base_url, api_version=api_version, api_key=SecretStr(key))


def vertex(base_url: str, project: str, location: str, api_version: str = "v1beta1") -> Endpoint:
    return Endpoint(base_url=base_url, api_version=api_version, project=project, location=location)


@pytest.mark.parametrize(
    ("config", "environment", "endpoint"),
    [
        ({}, KEYED, keyed("key-one")),
        ({}, {"GOOGLE_API_KEY": " key-two\n"}, keyed("key-two")),
        ({"api_key": "own"}, KEYED, keyed("own")),
        ({"api_version": "v1"}, KEYED, keyed("key-one", api_version="v1")),
        ({}, KEYED | {"GOOGLE_GEMINI_BASE_URL": "http://env"}, keyed("key-one", "http://env")),
        ({"base_url": "http://own"}, KEYED | {"GOOGLE_GEMINI_BASE_URL": "http://env"}, keyed("key-one", "http://own")),
        ({}, KEYED | CLOUD | {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, keyed("key-one")),
        ({"vertex": True, "project": "p"}, KEYED, vertex(EVERYWHERE, "p", "global")),
        (
            {"vertex": True},
            CLOUD,
            vertex("https://europe-west4-aiplatform.googleapis.com", "env-project", "europe-west4"),
        ),
        (
            {"vertex": True, "project": "p", "location": "eu"},
            CLOUD,
            vertex("https://aiplatform.eu.rep.googleapis.com", "p", "eu"),
        ),
        ({"vertex": True, "project": "p", "api_version": "v1"}, {}, vertex(EVERYWHERE, "p", "global", "v1")),
        (
            {"vertex": True, "project": "p"},
            {"GOOGLE_VERTEX_BASE_URL": "http://env", "GOOGLE_GEMINI_BASE_URL": "http://other"},
            vertex("http://env", "p", "global"),
        ),
        ({"vertex": True, "project": "p", "base_url": "http://own"}, {}, vertex("http://own", "p", "global")),
    ],
    ids=lambda value: "" if isinstance(value, Endpoint) else "-".join(value) or "nothing",
)
def test_the_endpoint_comes_from_config_then_environment(
    config: dict[str, Any], environment: dict[str, str], endpoint: Endpoint
) -> None:
    found = endpoint_of("g", GeminiConfig.model_validate(config), environment)
    assert found == endpoint
    assert hash(found) == hash(endpoint)
    assert found.vertex == bool(config.get("vertex"))
    assert "key-" not in repr(found)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ModelKeyMissing, match=r"set GEMINI_API_KEY or GOOGLE_API_KEY, or api_key in \[models.g\]"):
        endpoint_of("g", GeminiConfig(), CLOUD)
    with pytest.raises(ModelProjectMissing, match=r"set GOOGLE_CLOUD_PROJECT, or project in \[models.g\]"):
        endpoint_of("g", GeminiConfig(vertex=True), KEYED | {"GOOGLE_CLOUD_PROJECT": " "})


@pytest.mark.parametrize("key", ["AIza\u200bSecret", "AIza Secret", "“AIzaSecret”"])
def test_a_key_that_cannot_be_sent_is_refused_at_once(key: str) -> None:
    with pytest.raises(ModelKeyRejected, match="a character that no key has") as caught:
        endpoint_of("g", GeminiConfig(), {"GEMINI_API_KEY": key})
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            'project = "p"',
            "models.gemini.project: only Vertex AI has this; add vertex = true, or leave it out; found 'p'",
        ),
        ('location = "us"', "models.gemini.location: only Vertex AI has this"),
        (
            'vertex = true\napi_key = "hunter2"',
            "models.gemini.vertex: Vertex AI takes this machine's credentials, not api_key",
        ),
        ('vertex = true\nproject = "a/b"', "models.gemini.project: String should match pattern"),
        ('vertex = true\nlocation = "evil.example/x"', "models.gemini.location: String should match pattern"),
        (
            'base_url = "http://"',
            "models.gemini.base_url: must be an address such as 'https://gemini.example.org'; found 'http://'",
        ),
        ('base_url = "http://[::1"', "models.gemini.base_url: must be an address such as"),
        ('base_url = "localhost:8765"', "models.gemini.base_url: must be an address such as"),
        ('vertex = "perhaps"', "models.gemini.vertex: Input should be a valid boolean"),
    ],
    ids=[
        "project",
        "location",
        "key",
        "odd-project",
        "odd-location",
        "no-host",
        "half-host",
        "no-scheme",
        "no-boolean",
    ],
)
def test_contradictions_are_refused_at_load_without_the_key(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[models.gemini]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid) as caught:
        load(path, environment={})
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("variable", ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"])
def test_an_odd_address_of_the_environment_is_named_with_its_variable(variable: str) -> None:
    config = GeminiConfig(vertex="VERTEX" in variable)
    with pytest.raises(ModelUnavailable, match=f"{variable} must be an address such as"):
        endpoint_of("gemini", config, KEYED | CLOUD | {variable: "localhost:8765"})


async def test_two_keys_in_the_environment_are_no_news(
    no_proxy: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, key in KEYED.items():
        monkeypatch.setenv(name, key)
    endpoint, user = keyed("key-one"), object()
    await borrow(endpoint, user)
    await give_back(endpoint, user)
    assert caplog.text == ""


async def test_named_models_use_their_own_key_model_address_and_mode(
    no_proxy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LoopbackGemini(key="key-a") as first, LoopbackGemini(key="key-b") as second:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(second.service_account(tmp_path / "login.json")))
        (tmp_path / "config.toml").write_text(
            f"""
            [models.a]
            type = "gemini"
            api_key = "key-a"
            base_url = "{first.base_url}"
            [models.b]
            type = "gemini"
            model = "gemini-3.1-pro-preview"
            api_key = "key-b"
            base_url = "{second.base_url}"
            [models.c]
            type = "gemini"
            vertex = true
            project = "p"
            base_url = "{second.base_url}"
            """,
            encoding="utf-8",
        )
        loaded = load(tmp_path / "config.toml", environment={})
        for name in "abc":
            model = GeminiModel(name=name, config=loaded.config.models[name].settings, environment={})
            _, reply = await listen(model, request(user(f"I am {name}")))
            await model.aclose()
            assert reply.text
        assert [seen.headers["x-goog-api-key"] for seen in first.asked("generate")] == ["key-a"]
        assert [(seen.path, seen.headers.get("x-goog-api-key")) for seen in second.asked("generate")] == [
            ("/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent", "key-b"),
            (
                "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-3.5-flash:streamGenerateContent",
                None,
            ),
        ]
