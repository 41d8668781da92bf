"""`kesoku doctor` over models: which are asked, in what order, what makes it fail, and that no secret is shown."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kesoku.cli.main import main
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import rate_limited

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GEMINI_BASE_URL", "KESOKU_CONFIG")


@pytest.fixture
def server() -> Iterator[LoopbackGemini]:
    with LoopbackGemini.in_thread() as server:
        yield server


class Doctor:
    """The command in a home of its own; `run` gives its exit code, its findings by check, and all that it prints."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._config, self._capsys = folder / "config.toml", capsys

    def run(self, config: str = "", *arguments: str) -> tuple[int, dict[str, dict[str, Any]], str]:
        self._config.write_text(config, encoding="utf-8")
        code = main(["doctor", "--json", *arguments])
        said = self._capsys.readouterr().out
        found = [json.loads(line) for line in said.splitlines()]
        return code, {finding["check"]: finding for finding in found}, said


@pytest.fixture
def doctor(
    tmp_path: Path, no_proxy: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Doctor:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Doctor(tmp_path, capsys)


def test_without_a_key_nothing_is_wrong_yet(doctor: Doctor) -> None:
    code, found, _ = doctor.run()
    assert code == 0
    assert found["models.gemini"]["severity"] == "warning"
    assert found["models.gemini"]["fix"].startswith("set GEMINI_API_KEY or GOOGLE_API_KEY")
    code, found, _ = doctor.run('[agent]\nmodel = "gemini"')
    assert (code, found["models.gemini"]["severity"]) == (1, "error")


def test_every_model_is_asked_the_chosen_first_and_one_wrong_key_is_an_error(
    doctor: Doctor, server: LoopbackGemini
) -> None:
    config = f"""
    [agent]
    model = "main"
    fallback = ["offline", "second", "nowhere"]
    [models.unused]
    type = "gemini"
    api_key = "AIzaSyWrongAndSecret"
    base_url = "{server.base_url}"
    [models.second]
    type = "gemini"
    api_key = "test-key"
    model = "gemini-9-flash-typo"
    base_url = "{server.base_url}"
    [models.main]
    type = "gemini"
    api_key = "test-key"
    base_url = "{server.base_url}"
    """
    server.script(rate_limited(daily=True))
    code, found, said = doctor.run(config)
    assert code == 1
    assert [check for check in found if check.startswith("models.")] == [
        f"models.{name}" for name in ("main", "offline", "second", "nowhere", "unused")
    ]
    severities = {check: finding["severity"] for check, finding in found.items()}
    assert sorted(severities[f"models.{name}"] for name in ("main", "second")) == ["ok", "warning"]
    assert severities["models.offline"] == "ok"
    assert "is not known" in found["models.nowhere"]["text"]
    assert "the API key was rejected" in found["models.unused"]["text"]
    assert "AIzaSyWrongAndSecret" not in said
    assert "test-key" not in said


def test_offline_asks_nobody_but_still_looks(doctor: Doctor, server: LoopbackGemini) -> None:
    config = f"""
    [models.gemini]
    api_key = "wrong"
    base_url = "{server.base_url}"
    [models.cloud]
    type = "gemini"
    vertex = true
    """
    code, found, _ = doctor.run(config, "--offline")
    assert code == 1
    assert found["models.gemini"]["text"] == "Google Gemini, not asked"
    assert "has no project" in found["models.cloud"]["text"]
    assert server.requests == []


def test_a_key_of_the_environment_is_masked_whatever_is_printed(
    doctor: Doctor, server: LoopbackGemini, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "gemini-3.5-flash"  # which stands in the text
    monkeypatch.setenv("GEMINI_API_KEY", server.key)
    code, found, said = doctor.run(f'[models.gemini]\nbase_url = "{server.base_url}"')
    assert code == 0
    assert found["models.gemini"]["text"].startswith("[secret] at ")
    assert server.key not in said
