"""`kesoku doctor`: which models are asked, what makes it fail, that no secret is shown, what the database holds."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kesoku.cli.main import main
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import DeliveryState as D
from kesoku.messages.lifecycle import Purpose
from kesoku.messages.record import Address, Record
from kesoku.ports import Transaction
from kesoku.store import SqlStore, driver, is_safe
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import rate_limited
from kesoku.testing.store_material import part

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


def test_a_model_that_a_bot_names_needs_its_key_and_a_price(doctor: Doctor) -> None:
    config = "[agent]\nmodel = 'offline'\n[adapters.cli]\nmodel = 'gemini'\n[limits]\ncost_per_day = 1\n"
    code, found, _ = doctor.run(config)
    assert (code, found["models.gemini"]["severity"], found["prices"]["severity"]) == (1, "error", "error")
    code, found, _ = doctor.run(config.replace("[agent]\nmodel = 'offline'\n", ""))
    assert (code, found["models.gemini"]["severity"]) == (1, "error")


def test_a_role_that_no_table_has_is_an_error(doctor: Doctor) -> None:
    code, found, _ = doctor.run("[adapters.cli]\nrole = 'cook'\n")
    assert (code, found["config"]["severity"]) == (1, "error")
    assert "adapters.cli.role: there is no role 'cook'; add a table [roles.cook]" in found["config"]["text"]


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


def test_the_load_is_told_beside_a_running_server(doctor: Doctor, tmp_path: Path) -> None:
    def send(tx: Transaction, answer: Record) -> None:
        """Three parts: one only planned, one held, one in doubt."""
        tx.deliveries.plan([part(answer, n) for n in range(3)])
        for n, state in ((1, D.HELD), (2, D.SENDING), (2, D.AMBIGUOUS)):
            tx.deliveries.move(answer.id, n, Purpose.FINAL, state, at=1)

    async def serve(bench: GatewayHarness) -> Record:
        rooms = [Address(chatbot_id="discord", channel_id=name) for name in "abc"]
        for room in rooms:
            await bench.say(at=room)
        answer = await bench.finish(await bench.claim())
        await bench.claim()
        await bench.store.write(lambda tx: send(tx, answer))
        return answer

    (tmp_path / "kesoku").mkdir()
    with asyncio.Runner() as runner:
        store = runner.run(SqlStore.open(tmp_path / "kesoku" / "kesoku.db"))
        bench = GatewayHarness(store)
        answer = runner.run(serve(bench))
        code, found, _ = doctor.run("", "--offline")
        assert runner.run(bench.status(answer)) is MessageStatus.PENDING
        runner.run(bench.say("it goes on"))
        runner.run(store.aclose())
    assert code == 0
    figures = found["load"]["figures"]
    assert figures["oldest_seconds"] > 0
    assert figures["log_bytes"] > 4096
    expected = {"queued": 1, "running": 1, "held": 1, "ambiguous": 1}
    assert {name: figures[name] for name in expected} == expected
    assert found["load"]["text"].startswith("prompts that wait: 1, the oldest for ")


def test_the_version_of_sqlite_is_named_and_judged(doctor: Doctor) -> None:
    _, found, _ = doctor.run()
    version, safe = driver().sqlite_version, is_safe(driver().sqlite_version_info)
    told = found["sqlite"]
    assert told["text"].startswith(version)
    assert told["severity"] == ("ok" if safe else "warning")
    major, minor, patch = map(int, version.split("."))
    assert told["figures"] == {"version": major * 1_000_000 + minor * 1_000 + patch, "safe": int(safe)}


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 50, 9), False),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_which_versions_of_sqlite_are_safe_for_several_processes(version: tuple[int, ...], safe: bool) -> None:
    assert is_safe(version) is safe
