"""What `kesoku doctor` finds when it asks a Gemini model: every cause that a person can cure, over the real SDK."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.check import examine, proxy_of
from kesoku.ports import Finding, Severity
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import (
    HTML_502,
    Events,
    Hang,
    Raw,
    Refusal,
    Scripted,
    api_disabled,
    invalid,
    key_expired,
    key_leaked,
    overloaded,
    rate_limited,
    region_refused,
)

Examine = Callable[..., Awaitable[Finding]]
CREDENTIALS = ("NO_GCE_CHECK", "CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS")


@pytest.fixture
def one(server: LoopbackGemini) -> Examine:
    """Examine a model of the loopback; the only finding."""

    async def one(environment: Mapping[str, str] | None = None, seconds: float = 15, **config: Any) -> Finding:
        config = {"api_key": "test-key", "base_url": server.base_url, **config}
        known = {key: value for key, value in config.items() if value is not None}
        (finding,) = await examine("g", GeminiConfig(**known), environment or {}, seconds=seconds)
        assert finding.check == "models.g"
        assert "\n" not in finding.text + finding.fix
        assert (finding.severity is Severity.OK) == (not finding.fix)
        return finding

    return one


@pytest.fixture
def vertex(server: LoopbackGemini, one: Examine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """The same with Vertex AI; GOOGLE_APPLICATION_CREDENTIALS is a good key file."""
    path = server.service_account(tmp_path / "login.json")
    for name, value in zip(CREDENTIALS, ("true", str(tmp_path), str(path)), strict=True):
        monkeypatch.setenv(name, value)

    async def vertex(**config: Any) -> Finding:
        return await one(**{"vertex": True, "api_key": None, "project": "p", **config})

    return vertex


async def test_a_model_that_answers_is_named_with_address_and_mode(server: LoopbackGemini, one: Examine) -> None:
    found = await one()
    assert found.severity is Severity.OK
    assert found.text.startswith(f"gemini-3.5-flash at {server.base_url} v1beta with an API key answered in 0.")
    looked, answered = server.requests
    assert (looked.method, looked.path) == ("GET", "/v1beta/models/gemini-3.5-flash")
    assert answered.body["generation_config"]["max_output_tokens"] == 256
    assert answered.body["generation_config"]["thinking_config"]["thinking_level"] == "MINIMAL"


async def test_vertex_is_examined_by_its_answer_alone(server: LoopbackGemini, vertex: Examine) -> None:
    found = await vertex()
    assert f"{server.base_url} v1beta1 with Vertex AI project p in global answered in" in found.text
    assert [seen.kind for seen in server.requests] == ["token", "generate"]


PERMISSION = Refusal(403, "PERMISSION_DENIED", "Permission denied.")
VERTEX_PROJECT = Refusal(
    403,
    "PERMISSION_DENIED",
    "Permission 'aiplatform.endpoints.predict' denied on resource (or it may not exist).",
    ({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "IAM_PERMISSION_DENIED"},),
)
BILLING = Refusal(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Enable billing.")


@pytest.mark.parametrize(
    ("script", "said", "cured"),
    [
        (key_expired(), "the API key was rejected (API key expired", "give it a valid one"),
        (key_leaked(), "the API key was rejected (Your API key was reported as leaked", "give it a valid one"),
        (
            api_disabled(),
            "the API is switched off",
            "https://console.developers.google.com/apis/api/generativelanguage",
        ),
        (region_refused(), "this region is not served", "supported region"),
        (BILLING, "a precondition is missing", "enable billing"),
        (PERMISSION, "a right is missing", "Google AI Studio"),
        (overloaded(), "is unavailable, status 503", "try again later"),
        (HTML_502, "is unavailable, status 502", "try again later"),
        (Events(), "the answer was empty", "try again"),
        (invalid("Unknown name."), "refused the request, 400 INVALID_ARGUMENT: Unknown name.", "correct [models.g]"),
    ],
    ids=["expired", "leaked", "off", "region", "billing", "right", "overloaded", "gateway", "empty", "odd"],
)
async def test_what_only_an_answer_shows_has_cause_and_cure(
    server: LoopbackGemini, one: Examine, script: Scripted, said: str, cured: str
) -> None:
    server.script(script)
    found = await one()
    assert found.severity is Severity.ERROR
    assert said in found.text
    assert cured in found.fix


async def test_a_quota_that_is_used_up_is_no_mistake_of_the_set_up(server: LoopbackGemini, one: Examine) -> None:
    server.script(rate_limited(seconds=31), rate_limited(daily=True))
    for cured in ("31 s", "it resets at"):
        found = await one()
        assert found.severity is Severity.WARNING
        assert cured in found.fix


@pytest.mark.parametrize("name", ["gemmini-3.5-flash", "models/gemmini-3.5-flash"])
async def test_a_wrong_name_gets_names_near_to_it(one: Examine, name: str) -> None:
    found = await one(model=name)
    assert found.severity is Severity.ERROR
    assert f"the provider has no '{name}'" in found.text
    assert "did you mean 'gemini-3.5-flash' or " in found.fix


async def test_without_a_list_a_wrong_name_is_still_named(server: LoopbackGemini, one: Examine) -> None:
    server.script(*[Refusal(404, "NOT_FOUND", "no such model")] * 2, on="models")
    found = await one(model="nothing-like-it")
    assert "has no 'nothing-like-it'" in found.text
    assert "did you mean" not in found.fix


async def test_a_gateway_that_describes_nothing_may_still_answer(server: LoopbackGemini, one: Examine) -> None:
    server.script(Refusal(404, "NOT_FOUND", "no such page"), on="models")
    assert (await one()).severity is Severity.OK


async def test_a_model_that_does_not_chat_is_told_apart(server: LoopbackGemini, one: Examine) -> None:
    told = b'{"name": "models/gemini-embedding", "supportedGenerationMethods": ["embedContent"]}'
    server.script(Raw(told, content_type="application/json"), on="models")
    found = await one(model="gemini-embedding")
    assert "it has no generateContent, only embedContent" in found.text
    assert server.asked("generate") == []


async def test_a_model_that_reads_less_than_was_assumed_is_named(server: LoopbackGemini) -> None:
    server.input_limit = 100_000
    config = GeminiConfig(api_key=SecretStr("test-key"), base_url=server.base_url)
    good, warning = await examine("g", config, {})
    assert (good.severity, warning.severity) == (Severity.OK, Severity.WARNING)
    assert "reads 100000 tokens" in warning.text
    assert "context_tokens" in warning.fix


async def test_no_key_and_a_wrong_key(one: Examine) -> None:
    found = await one(api_key=None)
    assert (found.severity, found.text) == (Severity.ERROR, "model g has no API key")
    found = await one(api_key="AIzaSyWrongAndSecret")
    assert "the API key was rejected" in found.text
    assert "AIza" not in repr(found)


async def test_nobody_there_and_the_proxy_in_the_way(one: Examine) -> None:
    environment = {"HTTP_PROXY": "http://me:hunter2@proxy.test:3128"}
    for address in ("http://127.0.0.1:1", "http://user:hunter2@127.0.0.1:1"):
        found = await one(environment, base_url=address)
        assert "cannot be reached" in found.text
        assert "HTTP_PROXY=http://proxy.test:3128" in found.text
        assert "check network, proxy and base_url" in found.fix
        assert "hunter2" not in repr(found)


@pytest.mark.parametrize("kind", ["models", "generate"])
async def test_silence_is_bounded(server: LoopbackGemini, one: Examine, kind: Any) -> None:
    server.script(Hang(), on=kind)
    found = await one(seconds=0.2)
    assert "cannot be reached (no answer within 0.2 s)" in found.text


async def test_vertex_without_a_project_or_a_login(
    vertex: Examine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await vertex(project=None)
    assert (found.text, found.fix[:3]) == ("model g has no project", "set")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    found = await vertex()
    assert "no usable Google Cloud credentials (File" in found.text
    assert "gcloud auth application-default login" in found.fix
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    found = await vertex()
    assert "credentials were not found" in found.text


async def test_vertex_with_a_wrong_project_or_model(server: LoopbackGemini, vertex: Examine) -> None:
    server.script(VERTEX_PROJECT, api_disabled(service="aiplatform.googleapis.com"))
    assert "check the name of the project" in (await vertex()).fix
    assert "enable aiplatform.googleapis.com in the Google Cloud project at https://console" in (await vertex()).fix
    server.script(region_refused())
    assert "choose another location" in (await vertex()).fix
    found = await vertex(model="gemmini-3.5-flash")
    assert "did you mean 'gemini-3.5-flash'" in found.fix


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, ""),
        ({"HTTPS_PROXY": "http://p:1"}, "HTTPS_PROXY=http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "https_proxy": "q:2"}, "https_proxy=q:2"),
        ({"HTTPS_PROXY": "http://p:1", "https_proxy": ""}, ""),
        ({"HTTP_PROXY": "http://p:1"}, ""),
        ({"ALL_PROXY": "socks5://u:p@ss/w@p:1"}, "ALL_PROXY=socks5://p:1"),
        ({"all_proxy": "u:p@p:1"}, "all_proxy=p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x.org, .example.com"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "api.example.com"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "ample.com,,"}, "HTTPS_PROXY=http://p:1"),
    ],
)
def test_the_proxy_that_leads_there_is_named_without_its_password(environment: dict[str, str], found: str) -> None:
    assert proxy_of("https://api.example.com/x", environment) == found
