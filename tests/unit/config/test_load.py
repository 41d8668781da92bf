"""Loading the configuration: one validator, every problem named at once."""

from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from kesoku.config import Loaded, load
from kesoku.config.schema import AgentTable, LimitsTable, Table, ToolTable
from kesoku.errors import ConfigInvalid, ConfigMissing
from kesoku.gateway import Busy, BusyPolicy, FloodBounds, InterruptBy
from kesoku.tools.registry import Policy


class Bot(Table):
    """An adapter's settings."""

    token: SecretStr
    pages: int = 1


MANIFESTS: Any = {"adapters": {"bot": SimpleNamespace(config=Bot)}, "models": {}}


def read(tmp_path: Path, text: str, **environment: str) -> Loaded:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return load(path, environment=environment, manifests=MANIFESTS)


def problems(tmp_path: Path, text: str, **environment: str) -> list[str]:
    with pytest.raises(ConfigInvalid) as caught:
        read(tmp_path, text, **environment)
    return str(caught.value).splitlines()


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load(environment={"XDG_CONFIG_HOME": str(tmp_path)})
    assert loaded.path is None
    assert loaded.warnings == ()
    assert loaded.config.agent.busy == "interrupt"


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigMissing, match=r"no config file .*nothing\.toml"):
        load(tmp_path / "nothing.toml", environment={})


@pytest.mark.parametrize("key", ["agent.max_cost", "limits.per_person_per_minute", "tools.calculate.timeout"])
def test_true_is_no_number(tmp_path: Path, key: str) -> None:
    table, _, name = key.rpartition(".")
    (problem,) = problems(tmp_path, f"[{table}]\n{name} = true\n")
    assert problem.endswith(f"{key}: must be a number, not true or false")


def test_true_is_no_number_in_an_adapter_or_the_environment(tmp_path: Path) -> None:
    found = problems(tmp_path, '[adapters.bot]\ntoken = "t"\npages = true\n', KESOKU_AGENT__MAX_STEPS="true")
    assert [each.partition(": must")[0].split(": ")[-1] for each in found] == ["agent.max_steps", "adapters.bot.pages"]


def test_an_unknown_key_warns_with_the_nearest_one_and_starts(tmp_path: Path) -> None:
    loaded = read(tmp_path, '[agent]\nbuzy = "queue"\n[storr]\npath = "x"\n')
    assert loaded.config.agent.busy == "interrupt"
    texts = [str(each) for each in loaded.warnings]
    assert any("agent.buzy: unknown key; did you mean 'busy'?" in each for each in texts)
    assert any("storr: unknown key; did you mean 'store'?" in each for each in texts)


def test_wrong_types_are_all_named_at_once_with_file_key_and_value(tmp_path: Path) -> None:
    found = problems(tmp_path, '[agent]\nmax_steps = "many"\nbusy = "never"\n[limits]\nqueued_total = 0\n')
    assert len(found) == 3
    assert all(str(tmp_path / "config.toml") in each for each in found)
    assert any("agent.max_steps" in each and "'many'" in each for each in found)
    assert any("agent.busy" in each and "'interrupt', 'queue' or 'steer'" in each for each in found)


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    assert "line 2" in problems(tmp_path, "a = 1\nb = = 2\n")[0]


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"timezone = '\xff'")
    with pytest.raises(ConfigInvalid, match="no UTF-8"):
        load(path, environment={})


def test_an_unknown_zone_is_refused(tmp_path: Path) -> None:
    assert "IANA time zone" in problems(tmp_path, 'timezone = "SGT"')[0]


@pytest.mark.parametrize("zone", ["", "/etc/passwd", "../x", "Asia/Shanghai\\u0000"])
def test_odd_zones_are_refused(tmp_path: Path, zone: str) -> None:
    assert "IANA time zone" in problems(tmp_path, f'timezone = "{zone}"')[0]


def test_environment_wins_over_the_file_and_is_named_in_errors(tmp_path: Path) -> None:
    text = "[agent]\nmax_steps = 3\n"
    assert read(tmp_path, text, KESOKU_AGENT__MAX_STEPS="7").config.agent.max_steps == 7
    assert problems(tmp_path, text, KESOKU_AGENT__MAX_STEPS="x")[0].startswith("KESOKU_AGENT__MAX_STEPS: ")


def test_secrets_come_from_environment_and_files_and_are_known_for_masking(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n", encoding="utf-8")
    text = '[adapters.a]\ntype = "bot"\ntoken = { file = "token" }\n[adapters.b]\ntype = "bot"\ntoken = { env = "T" }\n'
    loaded = read(tmp_path, text, T="from-env")
    assert loaded.config.adapters["a"].settings.token.get_secret_value() == "from-file"
    assert loaded.config.adapters["b"].settings.token.get_secret_value() == "from-env"
    assert loaded.secrets == {"from-file", "from-env"}
    assert "from-env" not in repr(loaded.config)


def test_a_missing_secret_says_where_it_was_looked_for(tmp_path: Path) -> None:
    text = '[adapters.bot]\ntoken = { env = "BOT_TOKEN" }\n'
    assert "adapters.bot.token: the environment variable BOT_TOKEN is not set" in problems(tmp_path, text)[0]


def test_a_secret_of_the_wrong_type_is_not_shown(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, "[adapters.bot]\ntoken = 123456\n")
    assert "adapters.bot.token" in line
    assert "123456" not in line


def test_a_wrong_number_of_tokens_is_shown(tmp_path: Path) -> None:
    assert "'many'" in problems(tmp_path, '[agent]\nmax_tokens = "many"\n')[0]


def test_a_missing_required_key_and_an_adapter_that_is_not_there(tmp_path: Path) -> None:
    found = problems(tmp_path, '[adapters.bot]\n[adapters.x]\ntype = "telepathy"\n')
    assert any("adapters.bot.token: required key is missing" in each for each in found)
    assert any("adapters.x" in each and "telepathy" in each for each in found)


@pytest.mark.parametrize("name", ["agent", '"agent:cli:cli"', "system"])
def test_an_adapter_cannot_have_the_name_of_a_place_without_people(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path, f'[adapters.{name}]\ntype = "bot"\ntoken = "t"\n')
    (problem,) = [each for each in found if "taken" in each]
    assert name.strip('"') in problem


def test_an_adapter_that_is_no_manifest_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "odd-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[kesoku.adapters]\nodd = json:dumps\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (line,) = problems(tmp_path, "[adapters.odd]\n")
    assert "adapters.odd: 'odd' in kesoku.adapters (json:dumps, from odd 1.0)" in line
    assert "it must be a manifest" in line


def test_a_literal_secret_that_others_can_read_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[adapters.bot]\ntoken = "open"\n', encoding="utf-8")
    path.chmod(0o644)
    loaded = load(path, environment={}, manifests=MANIFESTS)
    assert any("chmod 600" in str(each) for each in loaded.warnings)
    path.chmod(0o600)
    assert load(path, environment={}, manifests=MANIFESTS).warnings == ()


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [(AgentTable, "busy", Busy), (AgentTable, "interrupt_by", InterruptBy), (ToolTable, "policy", Policy)],
)
def test_the_words_of_a_key_are_those_that_the_program_knows(
    table: type[Table], key: str, words: type[StrEnum]
) -> None:
    schema = table.model_json_schema()["properties"][key]
    known = schema.get("enum") or schema["anyOf"][0]["enum"]
    assert set(known) == set(words)


def test_the_defaults_of_a_table_are_those_of_the_program() -> None:
    agent, limits = AgentTable(), LimitsTable()
    assert BusyPolicy() == BusyPolicy(busy=Busy(agent.busy), interrupt_by=InterruptBy(agent.interrupt_by))
    bounds = {each.name: getattr(limits, each.name) for each in fields(FloodBounds)}
    assert FloodBounds() == FloodBounds(**bounds)


def test_tables_of_the_wrong_shape(tmp_path: Path) -> None:
    assert "adapters.bot: must be a table" in problems(tmp_path, "[adapters]\nbot = 3\n")[0]
    assert "models: must be tables" in problems(tmp_path, "models = 3\n")[0]
